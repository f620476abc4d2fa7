package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"runtime/trace"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// traced returns the trace of a goroutine that waits for a lock for 20 ms while the
// others sleep.
func traced(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err) // somebody traces the test
	}
	var mu sync.Mutex
	mu.Lock()
	begun, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		close(begun)
		mu.Lock()
		mu.Unlock()
	}()
	<-begun
	time.Sleep(20 * time.Millisecond)
	mu.Unlock()
	<-done
	trace.Stop()
	return b.Bytes()
}

func TestThresholds(t *testing.T) {
	data := traced(t)
	got := thresholds(bytes.NewReader(data))
	if got.Missing || got.Mutex.Count != 1 || got.Mutex.MostMS < 15 || got.GCPause.Count != 0 {
		t.Errorf("thresholds() = %+v, want one mutex wait of 15 ms or more, no pause of the collector", got)
	}
	if !got.covers("locks") || got.covers("memory") {
		t.Errorf("fired are %q, want locks and nothing of memory", got.exceeded())
	}
	if cut := thresholds(bytes.NewReader(data[:len(data)/2])); !cut.Missing && cut.Mutex.Count > 1 {
		t.Errorf("thresholds() of half a trace = %+v, want it missing or at most one mutex wait", cut)
	}
	if none := thresholds(bytes.NewReader(nil)); !none.Missing || len(none.exceeded()) > 0 {
		t.Errorf("thresholds() of no trace: missing %v, fired %q, want true, none", none.Missing, none.exceeded())
	}
}

// Each limit is that of its kind, and what is just as long as the limit is not over it.
func TestLimits(t *testing.T) {
	for i, l := range limits {
		var w watch
		w.ended(l.of(&w.over), l.most, l.most)
		if len(w.over.exceeded()) > 0 {
			t.Errorf("%s fires at %v, want only beyond", l.name, l.most)
		}
		w.ended(l.of(&w.over), l.most+time.Nanosecond, l.most)
		if fired := w.over.exceeded(); len(fired) != 1 || fired[0] != limits[i].name {
			t.Errorf("beyond the limit of %s fired %q, want only that", l.name, fired)
		}
	}
}

// profiled returns a CPU profile of stacks, the innermost function first.
func profiled(t *testing.T, stacks map[int64][]string) []byte {
	t.Helper()
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1,
	}
	functions := map[string]*profile.Location{}
	for value, stack := range stacks {
		s := &profile.Sample{Value: []int64{1, value}}
		for _, name := range stack {
			if functions[name] == nil {
				f := &profile.Function{ID: uint64(len(functions) + 1), Name: name}
				functions[name] = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
				p.Function, p.Location = append(p.Function, f), append(p.Location, functions[name])
			}
			s.Location = append(s.Location, functions[name])
		}
		p.Sample = append(p.Sample, s)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPprofTop(t *testing.T) {
	data := profiled(t, map[int64][]string{
		100: {"runtime.memmove", "main.(*pool).fill", "main.main", "runtime.main"},
		60:  {"main.spin", "main.worker", "main.worker", "runtime.goexit"}, // worker calls itself
		30:  {"main.spin", "main.(*pool).fill", "main.main", "runtime.main"},
		80:  {"github.com/gowhy/gowhy/agent.send", "runtime.goexit"},
	})
	want := Top{Flat: "runtime.memmove", UserFlat: "main.spin", UserCum: "main.(*pool).fill"}
	got := pprofTop(bytes.NewReader(data), userOwned)
	if got != want {
		t.Errorf("pprofTop() = %+v, want %+v", got, want)
	}
	for guilty, right := range map[string]bool{"main.spin": true, "main.(*pool).fill": true, "runtime.memmove": true, "main.worker": false, "main.main": false} {
		if got.hasFunction([]string{"main.other", guilty}) != right {
			t.Errorf("named(main.other, %s) = %v, want %v", guilty, !right, right)
		}
	}
	if got.topText() != want.UserCum {
		t.Errorf("says() = %q, want %q", got.topText(), want.UserCum)
	}
	if got := pprofTop(bytes.NewReader([]byte("no profile")), userOwned); got != (Top{}) || got.hasFunction([]string{""}) || got.topText() != "" {
		t.Errorf("pprofTop(no profile) = %+v, want nothing", got)
	}
}

func TestSameFunction(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"main.f", "main.f", true}, {"main.f", "main.f.func1", true}, {"main.f", "main.f.func2.3", true}, {"main.f.gowrap1", "main.f", true},
		{"main.(*T[...]).f", "main.(*T[go.shape.int]).f", true}, {"main.T.f-fm", "main.T.f", true}, {"main.f-range1", "main.f", true},
		{"main.f", "main.func1", false}, {"main.f", "main.g", false}, {"main.f", "other.f", false}, {"main.(*T).f", "main.T.f", false},
	} {
		if sameFunction(c.a, c.b) != c.same {
			t.Errorf("sameFunction(%s, %s) = %v, want %v", c.a, c.b, !c.same, c.same)
		}
	}
}

func TestRecordedEvidence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.gowhy")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, data := range map[string][]byte{"trace": traced(t), "cpu.pb.gz": profiled(t, map[int64][]string{5: {"main.f"}}), "other": nil} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	over, top, err := baselines(file)
	if err != nil || over.Mutex.Count != 1 || top.Flat != "main.f" {
		t.Errorf("baselines() = %+v, %+v, %v; want one mutex wait and main.f", over, top, err)
	}
	if over, _, err := baselines(filepath.Join(t.TempDir(), "none")); err == nil || !over.Missing {
		t.Errorf("baselines() without a recording = %+v, %v; want them missing and an error", over, err)
	}
}
