package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/read/evidence"
)

// The log of a process that runs is one that can be read.
func TestProcLogOfThisProcess(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc")
	}
	path := filepath.Join(t.TempDir(), "proc.jsonl")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := startProcLog(os.Getpid(), out, slowing(procEvery, procEveryLater))
	if err != nil {
		t.Fatal(err)
	}
	for begin := selfCPU(); selfCPU()-begin < 20*time.Millisecond; { // so that there is CPU time to see
	}
	if err := l.stop(); err != nil {
		t.Fatal(err)
	}
	// Several threads of the test may share the CPU time: it took less time than that.
	if used, in := l.cpu(); used < 5*time.Millisecond || in < 5*time.Millisecond {
		t.Errorf("cpu() = %v in %v, want 5 ms or more of both", used, in)
	}
	m := load(t, evidence.Options{}, path)
	first, last, ok := m.Process.Window()
	if !ok || last.User+last.System-first.User-first.System < 5*time.Millisecond || len(m.Process.Threads) == 0 || m.Machine.CPUs < 1 {
		t.Errorf("process %+v, want 5 ms of CPU or more, threads and CPUs", m.Process)
	}
}

// TestNotOfGo knows a program of another language from one whose file cannot be read.
func TestNotOfGo(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nsleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{own: false, script: true, script + "-absent": false} {
		if got := notOfGo(path); got != want {
			t.Errorf("notOfGo(%q) = %v, want %v", path, got, want)
		}
	}
}
