package record

import (
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/evidence"
	"github.com/gowhy/gowhy/internal/goroutines"
	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/symbols"
)

func TestGoroutineProfile(t *testing.T) {
	main := symbols.Place{Func: "main.main", File: "/x/main.go", Line: 9}
	s := &goroutines.Snapshot{Time: time.Unix(7, 0), Groups: []goroutines.Group{
		{Start: symbols.Place{Func: "main.work"}, Count: 40, Stack: []symbols.Place{{Func: "runtime.gopark"}, {Func: "main.work", File: "/x/main.go", Line: 5}, {Func: "runtime.goexit"}}},
		{Start: main, Count: 1}, // it runs
		{Start: symbols.Place{Func: "runtime.bgsweep"}, System: true, Count: 1},
		{Count: 3}, // nothing is known of them
	}}
	p := goroutineProfile(s)
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 2 || p.Sample[0].Value[0] != 40 || len(p.Sample[0].Location) != 2 || p.Sample[0].Location[1].Line[0].Function.Name != "main.work" ||
		p.Sample[1].Location[0].Line[0].Line != 9 || p.TimeNanos != 7e9 {
		t.Errorf("the profile is %v", p)
	}
}

// The goroutines of a program that has no endpoint are counted all the same.
func TestRecordGoroutinesFromOutside(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is read on Linux")
	}
	argv := program(t, "plain")
	cmd := exec.Command(argv[0])
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		r, err := goroutines.Open(cmd.Process.Pid)
		if err == nil {
			s, err := r.Read()
			r.Close()
			if err == nil && s.Count > 0 && s.State(goroutines.Waiting) > 0 {
				break // it serves
			}
		}
		if time.Now().After(deadline) {
			t.Skip("its memory cannot be read: ", err)
		}
	}
	out := filepath.Join(t.TempDir(), "run.gowhy")
	if _, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, Options{Out: out, Duration: 300 * time.Millisecond, unwatched: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	m := load(t, evidence.Options{}, out)
	if !m.Has(model.GoroutineProfile) || m.Goroutines.Start == nil || m.Goroutines.End == nil {
		t.Fatalf("no goroutine profiles at both ends: %+v", m.Run.Coverage)
	}
	found := false
	for i := range m.Goroutines.End.Samples {
		for _, f := range m.Stacks.Frames(m.Goroutines.End.Samples[i].Stack) {
			found = found || f.Func == "net/http.(*Server).Serve"
		}
	}
	if !found {
		t.Error("the goroutine that serves is not in the profile")
	}
	for name, least := range map[string]float64{"/sched/gomaxprocs:threads": float64(runtime.GOMAXPROCS(0)), "/gc/heap/goal:bytes": 4 << 20,
		"/gc/gogc:percent": 100, "/gc/gomemlimit:bytes": 1 << 62, "/gc/heap/allocs:bytes": 1, "/memory/classes/total:bytes": 1 << 20,
		"/gc/cycles/forced:gc-cycles": 0} {
		if s := m.Metrics.Series[name]; len(s) < 2 || s[0].Value < least {
			t.Errorf("%s: %v, want %v at least, at both ends", name, s, least)
		}
	}
	for _, name := range []string{"/gc/heap/allocs:objects", "/sched/goroutines:goroutines"} {
		if s, ok := m.Metrics.Series[name]; ok {
			t.Errorf("%s: %v, which nobody read", name, s)
		}
	}
}

// What is not known, or not sure, is left out of the log.
func TestCounterMetrics(t *testing.T) {
	values := func(c goroutines.Runtime) map[string]int64 {
		all := map[string]int64{}
		for _, m := range counterMetrics {
			if v := m.of(&c); v >= 0 {
				all[m.name] = v
			}
		}
		return all
	}
	c := goroutines.Runtime{Procs: 2, HeapMarked: -1, HeapGoal: -1, GOGC: goroutines.Off, MemoryLimit: goroutines.Off,
		Allocated: 0, Mapped: 5, Released: -1, Collections: 3, Forced: -1}
	want := map[string]int64{"/sched/gomaxprocs:threads": 2, "/gc/gogc:percent": goroutines.Off, "/gc/gomemlimit:bytes": goroutines.Off,
		"/gc/heap/allocs:bytes": 0, "/gc/cycles/total:gc-cycles": 3}
	if got := values(c); !maps.Equal(got, want) {
		t.Errorf("metrics %v, want %v", got, want)
	}
	c.HeapGoal, c.MemoryLimit, c.Released = 9, 100, 2
	if got := values(c); got["/gc/heap/goal:bytes"] != 0 || got["/memory/classes/total:bytes"] != 7 {
		t.Errorf("metrics %v, want no goal beside a memory limit, and 7 bytes in all", got)
	}
}
