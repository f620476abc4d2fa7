package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// The test binary stands for gowhy: started with these arguments it is the
// program of a case, which ends as soon as it has begun.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "run-case" {
		c, _ := Find(os.Args[2])
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if err := Run(ctx, c, os.Args[3]); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func runCase(name string) func(dir string) []string {
	return func(dir string) []string { return []string{"run-case", name, dir} }
}

func TestEveryCaseIsRecorded(t *testing.T) {
	for _, c := range Cases() {
		out := filepath.Join(t.TempDir(), "run.gowhy")
		var stderr bytes.Buffer
		if err := Record(t.Context(), c, out, runCase(c.Name), &stderr); err != nil || stderr.Len() > 0 {
			t.Errorf("%s: %v, want nil and nothing said:\n%s", c.Name, err, &stderr)
			continue
		}
		rec, err := recording.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		members := map[string]int64{}
		for _, m := range rec.Members {
			members[m.Name] = m.Size
		}
		if members[recording.TraceMember] < 1000 || members[recording.CPUMember] == 0 || rec.Manifest.Procs == 0 {
			t.Errorf("%s: members %v, manifest %+v; want a trace of 1000 bytes or more, a CPU profile and Ps", c.Name, members, rec.Manifest)
		}
		rec.Close()
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(left) != 1 {
			t.Errorf("%s: left behind: %q", c.Name, left)
		}
	}
}

func TestFailureLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	out := filepath.Join(t.TempDir(), "run.gowhy")
	args := func(string) []string { return []string{"-test.nosuchflag"} }
	if err := Record(t.Context(), Cases()[0], out, args, new(bytes.Buffer)); err == nil {
		t.Error("a program that fails: no error")
	}
	for _, dir := range []string{tmp, filepath.Dir(out)} {
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left in %s: %v", dir, left)
		}
	}
}

func TestFind(t *testing.T) {
	if _, ok := Find("nosuch"); ok {
		t.Error("found")
	}
	seen := map[string]bool{}
	for _, c := range Cases() {
		if got, ok := Find(c.Name); !ok || got.Story != c.Story || c.Story == "" || seen[c.Name] {
			t.Errorf("Find(%s) = %+v, want a name of its own and a story", c.Name, got)
		}
		seen[c.Name] = true
	}
}
