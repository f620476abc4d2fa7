package record

import (
	"bytes"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// What a program that cannot be asked has in its memory is read there, to its end; one that answers
// late is asked, and nothing of what was read before stays.
func TestRecordSilentCommand(t *testing.T) {
	exe := memoryProgram(t)
	out := filepath.Join(t.TempDir(), "run.gowhy")
	res, err := Run(t.Context(), Target{Command: []string{exe, "works"}}, Options{Out: out})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("Run() = %+v, %v; want exit code 0", res, err)
	}
	stacks := make([]byte, 1<<20)
	if stacks = stacks[:runtime.Stack(stacks, true)]; bytes.Contains(stacks, []byte("(*heapCourse).run(")) {
		t.Errorf("Run() has returned, and still looks at the heap: %s", stacks)
	}
	m := load(t, evidence.Options{}, out)
	if !m.Has(model.MetricsLog) || !m.Has(model.GoroutineProfile) || !m.Has(model.LiveHeap) || !m.Has(model.Wall) {
		t.Fatalf("members %v, want metrics, goroutines, their time and the heap, read from outside", res.Members)
	}
	if s := m.Metrics.Series["/memory/classes/total:bytes"]; len(s) < 4 || s[len(s)-1].At < time.Second {
		t.Errorf("the memory's classes were read %d times, want 4 and more, to the end", len(s))
	}
	if p := m.LiveHeap.Start; p == nil || m.LiveHeap.End == nil || m.Heap == nil || m.Heap.Duration < 500*time.Millisecond {
		t.Errorf("heap profiles %+v, want two, half of the run apart", m.LiveHeap)
	}

	began := time.Now()
	res, err = Run(t.Context(), Target{Command: []string{exe, "late"}}, Options{Out: out, Duration: time.Second, Startup: 20 * time.Second})
	if err != nil || refused(res, artifact.EndpointMember) != "" {
		t.Fatalf("Run() = %+v, %v; want what it answered", res, err)
	}
	m = load(t, evidence.Options{}, out)
	if !m.Has(model.Trace) || !m.Has(model.CPU) || m.Has(model.Wall) {
		t.Errorf("members %v, want a trace and a CPU profile, and no looks from outside", res.Members)
	}
	for name, s := range m.Metrics.Series {
		if len(s) == 0 {
			continue
		}
		// What was read before it answered is of its first second, which it sleeps.
		if age := m.Run.Start.Add(s[0].At).Sub(began); age < time.Second {
			t.Errorf("%s was read when the program was %v old, before it answered", name, age)
		}
	}
}
