package record

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

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
		t.Fatalf("goroutine profiles at the start %v, at the end %v, want both; notes %q",
			m.Goroutines.Start != nil, m.Goroutines.End != nil, m.Run.Coverage.Notes)
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
}

const collects = `package main

import (
	_ "net/http/pprof" // so that it keeps a memory profile
	"runtime"
	"time"
)

var kept [][]byte

//go:noinline
func keeps() { kept = append(kept, make([]byte, 1<<20)) }

func main() {
	println("runs")
	for {
		if len(kept) < 1000 {
			keeps()
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}
`

// What the runtime of such a program counts is read, under the names of its metrics.
func TestRecordCountersFromOutside(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("builds a program, whose memory is read on Linux")
	}
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(collects), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("go", "build", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	cmd := exec.Command(exe)
	says, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if _, err := says.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	r, err := goroutines.Open(cmd.Process.Pid)
	if err != nil {
		t.Skip("its memory cannot be read: ", err)
	}
	r.Close()
	out := filepath.Join(dir, "run.gowhy")
	if _, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, Options{Out: out, Duration: 300 * time.Millisecond, unwatched: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	m := load(t, evidence.Options{}, out)
	for name, least := range map[string]float64{"/sched/gomaxprocs:threads": 1, "/gc/heap/goal:bytes": 4 << 20, "/gc/heap/live:bytes": 1,
		"/gc/gogc:percent": 100, "/gc/gomemlimit:bytes": 1 << 62, "/gc/heap/allocs:bytes": 1, "/memory/classes/total:bytes": 1 << 20} {
		if v, ok := m.Metrics.Last(name); !ok || v < least {
			t.Errorf("%s: %v, want %v at least", name, v, least)
		}
	}
	if m.Heap == nil || m.LiveHeap.Start == nil || m.LiveHeap.End == nil {
		t.Fatalf("heap profiles %v, at the start %v, at the end %v, want all; notes %q",
			m.Heap != nil, m.LiveHeap.Start != nil, m.LiveHeap.End != nil, m.Run.Coverage.Notes)
	}
	bytes := m.Heap.Column("alloc_space")
	allocated := 0.0
	for i := range m.Heap.Samples {
		s := &m.Heap.Samples[i]
		if f := m.Stacks.Frames(s.Stack); len(f) > 1 && f[0].Func == "main.keeps" && f[1].Func == "main.main" {
			allocated += s.Value(bytes)
		}
	}
	if m.Heap.Duration <= 0 || allocated < 1<<20 {
		t.Errorf("main.keeps allocated %v bytes in %v, want some MB", allocated, m.Heap.Duration)
	}
	if n := len(m.HeapCourse); n < 2 || inUse(m, m.HeapCourse[n-1], "main.keeps") <= inUse(m, m.HeapCourse[0], "main.keeps") {
		t.Errorf("%d looks at the heap, want two and more that show main.keeps grow", n)
	}
	all, _, _ := m.Metrics.Delta("/gc/cycles/total:gc-cycles")
	if forced, _, ok := m.Metrics.Delta("/gc/cycles/forced:gc-cycles"); !ok || forced < 1 || forced > all {
		t.Errorf("%v forced collections of %v, want some", forced, all)
	}
	for _, name := range []string{"/gc/heap/allocs:objects", "/sched/goroutines:goroutines"} {
		if v, ok := m.Metrics.Last(name); ok {
			t.Errorf("%s: %v, which nobody read", name, v)
		}
	}
}

// inUse returns what a function has in use in a heap profile.
func inUse(m *model.Model, p *model.Profile, function string) (bytes float64) {
	for i := range p.Samples {
		if f := m.Stacks.Frames(p.Samples[i].Stack); len(f) > 0 && f[0].Func == function {
			bytes += p.Samples[i].Value(p.Column("inuse_space"))
		}
	}
	return bytes
}

// A watchedMemory is that of a program of which only one snapshot is known.
type watchedMemory struct{ s *goroutines.Snapshot }

var errNotRead = errors.New("not read here")

func (m watchedMemory) Read() (*goroutines.Snapshot, error)         { return m.s, nil }
func (m watchedMemory) Gauge() (*goroutines.Gauge, error)           { return nil, errNotRead }
func (m watchedMemory) HeapReader() (*goroutines.HeapReader, error) { return nil, errNotRead }

// TestWatchedBefore: who watches a program anyway may have nothing newer at the end than
// at the start, and knows who has stood since before.
func TestWatchedBefore(t *testing.T) {
	cmd := exec.Command(program(t, "plain")[0])
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for watched, want := range map[time.Duration]time.Duration{10 * time.Second: time.Second, 100 * time.Millisecond: 0} {
		s := &goroutines.Snapshot{Time: time.Now(), Watched: watched, Count: 40, Groups: []goroutines.Group{
			{Start: symbols.Place{Func: "main.f", File: "a.go", Line: 3}, State: goroutines.Waiting, Reason: "chan receive", Count: 40, Ages: goroutines.Ages{40, 40}}}}
		out := filepath.Join(t.TempDir(), "run.gowhy")
		o := Options{Out: out, Duration: 1100 * time.Millisecond, unwatched: time.Millisecond, Only: []string{"goroutine"},
			Memory: watchedMemory{s}}
		if _, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, o); err != nil {
			t.Fatal(err)
		}
		if m := load(t, evidence.Options{}, out); m.Moment == nil || m.Moment.Watched != want || m.Moment.Goroutines[0].Still != 40*int64(want/time.Second) {
			t.Errorf("watched for %v before: %+v, want %v and those that stood", watched, m.Moment, want)
		}
	}
}
