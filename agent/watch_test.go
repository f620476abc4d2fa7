//go:build go1.25

// With the timers of the go line, 1.21, testing/synctest refuses to run.
//go:debug asynctimerchan=0

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

var all = Triggers{CPU: 0.9, Goroutines: 2, Heap: 2, Latency: 10 * time.Millisecond, Warmup: 10 * time.Second, Cooldown: time.Minute}

// A second says what a program does in it.
type second struct {
	cpu        float64 // share
	goroutines float64
	heap       float64
	fast, slow uint64 // goroutines scheduled within and after 16 ms
}

// replay shows seconds to a detector and returns what it noticed, like "cpu@12",
// as if every event were written.
func replay(d *detector, story []second) (noticed []string) {
	r := reading{at: time.Unix(1000, 0), procs: 4, bounds: []float64{math.Inf(-1), 0, 0.001, 0.016, math.Inf(1)}, latencies: make([]uint64, 4)}
	d.look(r)
	for i, s := range story {
		r.at = r.at.Add(time.Second)
		r.cpu += time.Duration(s.cpu * r.procs * float64(time.Second))
		r.goroutines, r.heap = s.goroutines, s.heap
		r.latencies[1] += s.fast
		r.latencies[3] += s.slow
		for _, e := range d.look(r) {
			noticed = append(noticed, fmt.Sprintf("%s@%d", e.Kind, i))
			d.rebase(e)
		}
	}
	return noticed
}

func seconds(n int, f func(i int) second) (story []second) {
	for i := range n {
		story = append(story, f(i))
	}
	return story
}

func TestDetector(t *testing.T) {
	healthy := second{cpu: 0.3, goroutines: 500, heap: 100 << 20, fast: 10_000, slow: 10}
	with := func(from, to int, change func(*second)) []second {
		return seconds(60, func(i int) second {
			s := healthy
			if i >= from && i < to {
				change(&s)
			}
			return s
		})
	}
	for _, c := range []struct {
		name  string
		story []second
		want  string
	}{
		{"healthy", with(0, 0, nil), ""},
		{"a batch job is busy from its start", with(0, 60, func(s *second) { s.cpu = 1 }), ""},
		{"busy", with(20, 60, func(s *second) { s.cpu = 0.95 }), "cpu@22"},
		{"a burst", with(20, 22, func(s *second) { s.cpu = 1 }), ""},
		{"around its limit", seconds(60, func(i int) second {
			s := healthy
			if i >= 20 {
				s.cpu = []float64{0.95, 0.95, 0.95, 0.85, 0.85, 0.85}[(i-20)%6]
			}
			return s
		}), "cpu@22"},
		{"busy twice", append(with(20, 30, func(s *second) { s.cpu = 1 }), with(20, 60, func(s *second) { s.cpu = 1 })...), "cpu@22 cpu@82"},
		{"goroutines pile up", with(20, 60, func(s *second) { s.goroutines = 1600 }), "goroutines@22"},
		{"few goroutines", with(20, 60, func(s *second) { s.goroutines = 1400 }), ""},
		{"goroutines of the warm-up", with(3, 9, func(s *second) { s.goroutines = 5000 }), ""},
		{"a wave of goroutines", with(20, 22, func(s *second) { s.goroutines = 1e6 }), ""},
		// Usual are 500; 2500 are told of, then 6000, which is over twice that, and so on.
		{"a leak is told of at each doubling", seconds(60, func(i int) second {
			s := healthy
			s.goroutines += float64(max(0, i-10) * 500)
			return s
		}), "goroutines@14 goroutines@21 goroutines@35"},
		{"the heap doubles", with(20, 60, func(s *second) { s.heap = 220 << 20 }), "heap@22"},
		{"a small heap doubles", seconds(60, func(i int) second {
			s := healthy
			if s.heap = 10 << 20; i >= 20 {
				s.heap = 40 << 20
			}
			return s
		}), ""},
		{"waiting to run", with(20, 60, func(s *second) { s.slow = 300 }), "latency@21"},
		{"one bad second", with(20, 21, func(s *second) { s.slow = 300 }), ""},
		{"few wait to run", with(20, 60, func(s *second) { s.fast, s.slow = 100, 100 }), ""},
	} {
		if got := strings.Join(replay(&detector{t: all}, c.story), " "); got != c.want {
			t.Errorf("%s: noticed %q, want %q", c.name, got, c.want)
		}
	}
	if got := replay(&detector{t: Triggers{Tasks: map[string]time.Duration{"x": 1}}}, with(20, 60, func(s *second) {
		*s = second{1, 1e6, 1e12, 1, 1e6}
	})); len(got) > 0 {
		t.Errorf("triggers that are off noticed %q, want nothing", got)
	}
}

func TestPercentile(t *testing.T) {
	bounds := []float64{math.Inf(-1), 0, 1, 2, math.Inf(1)}
	for _, c := range []struct {
		counts []uint64
		want   float64
		ok     bool
	}{
		{[]uint64{0, 990, 10, 0}, 1, true},
		{[]uint64{0, 1000, 9, 0}, 0, true},
		{[]uint64{0, 0, 0, 1000}, 2, true},
		{[]uint64{1000, 0, 0, 0}, 0, true},
		{[]uint64{0, 400, 0, 0}, 0, false},
		{[]uint64{0, 1000}, 0, false},
	} {
		if got, ok := percentile99(bounds, make([]uint64, len(c.counts)), c.counts); got != c.want || ok != c.ok {
			t.Errorf("percentile99(%v) = %v, %v; want %v, %v", c.counts, got, ok, c.want, c.ok)
		}
	}
}

// TestLoop runs a watcher by a clock of its own.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var events []string
		tr := Triggers{Goroutines: 2, Tasks: map[string]time.Duration{"checkout": 50 * time.Millisecond, "*": time.Second},
			Warmup: 5 * time.Second, Cooldown: time.Minute,
			OnEvent: func(e Event) {
				events = append(events, fmt.Sprintf("%s%s@%v %s%v", e.Kind, e.Task, time.Since(begin), e.File, e.Err))
			}}
		w := newWatcher(tr)
		reads := 0
		w.read = func() reading {
			reads++
			n := 100.0
			switch s := time.Since(begin); {
			case s >= 90*time.Second:
				n = 5000
			case s >= 8*time.Second:
				n = 2000 // which then is usual
			}
			return reading{at: time.Now(), goroutines: n}
		}
		w.write = func(e recording.Event) (string, error) { return "file", errors.New("disk full") }
		watching.Store(w)
		defer watching.Store(nil)
		end := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.loop(end)
		}()
		task := func(name string, d time.Duration) {
			ctx, end := Task(context.Background(), name)
			defer end()
			if ctx == context.Background() {
				t.Error("no task in the context")
			}
			time.Sleep(d)
		}
		task("checkout", 49*time.Millisecond)
		task("checkout", 2*time.Second) // noticed while it runs
		task("checkout", 2*time.Second) // cooling down
		task("other", 900*time.Millisecond)
		task("other", 2*time.Second)
		task("another", 2*time.Second) // cools down with other, as "*" stands for both
		time.Sleep(2*time.Minute - time.Since(begin))
		task("checkout", time.Second)
		close(end)
		<-done
		want := []string{
			"taskcheckout@99ms filedisk full",
			"taskother@5.949s filedisk full",
			"goroutines@10s filedisk full",
			"goroutines@1m32s filedisk full",
			"taskcheckout@2m0.05s filedisk full",
		}
		if !slices.Equal(events, want) {
			t.Errorf("events\n%s\nwant\n%s", strings.Join(events, "\n"), strings.Join(want, "\n"))
		}
		if reads != 1+121 {
			t.Errorf("%d looks in two minutes, want 122", reads)
		}
	})
}

func TestTaskWithoutWatch(t *testing.T) {
	_, end := Task(context.Background(), "checkout")
	end()
	end()
}

// TestWatch has a task that hangs, and reads what is left of it.
func TestWatch(t *testing.T) {
	begin := time.Now()
	dir := filepath.Join(t.TempDir(), "events")
	events := make(chan Event, 10)
	stop, err := Watch(Triggers{Dir: dir, Tasks: map[string]time.Duration{"checkout": 20 * time.Millisecond},
		After: 150 * time.Millisecond, Cooldown: time.Nanosecond, MaxFiles: 2, Redact: true, OnEvent: func(e Event) { events <- e }})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := Watch(Triggers{Dir: dir, CPU: 0.9}); err == nil {
		t.Error("the program is watched twice")
	}
	var files []string
	for range 3 {
		ctx, end := Task(context.Background(), "checkout")
		trace.Log(ctx, "step", "payment")
		e := <-events
		end()
		if e.Err != nil || e.Kind != "task" || e.Task != "checkout" || e.Value < 0.02 || e.Limit != 0.02 {
			t.Fatalf("event %+v, want the task checkout of 20 ms or more", e)
		}
		files = append(files, e.File)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || !slices.Equal(left, files[1:]) {
		t.Errorf("left %q of %q, %v", left, files, err)
	}
	file, err := os.ReadFile(files[2])
	if err != nil {
		t.Fatal(err)
	}
	rec, content := open(t, file)
	man := rec.Manifest
	if rec.Cut || man.Event == nil || man.Event.Task != "checkout" || len(man.Refused) > 0 || !man.Redacted || man.End.Before(man.Event.Time) || man.Start.After(man.Event.Time) || man.Start.Before(begin) {
		t.Errorf("manifest %+v, want a whole one, redacted, nothing refused, around the task checkout", man)
	}
	for _, name := range []string{recording.TraceMember, recording.CPUMember, recording.GoroutineEndMember, recording.HeapEndMember, recording.BuildMember} {
		if len(content[name]) == 0 {
			t.Errorf("no %s", name)
		}
	}
	samples := strings.Split(string(content[recording.MetricsMember]), "\n")
	var first struct{ T int64 }
	if len(samples) < 4 || json.Unmarshal([]byte(samples[1]), &first) != nil || first.T >= man.Event.Time.UnixNano() || first.T < man.Start.UnixNano() {
		t.Errorf("metrics begin at %v: %.200q; want 4 lines or more, from before the event, in the window", time.Unix(0, first.T), samples)
	}
	for _, want := range []string{"go 1.", "checkout", "payment"} {
		if !strings.Contains(string(content[recording.TraceMember]), want) {
			t.Errorf("the trace does not hold %q", want)
		}
	}
	stop()
	stop()
	if watching.Load() != nil {
		t.Error("tasks are still watched")
	}
	checkRestored(t)
	f := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := f.Start(); err != nil {
		t.Fatal("the flight recorder still runs:", err)
	}
	defer f.Stop()
	if _, err := Watch(Triggers{Dir: dir, CPU: 0.9}); err == nil {
		t.Error("two flight recorders")
	}
	if watching.Load() != nil {
		t.Error("what is not watched is said to be")
	}
}

// Whoever ends the program waits for what is being written.
func TestFinishWaitsForTheFile(t *testing.T) {
	dir := t.TempDir()
	stop, err := Watch(Triggers{Dir: dir, Tasks: map[string]time.Duration{"*": time.Millisecond}, After: time.Hour, Cooldown: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	_, end := Task(t.Context(), "hangs")
	defer end()
	for limit := time.Now().Add(time.Minute); front.endAll(t.Context()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("nothing was noticed")
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 || !strings.HasSuffix(files[0], "-task.gowhy") {
		t.Errorf("files %q, %v; want one, of the task", files, err)
	}
}

// Of the looks the last ones are kept.
func TestPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &history{sampler: newSampler(), most: 3}
		begin := time.Now()
		for range 5 { // the last is four seconds after the first
			p.keep()
			time.Sleep(time.Second)
		}
		c := startClock()
		lines := strings.Split(strings.TrimSpace(string(p.appendSince(nil, begin.Add(3*time.Second), c))), "\n")
		if len(lines) != 2 {
			t.Fatalf("%d lines, want 2", len(lines))
		}
		for i, l := range lines {
			var line struct {
				T int64
				V []*float64
				H [][]uint64
			}
			want := begin.Add(time.Duration(3+i) * time.Second)
			if err := json.Unmarshal([]byte(l), &line); err != nil || line.T != want.UnixNano() || len(line.V) < 20 || len(line.H) == 0 {
				t.Errorf("%v: at %v, want %v, %d values", err, time.Unix(0, line.T), want, len(line.V))
			}
		}
		if all := p.appendSince(nil, begin, c); strings.Count(string(all), "\n") != 3 {
			t.Errorf("%d kept, want 3", strings.Count(string(all), "\n"))
		}
	})
}

func TestRoom(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, size int) {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		put(fmt.Sprintf("gowhy-2026010%d-cpu.gowhy", i), 1000)
	}
	put("gowhy-notes.txt", 10_000)
	put("a.gowhy", 10_000)
	left := func() string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		names := ""
		for _, e := range entries {
			names += " " + strings.TrimSuffix(strings.TrimPrefix(e.Name(), "gowhy-2026010"), "-cpu.gowhy")
		}
		return strings.TrimSpace(names)
	}
	for _, c := range []struct {
		t    Triggers
		want string
	}{
		{Triggers{MaxFiles: 4, MaxBytes: 1e6}, "a.gowhy 1 2 3 4 gowhy-notes.txt"},
		{Triggers{MaxFiles: 9, MaxBytes: 2500}, "a.gowhy 3 4 gowhy-notes.txt"},
		{Triggers{MaxFiles: 9, MaxBytes: 10}, "a.gowhy 4 gowhy-notes.txt"}, // the newest stays
	} {
		c.t.Dir = dir
		if err := makeRoom(c.t, "gowhy-20260104-cpu.gowhy"); err != nil || left() != c.want {
			t.Errorf("left %q, %v, want %q", left(), err, c.want)
		}
	}
}

func TestTriggersAreChecked(t *testing.T) {
	for _, tr := range []Triggers{
		{}, {CPU: 1}, {Dir: "x"}, {Dir: "x", Goroutines: 0.5}, {Dir: "x", Heap: 1}, {Dir: "x", CPU: -1},
		{Dir: "x", CPU: 90}, {Dir: "x", CPU: math.NaN()}, {Dir: "x", CPU: 1, MaxBytes: -1}, {Dir: "x", Memory: 90}, {Dir: "x", Memory: -1}, {Dir: "x", Tasks: map[string]time.Duration{"a": 0}},
	} {
		if stop, err := Watch(tr); err == nil {
			stop()
			t.Errorf("Watch(%+v) gives no error, want one", tr)
		}
	}
	tasks := map[string]time.Duration{"a": 1}
	taken, err := Triggers{Dir: "x", Tasks: tasks}.withDefaults()
	if tasks["b"] = 1; err != nil || len(taken.Tasks) != 1 {
		t.Errorf("the caller's map is in use: %v, %v; want one task", taken.Tasks, err)
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a directory was made for what was refused")
	}
}

func TestReader(t *testing.T) {
	read := newReader()
	r := read()
	if r.procs < 1 || r.goroutines < 1 || len(r.bounds) != len(r.latencies)+1 {
		t.Errorf("reading %+v, want Ps, goroutines, and one bound more than latencies", r)
	}
	d := &detector{t: all}
	d.look(read())
	if n := leastAllocs(func() { d.look(read()) }); n > 0 {
		t.Errorf("%v allocations for each look, want 0", n)
	}
}

func BenchmarkLook(b *testing.B) {
	read, d := newReader(), &detector{t: all}
	for b.Loop() {
		d.look(read())
	}
}

func BenchmarkTask(b *testing.B) {
	b.Run("not watched", func(b *testing.B) {
		for b.Loop() {
			_, end := Task(context.Background(), "checkout")
			end()
		}
	})
	b.Run("watched", func(b *testing.B) {
		watching.Store(newWatcher(Triggers{Tasks: map[string]time.Duration{"checkout": time.Minute}}))
		defer watching.Store(nil)
		for b.Loop() {
			_, end := Task(context.Background(), "checkout")
			end()
		}
	})
}

func BenchmarkKeep(b *testing.B) {
	p := &history{sampler: newSampler(), most: 10}
	for b.Loop() {
		p.keep()
	}
	b.ReportMetric(float64(len(p.looks[0].values)), "bytes/look")
}

func TestFlightRecorderDoesNotConflict(t *testing.T) {
	f := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	defer f.Stop()
	_, body := get(t, server(t), "record?d=50ms&sources=trace")
	rec, content := open(t, body)
	if len(rec.Manifest.Refused) > 0 || len(rec.Members) != 2 || len(content[recording.TraceMember]) == 0 {
		t.Errorf("recording %+v, want a trace, nothing refused", rec)
	}
	if !f.Enabled() {
		t.Error("the flight recorder was stopped")
	}
}
