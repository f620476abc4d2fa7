package truth

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const waitsSource = `package main

type lock struct{}

func (l *lock) take() {
	l.get() // want cause a-stuck b-slow
}

func hold() {
	func() {
		sleep() // want holder a-stuck; cause c-stuck
	}()
}
`

const waitsTruth = `about: programs
programs:
  - {name: a-stuck, verdict: stalled}
  - {name: b-slow, verdict: problem, alone: true}
  - {name: c-stuck, verdict: stalled}
  - {name: d-fine, verdict: none, allowed: [hotfunction]}
`

func readWaits(t *testing.T, yaml, source string) (*Waits, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{WaitsFile: yaml, "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return ReadWaits(dir)
}

func TestReadWaits(t *testing.T) {
	w, err := readWaits(t, waitsTruth, waitsSource)
	if err != nil {
		t.Fatal(err)
	}
	take, sleep := Mark{"main.(*lock).take", "main.go", 6}, Mark{"main.hold", "main.go", 11}
	a, c := w.Program("a-stuck"), w.Program("c-stuck")
	if !slices.Equal(a.Causes, []Mark{take}) || !slices.Equal(a.Holders, []Mark{sleep}) || !slices.Equal(c.Causes, []Mark{sleep}) {
		t.Errorf("a has causes %v and holders %v, c causes %v", a.Causes, a.Holders, c.Causes)
	}
	if w.Program("none") != nil || len(w.Programs) != 4 {
		t.Errorf("%d programs, and one of no name", len(w.Programs))
	}
}

// Each edit breaks the good files in one way, and the error says which.
func TestWaitsFaults(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{"name: d-fine", "name: c-stuck", "it is there twice"},
		{"verdict: problem", "verdict: sick", `verdict "sick"`},
		{"a-stuck, verdict: stalled", "a-stuck, verdict: none", "it is well, and"},
		{"a-stuck b-slow", "a-stuck", "no line is marked"},
		{"a-stuck b-slow", "a-stuck e-slow", "no program e-slow"},
		{"holder a-stuck; cause c-stuck", "holder a-stuck; cause", "a role and names"},
		{"holder a-stuck; cause c-stuck", "holder a-stuck; guilt c-stuck", "guilt is no role"},
		{"holder a-stuck; cause c-stuck", "cycle c-stuck", "one line is no cycle"},
		{"type lock struct{}", "type lock struct{} // want cause a-stuck", "in no function"},
		{"alone: true", "alnoe: true", "alnoe"},
	} {
		yaml, source := strings.Replace(waitsTruth, c.old, c.new, 1), strings.Replace(waitsSource, c.old, c.new, 1)
		if yaml == waitsTruth && source == waitsSource {
			t.Fatalf("%q is in neither file", c.old)
		}
		if _, err := readWaits(t, yaml, source); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q for %q: %v; want %q", c.new, c.old, err, c.says)
		}
	}
}
