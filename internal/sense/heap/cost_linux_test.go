package heap

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// TestCost reads a heap of 1 GiB with 10 million objects, and fails where that takes more than
// 250 MB. What CPU time it takes is told and not judged: 4.1 s on a quiet machine were 6.9 s on one
// whose neighbours were busy.
func TestCost(t *testing.T) {
	attempt.Only(t, "makes 10 million objects")
	pid := start(t, build(t, "local", "big"))
	forgetPeak(t)
	before := attempt.CPU()
	look, err := Read(t.Context(), pid, Options{})
	if err != nil {
		t.Fatal(err)
	}
	took, peak := attempt.CPU()-before, peakRSS(t)
	t.Logf("%v of CPU time, %d MB at most, for %d objects and %d MB in %v", took, peak>>20, look.Reached.Objects, look.Reached.Bytes>>20, look.Took)
	describe(t, look)
	if peak > 250<<20 {
		t.Errorf("reading it takes %d MB, want 250 MB at most", peak>>20)
	}
}

// TestDumpCost reads the dump of such a heap, which has 1.3 GB.
func TestDumpCost(t *testing.T) {
	attempt.Only(t, "makes 10 million objects")
	path := filepath.Join(t.TempDir(), "heap.dump")
	exe := build(t, "local", "big")
	start(t, exe, path)
	forgetPeak(t)
	before := attempt.CPU()
	look := readDump(t, path, exe)
	took, peak := attempt.CPU()-before, peakRSS(t)
	t.Logf("%v of CPU time, %d MB at most, for %d objects and %d MB in %v", took, peak>>20, look.Reached.Objects, look.Reached.Bytes>>20, look.Took)
	describe(t, look)
	if peak > 250<<20 {
		t.Errorf("reading it takes %d MB, want 250 MB at most", peak>>20)
	}
}

// forgetPeak has [peakRSS] begin anew: what other tests of this process used is not this one's.
func forgetPeak(t *testing.T) {
	t.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
}

// peakRSS returns the most that was resident since [forgetPeak], in bytes.
func peakRSS(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(b, []byte("VmHWM:"))
	kb, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
