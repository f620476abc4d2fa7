package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The file above the working directory holds for each command, variables go before it and
// the command line before both; what is wrong is told with its line, whatever is run.
func TestDefaults(t *testing.T) {
	dir := t.TempDir()
	evidenceFiles(t, dir)
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	const trace = "../trace.out"
	for _, c := range []struct {
		file, env string
		args      string
		code      int
		want      string // on standard output or error
	}{
		{"ledger:\n  top: 1\n", "", "ledger " + trace, 0, "more rows"},
		{"ledger:\n  top: 1\n", "GOWHY_LEDGER_TOP=0", "ledger " + trace, 0, "all\n"},
		{"ledger:\n  top: 1\n", "GOWHY_LEDGER_TOP=0", "ledger --top 1 " + trace, 0, "more rows"},
		{"diagnose:\n  fail-on: any\n", "", trace, exitFindings, "ponies"},
		{"diagnose: {fail-on: any}\n", "", "diagnose " + trace, exitFindings, "ponies"},
		{"width: 48\n", "", trace, 0, "more"},
		{"width: 20\n", "", trace, exitMisused, "--width 20 is less than 40 columns"},
		{"diagnose:\n\n  goal: speed\n", "", trace, exitMisused, `gowhy.yaml:3: goal "speed" is none of throughput, latency, cpu, memory`},
		{"record:\n  duratoin: 1s\n", "", trace, exitMisused, "gowhy.yaml:2: record has no setting \"duratoin\"\nhint: did you mean duration?"},
		{"record:\n  duration: soon\n", "", "record --pid 99999999", exitMisused, `gowhy.yaml:2: duration "soon" is not a time like 10s`},
		{"record:\n  url: http://evil\n", "", trace, exitMisused, "gowhy.yaml:2: --url stands on the command line only"},
		{"verify:\n  load: sh evil\n", "", trace, exitMisused, "gowhy.yaml:2: --load stands on the command line only"},
		{"verify:\n  yes: true\n", "", trace, exitMisused, "gowhy.yaml:2: --yes stands on the command line only"},
		{"recrod:\n  duration: 1s\n", "", trace, exitMisused, "gowhy.yaml:2: there is no command \"recrod\"\nhint: record:"},
		{"duration: 1s\n", "", trace, exitMisused, "gowhy.yaml:1: there is no setting \"duration\" for every command"},
		{"record: 1s\n", "", trace, exitMisused, "gowhy.yaml:1: \"record\" is a command, and has flags"},
		{"", "GOWHY_LEDGER_TOPP=1", "ledger " + trace, exitMisused, "GOWHY_LEDGER_TOPP: ledger has no setting \"topp\"\nhint: did you mean top?"},
		{"record:\n  without: [everything]\n", "", "localhost:1", exitMisused, `gowhy.yaml:2: without "everything" is none of trace,`},
	} {
		if err := os.WriteFile(filepath.Join(dir, "gowhy.yaml"), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(c.file+c.env+c.args, func(t *testing.T) {
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			var out bytes.Buffer
			code := Main(Options{Rules: testRules, Args: strings.Fields(c.args), Stdout: &out, Stderr: &out})
			if code != c.code || !strings.Contains(out.String(), c.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, c.code, c.want, &out)
			}
		})
	}
}

// What may be set is a flag of some command, and says neither what is run, read, written
// nor reached.
func TestSettable(t *testing.T) {
	c := &command{Options: Options{Rules: testRules, Stdin: &bytes.Buffer{}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}}
	root := c.root()
	there := map[string]bool{}
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		for _, name := range settable {
			there[name] = there[name] || cmd.Flags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil
		}
	}
	for _, name := range settable {
		if !there[name] {
			t.Errorf("--%s is settable, and no command has it", name)
		}
	}
	for _, name := range []string{"yes", "load", "a", "b", "apply", "url", "pid", "ssh", "output", "ready", "env", "dir", "online", "addr"} {
		if slices.Contains(settable, name) {
			t.Errorf("--%s is settable", name)
		}
	}
}
