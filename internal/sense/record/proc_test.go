package record

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/proc"
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
	l := &procLog{out: out, pace: slowing(procEvery, procEveryLater)}
	if err := l.start(os.Getpid()); err != nil {
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

// TestProcLogReadsMapsAsMemoryGrows holds that mappings are read of a process that may end before it is
// read for the last time, once for each step of its memory.
func TestProcLogReadsMapsAsMemoryGrows(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc")
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "proc.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var at []uint64
	l := &procLog{out: out, pace: slowing(procEvery, procEveryLater), ends: true, maps: func(resident uint64) *proc.Maps {
		at = append(at, resident)
		return &proc.Maps{}
	}}
	debug.FreeOSMemory() // of what the tests before left, so that what is held is new
	if err := l.start(os.Getpid()); err != nil || len(at) == 0 {
		t.Fatal(err, at)
	}
	held := make([]byte, max(8*mapsGrow, at[0]/2))
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	if err := l.sample(false); err != nil { // as it is done at each beat
		t.Fatal(err)
	}
	runtime.KeepAlive(held)
	if err := l.stop(); err != nil {
		t.Fatal(err)
	}
	if len(at) < 3 { // small as it was, large, and at the end
		t.Fatalf("mappings were read at %d bytes, want thrice and more", at)
	}
	for i, n := range at[1 : len(at)-1] {
		if n < at[i]+max(mapsGrow, at[i]/4) {
			t.Errorf("mappings were read at %d bytes, want them read after a step alone", at)
		}
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
