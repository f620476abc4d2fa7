package experiment

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// The workers are the program's own group of about that size that existed longest.
func TestWhichGroupWorks(t *testing.T) {
	group := func(name string, peak int, seconds time.Duration) model.Group {
		return model.Group{Name: name, Count: 7, Peak: peak, Times: model.Times{Running: seconds * time.Second}}
	}
	system := group("runtime.gcBgMarkWorker", 10, 9)
	system.System = true
	worker := group("main.worker", 10, 5)
	for _, tt := range []struct {
		name   string
		groups []model.Group
		as     string // the name it has in another run
		want   string // empty for none
	}{
		{"one", []model.Group{worker}, "", "main.worker"},
		{"the one that existed longer, first", []model.Group{worker, group("main.reader", 10, 4)}, "", "main.worker"},
		{"the one that existed longer, last", []model.Group{group("main.reader", 10, 4), worker}, "", "main.worker"},
		{"the one of that name", []model.Group{worker, group("main.reader", 10, 4)}, "main.reader", "main.reader"},
		{"none of that name", []model.Group{worker}, "main.reader", ""},
		{"the runtime's", []model.Group{system, worker}, "", "main.worker"},
		{"the main goroutine", []model.Group{group("main.main", 10, 9), group("runtime.main", 10, 9), worker}, "", "main.worker"},
		{"half as many", []model.Group{group("main.worker", 5, 1)}, "", "main.worker"},
		{"less than half as many", []model.Group{group("main.worker", 4, 1)}, "", ""},
		{"two more than twice as many", []model.Group{group("main.worker", 22, 1)}, "", "main.worker"},
		{"three more than twice as many", []model.Group{group("main.worker", 23, 1)}, "", ""},
		{"none", nil, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &model.Model{Sched: &model.Sched{Groups: tt.groups, Procs: make([]model.Proc, 3)}}
			w, err := MeasureWorkers(m, 10, tt.as)
			if w.Group != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("MeasureWorkers takes %q (%v), want %q", w.Group, err, tt.want)
			}
			if want := "no group of goroutines in the trace has about 10 members"; err != nil && err.Error() != want {
				t.Errorf("MeasureWorkers: %v, want %s", err, want)
			}
		})
	}
	for procs, want := range map[int]int{0: 3, 5: 5} {
		m := &model.Model{Run: model.Run{Procs: procs, PID: 77}}
		m.Sched = &model.Sched{Groups: []model.Group{worker}, Procs: make([]model.Proc, 3)}
		if w, err := MeasureWorkers(m, 10, ""); err != nil || w.Procs != want || w.Count != 10 {
			t.Errorf("MeasureWorkers: %d workers on %d Ps (%v), want 10 on %d", w.Count, w.Procs, err, want)
		}
	}
}

// Waits for the collector are told by their reason or by the collector on the stack, waits for a task by the worker's own
// function; neither is more than the group was blocked.
func TestWaitsOfWorkers(t *testing.T) {
	const s = time.Second
	frames := func(names ...string) (list []model.Frame) {
		for _, n := range names {
			list = append(list, model.Frame{Func: n, File: "/src/" + n + ".go"})
		}
		return list
	}
	type blocked = map[string]time.Duration
	receives := model.Wait{Reason: "chan receive"}
	own := frames("runtime.chanrecv1", "main.worker")
	starts := frames("runtime.semacquire", "runtime.gcStart", "main.worker")
	for _, tt := range []struct {
		name             string
		blocked          blocked
		wait             model.Wait // of 3 s
		stack            []model.Frame
		collector, tasks time.Duration
	}{
		{"for a task from a channel", blocked{"chan receive": 5 * s}, receives, own, 0, 3 * s},
		{"for a task from several", blocked{"select": 5 * s}, model.Wait{Reason: "select"}, own, 0, 3 * s},
		{"for a lock", blocked{"sync": 5 * s}, model.Wait{Reason: "sync"}, own, 0, 0},
		{"inside a task", blocked{"chan receive": 5 * s}, receives, frames("runtime.chanrecv1", "main.ask", "main.worker"), 0, 0},
		{"of another group", blocked{"chan receive": 5 * s}, model.Wait{Reason: "chan receive", Group: "main.other"}, own, 0, 0},
		{"of another kind", blocked{"chan receive": 5 * s}, model.Wait{Reason: "chan receive", Kind: model.OtherWait}, own, 0, 0},
		{"by reason", blocked{"GC mark assist": 4 * s, "sync": s}, model.Wait{Reason: "GC mark assist"}, own, 4 * s, 0},
		{"by reason, with the collector on the stack", blocked{"GC mark assist": 4 * s, "sync": s}, model.Wait{Reason: "GC mark assist"},
			starts, 4 * s, 0},
		{"by the stack", blocked{"sync": 5 * s}, model.Wait{Reason: "sync"}, starts, 3 * s, 0},
		{"below the collector", blocked{"sync": 5 * s}, model.Wait{Reason: "sync"}, frames("main.work", "runtime.gcStart"), 0, 0},
		{"by reason and by the stack", blocked{"GC sweep": 2 * s, "sync": 3 * s}, model.Wait{Reason: "sync"}, starts, 5 * s, 0},
		{"for the collector, no more than blocked", blocked{"sync": s}, model.Wait{Reason: "sync"}, starts, s, 0},
		{"for a task, no more than blocked", blocked{"chan receive": 2 * s}, receives, own, 0, 2 * s},
		{"for a task, no more than the collector leaves", blocked{"chan receive": 2 * s, "GC sweep": s}, receives, own, s, 2 * s},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := model.Group{Name: "main.worker", Times: model.Times{Blocked: tt.blocked}}
			m := &model.Model{Sched: &model.Sched{}}
			m.Stacks.Add(frames("main.nothing"))
			w := tt.wait
			w.Stack, w.Total, w.OpenTotal = m.Stacks.Add(tt.stack), 3*s, s
			if w.Group == "" {
				w.Group = g.Name
			}
			if w.Kind == "" {
				w.Kind = model.Sync
			}
			m.Sched.Waits = []model.Wait{w}
			if collector, tasks := waitsOf(m, &g); collector != tt.collector || tasks != tt.tasks {
				t.Errorf("waitsOf = %s for the collector, %s for tasks, want %s, %s", collector, tasks, tt.collector, tt.tasks)
			}
		})
	}
}

// What cannot be traced or has no such workers is why there are no formulas; one trace that has is enough.
func TestFormulasOfTraces(t *testing.T) {
	broken := errors.New("it has no handlers")
	bare := func(float64) (*model.Model, error) { return &model.Model{}, nil }
	for _, tt := range []struct {
		name   string
		record func(count float64) (*model.Model, error)
		asked  string
		at     string // of the formulas; empty for none
		why    string
	}{
		{"all", func(n float64) (*model.Model, error) { return pool(n, nil), nil }, "[64 16 4]", "[4 16 64]", ""},
		{"it cannot be traced", func(float64) (*model.Model, error) { return nil, broken }, "[64]", "", "it has no handlers"},
		{"nothing in the traces", bare, "[64 16 4]", "", "the recording has no execution trace"},
		{"nothing in the first", func(n float64) (*model.Model, error) {
			if n == 64 {
				return bare(n)
			}
			return pool(n, nil), nil
		}, "[64 16 4]", "[4 16]", ""},
		{"the second failed", func(n float64) (*model.Model, error) {
			if n == 16 {
				return nil, broken
			}
			return pool(n, nil), nil
		}, "[64 16 4]", "[4 64]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []float64
			f, err := newFinder(Search{Knobs: []Knob{workers}, Record: func(_ context.Context, s Setting) (*model.Model, error) {
				asked = append(asked, s["workers"])
				return tt.record(s["workers"])
			}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := &Curve{Knob: workers, Chosen: 0}
			for _, v := range []float64{4, 16, 64} {
				c.Points = append(c.Points, Point{Value: v, Ratio: 1})
			}
			if err := f.formulas(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			at := ""
			if len(c.Formulas) > 0 {
				at = fmt.Sprint(c.Formulas[0].At)
			}
			if got := fmt.Sprint(asked); got != tt.asked || at != tt.at || c.NoFormulas != tt.why {
				t.Errorf("formulas at %q of traces at %s, without them for %q; want %q, %s, %q",
					at, got, c.NoFormulas, tt.at, tt.asked, tt.why)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	f := &finder{progress: func(int, int, string) {}}
	f.Record = func(context.Context, Setting) (*model.Model, error) { cancel(); return nil, broken }
	c := &Curve{Knob: workers, Points: []Point{{Value: 4, Ratio: 1}}}
	if err := f.formulas(ctx, c); !errors.Is(err, context.Canceled) || c.NoFormulas != "" {
		t.Errorf("formulas while interrupted = %v, %q", err, c.NoFormulas)
	}
}
