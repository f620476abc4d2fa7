package evidence

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// heapText returns a heap profile in text form, of a program that keeps all of what it makes.
func heapText(inUse, total int64, lastGC time.Time, stats bool) []byte {
	text := fmt.Sprintf("heap profile: 1: %d [1: %d] @ heap/2\n1: %d [1: %d] @ 0x1\n#\t0x1\tmain.grow+0x1\t/src/grow.go:3\n", inUse, total, inUse, total)
	if stats {
		text += fmt.Sprintf("\n# runtime.MemStats\n# TotalAlloc = %d\n# HeapAlloc = %d\n# HeapSys = 4000\n# HeapReleased = 100\n# NextGC = 900\n# LastGC = %d\n"+
			"# Stack = 64 / 96\n# MSpan = 8 / 32\n# Sys = 5000\n# PauseNs = [1 2]\n# NumGC = 7\n# GCCPUFraction = 0.25\n", total, inUse, lastGC.UnixNano())
	}
	return []byte(text)
}

func TestMemStats(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	m := load(t, Options{}, files(t, map[string][]byte{"a": heapText(300, 500, at, true)}))
	want := model.MemStats{HeapAlloc: 300, HeapSys: 4000, HeapReleased: 100, TotalAlloc: 500, NextGC: 900, NumGC: 7, LastGC: at, GCCPUFraction: 0.25, Classes: map[string]uint64{
		"total": 5000, "heap/objects": 300, "heap/released": 100, "heap/stacks": 64, "os-stacks": 32, "metadata/mspan/inuse": 8, "metadata/mspan/free": 24}}
	if m.MemStats == nil || !reflect.DeepEqual(*m.MemStats, want) {
		t.Errorf("%+v, want %+v", m.MemStats, want)
	}
	if cut := load(t, Options{}, files(t, map[string][]byte{"a": heapText(300, 500, at, false)})); cut.MemStats != nil {
		t.Errorf("without its end: %+v, want none", cut.MemStats)
	}
}

// Texts have no time: what only grows in a program says which is older.
func TestOrderOfHeapTexts(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	first, last := heapText(100, 200, at, true), heapText(600, 700, at.Add(4*time.Second), true)
	m := load(t, Options{}, files(t, map[string][]byte{"a": last, "b": first}))
	if got := total(m.LiveHeap.Start, "inuse_space"); got != 100 || m.LiveHeap.End.At-m.LiveHeap.Start.At != 4*time.Second || m.MemStats.HeapAlloc != 600 {
		t.Errorf("at first %d in use, and %v later %+v; want 100, 4s and 600", got, m.LiveHeap.End.At-m.LiveHeap.Start.At, m.MemStats)
	}
	m = load(t, Options{}, files(t, map[string][]byte{"a": heapText(600, 700, at, false), "b": heapText(100, 200, at, false)}))
	if got := total(m.LiveHeap.Start, "inuse_space"); got != 100 {
		t.Errorf("without statistics %d in use at first, want 100", got)
	}
	for _, note := range m.Run.Coverage.Notes {
		if strings.Contains(note, "do not tell") {
			t.Errorf("said that they do not tell: %q", note)
		}
	}
}
