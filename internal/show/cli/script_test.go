package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/draw/export"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/show/intake"
	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/internal/testing/corpus"
	"github.com/gowhy/gowhy/internal/testing/dumpfile"
)

// The transcripts in testdata are run by starting this binary as gowhy, with
// two small rules of its own. A transcript is made of
//
//	$ gowhy ARGS            a command, as a shell would run it; > FILE and | head -1 work
//	$$ gowhy ARGS           one that takes seconds, which is run where all tests are
//	text                    a line of its standard output
//	! text                  a line of its standard error
//	? 3                     its exit code, when it is not 0
//	# text                  a comment
//
// in this order. A line is compared as it stands, but "…" matches anything,
// and a line that is nothing else matches any number of lines.
const mainEnv = "GOWHY_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainEnv) != "" {
		os.Exit(Main(Options{Rules: testRules}))
	}
	os.Exit(m.Run())
}

// testRules see the goroutines that the test's own trace has, and health.
var testRules = []*diagnosis.Rule{
	{
		Name: "manyponies", Title: "Many ponies", Doc: "# Many ponies\n\nWhat it sees.\n", Needs: []model.Source{model.Trace},
		Check: func(p *diagnosis.Pass) {
			for i := range p.Model.Sched.Groups {
				g := &p.Model.Sched.Groups[i]
				if strings.HasSuffix(g.Name, ".pony") && g.Count > 10 || strings.Contains(g.Name, "\x1b") {
					p.Report(diagnosis.Finding{
						Summary: fmt.Sprintf("%d ponies run.", g.Count), Confidence: diagnosis.Medium,
						Where:    []diagnosis.Place{{Function: g.Name}},
						Evidence: []fact.Fact{p.Goroutines("ponies", []string{g.Name}, "count")},
						Remedy:   diagnosis.Remedy{Text: "Sell some."},
					})
				}
			}
		},
	},
	{
		Name: "fatheap", Title: "A fat heap", Doc: "# A fat heap\n", Needs: []model.Source{model.Heap},
		Check: func(p *diagnosis.Pass) { p.Fine("the heap is slim") },
	},
}

// evidenceFiles makes what the transcripts read.
func evidenceFiles(t *testing.T, dir string) {
	t.Helper()
	write := func(name string, fill func(*os.File) error) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := fill(f); err != nil {
			t.Fatal(err)
		}
	}
	write("trace.out", func(f *os.File) error {
		if err := trace.Start(f); err != nil {
			return err
		}
		ctx, task := trace.NewTask(context.Background(), "ride")
		var wg sync.WaitGroup
		for range 20 {
			wg.Add(1)
			go pony(&wg)
		}
		wg.Wait()
		stable = make([]byte, 1<<20)   // so that the trace says how large the heap is
		<-time.After(time.Millisecond) // the ponies may be quicker than we come to wait for them
		trace.WithRegion(ctx, "home", func() {})
		task.End()
		trace.Stop()
		return nil
	})
	for _, name := range []string{"evil", "contended"} {
		write(name+".out", func(f *os.File) error {
			text, err := os.Open("testdata/" + name + ".trace")
			if err != nil {
				return err
			}
			defer text.Close()
			data, err := corpus.ParseText(text)
			if err != nil {
				return err
			}
			_, err = f.Write(data)
			return err
		})
	}
	large = make([]byte, 16<<20) // which a profile has: of what is small it may have nothing
	runtime.GC()                 // and only then
	write("heap.pprof", func(f *os.File) error { return pprof.Lookup("allocs").WriteTo(f, 0) })
	if err := os.Mkdir(filepath.Join(dir, "runs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, main := range map[string]string{"a": "x/shop", "b": "x/shop", "c": "x/shop", "other": "x/other"} {
		recordingOf(t, filepath.Join(dir, "runs", name+".gowhy"), filepath.Join(dir, "trace.out"), main)
	}
	dump := dumpfile.Small()
	for name, b := range map[string][]byte{"app": dump, "cut": dump[:1000]} {
		write(name+".heapdump", func(f *os.File) error { _, err := f.Write(b); return err })
	}
	write("empty", func(*os.File) error { return nil })
	write("page.html", func(f *os.File) error { _, err := f.WriteString("<html>\x1b[31m</html>"); return err })
	write("other.json", func(f *os.File) error { _, err := f.WriteString(`{"a": 1}`); return err })
}

// recordingOf makes a recording of a trace, of the program with this main package.
func recordingOf(t *testing.T, path, trace, main string) {
	t.Helper()
	w, err := recording.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(trace)
	if err == nil {
		err = errors.Join(w.Add(recording.TraceMember, data), w.Add(recording.BuildMember, []byte(main+": go1.26.1\n\tpath\t"+main+"\n")))
	}
	if err == nil {
		err = w.Finish(recording.Manifest{Schema: recording.Schema, Start: time.Now(), End: time.Now(), Go: "go1.26.1"})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func pony(wg *sync.WaitGroup) { wg.Done() }

var stable []byte

func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			evidenceFiles(t, dir)
			for _, s := range parseTranscript(t, string(text)) {
				if !s.slow || attempt.All(t) {
					s.run(t, dir)
				}
			}
		})
	}
}

// An export that is interrupted leaves the file that was there, and no other.
func TestInterruptedExport(t *testing.T) {
	dir := t.TempDir()
	evidenceFiles(t, dir)
	trace, out := filepath.Join(dir, "trace.out"), filepath.Join(dir, "p.json")
	if err := os.WriteFile(out, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &command{Options: Options{Stderr: new(bytes.Buffer)}}
	m, err := c.read(t.Context(), []string{trace}, readOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	runs := &intake.Slices{Context: ctx, Files: []string{trace}}
	o := export.Options{Slices: runs.All}
	perfetto := export.All[slices.IndexFunc(export.All, func(f export.Format) bool { return f.Name == "perfetto" })]
	write := func(w io.Writer, _ layout.Options) error { return runs.Write(w, perfetto, m, o) }
	if err := c.output(out, write); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	left, err := filepath.Glob(out + "*")
	if text, _ := os.ReadFile(out); string(text) != "old" || len(left) != 1 || err != nil {
		t.Errorf("%q, %v, %v", text, left, err)
	}
	c.Stdout = new(bytes.Buffer)
	if code := c.code(c.output("", write)); code != exitSignal || !strings.Contains(c.Stderr.(*bytes.Buffer).String(), "not all") {
		t.Errorf("code %d, %s", code, c.Stderr)
	}
}

// A step is one command of a transcript with what it should do.
type step struct {
	line           int
	command        string
	slow           bool
	stdout, stderr []string
	code           int
}

func parseTranscript(t *testing.T, text string) []*step {
	t.Helper()
	var steps []*step
	for i, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "##") {
			continue
		}
		if prompt, cmd, ok := strings.Cut(l, " "); ok && (prompt == "$" || prompt == "$$") {
			steps = append(steps, &step{line: i + 1, command: cmd, slow: prompt == "$$"})
			continue
		}
		if len(steps) == 0 {
			if l == "" {
				continue
			}
			t.Fatalf("line %d comes before any command", i+1)
		}
		s := steps[len(steps)-1]
		switch {
		case strings.HasPrefix(l, "! "):
			s.stderr = append(s.stderr, l[2:])
		case strings.HasPrefix(l, "? "):
			code, err := strconv.Atoi(l[2:])
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			s.code = code
		default:
			s.stdout = append(s.stdout, l)
		}
	}
	return steps
}

func (s *step) run(t *testing.T, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("gowhy() { %q \"$@\"; }\nset -o pipefail\n%s", self, s.command)
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), mainEnv+"=1", "NO_COLOR=1", "COLUMNS=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != s.code {
		t.Errorf("line %d: $ %s\nexit code %d, want %d; stderr:\n%s", s.line, s.command, got, s.code, &stderr)
	}
	s.compare(t, "standard output", stdout.String(), s.stdout)
	s.compare(t, "standard error", stderr.String(), s.stderr)
}

// compare matches all of the output against the expected lines.
func (s *step) compare(t *testing.T, what, got string, want []string) {
	t.Helper()
	for len(want) > 0 && want[len(want)-1] == "" {
		want = want[:len(want)-1] // the transcript's own blank line
	}
	var re strings.Builder
	re.WriteString(`\A`)
	for _, l := range want {
		if l == "…" {
			re.WriteString(`(?s:.*?\n)??`)
			continue
		}
		re.WriteString(strings.ReplaceAll(regexp.QuoteMeta(l), "…", "[^\n]*") + "\n")
	}
	re.WriteString(`\s*\z`)
	if !regexp.MustCompile(re.String()).MatchString(got) {
		t.Errorf("line %d: $ %s\n%s is:\n%s\nwant:\n%s", s.line, s.command, what, got, strings.Join(want, "\n"))
	}
}

// large keeps what it is set to from being optimized away.
var large []byte
