package export

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// What a time line shows is the same in every format, and decided here: tracks,
// counters, spans and tasks. How they are written is the format's.
//
// From the model come counters (Ps in use and goroutines waiting for one,
// averaged over the timeline's buckets; heap and its goal; mutator
// utilization), collections, stop-the-worlds, and the slowest user tasks of
// each type. Single runs of goroutines come from [Options.Slices], and are
// missing without them; the file says itself what it holds and what not.

// A canvas is what a time line is drawn on.
type canvas interface {
	// about says what the file holds: readers must not take a missing track for
	// a program that did nothing.
	about(facts []arg)
	// group names a group of tracks, track one track of it.
	group(group int, name string)
	track(group int, id int64, name string)
	// counter gives values to the counters of a name.
	counter(name, unit string, at time.Duration, values []arg)
	// span draws a stretch on a track. Those of one track come in order of time.
	span(group int, id int64, name, category string, begin, end time.Duration, args []arg)
	// task draws a stretch that may overlap others of its kind.
	task(id uint64, name string, begin, end time.Duration, args []arg)
	// goSlice draws a goroutine's stretch. A trace has ten million of them.
	goSlice(group int, id int64, s Slice)
	// broken reports whether nothing can be written any more.
	broken() bool
	end() error
}

// An arg is a named value beside an event: a string, a []string, a bool, an
// int64, a uint64 or a float64.
type arg struct {
	name  string
	value any
}

// The groups of tracks.
const (
	rowsProgram    = 1 // counters, collections, pauses, tasks
	rowsProcs      = 2 // a track for each P
	rowsGoroutines = 3 // a track for each goroutine, for what it does off its P

	trackCycles = 1
	trackPauses = 2
)

// The units of counters.
const (
	unitCount = "count"
	unitBytes = "bytes"
	unitShare = "share"
)

func draw(w io.Writer, m *model.Model, o Options, on func(io.Writer, *model.Model) canvas) error {
	if m.Sched == nil {
		return missing(m, model.Trace, "time line", "no execution trace was recorded")
	}
	if err := o.checkGroup(m); err != nil {
		return err
	}
	d := drawer{canvas: on(w, m), m: m}
	d.begin(o)
	d.counters()
	if m.GC != nil {
		d.collector()
	}
	if m.Tasks != nil {
		d.tasks()
	}
	if o.Slices != nil {
		d.slices(o)
	}
	return d.end()
}

type drawer struct {
	canvas
	m *model.Model
}

func (d *drawer) begin(o Options) {
	cov := d.m.Run.Coverage
	holds := []string{"counters averaged over buckets", "collections and stop-the-worlds", "the slowest user tasks of each type"}
	lacks := []string{}
	if o.Slices == nil {
		lacks = append(lacks, "single runs of goroutines")
	} else {
		holds = append(holds, "single runs of goroutines")
	}
	notes := []string{}
	for _, n := range cov.Notes {
		notes = append(notes, plain(n))
	}
	d.about([]arg{
		{"duration_ns", int64(d.m.Run.Duration)}, {"go", plain(d.m.Run.Go)}, {"group", plain(o.Group)}, {"holds", holds}, {"lacks", lacks},
		{"lost_bytes", cov.LostBytes}, {"lost_events", cov.LostEvents}, {"notes", notes},
	})
	d.group(rowsProgram, "Go program")
}

func (d *drawer) counters() {
	for _, b := range d.m.Sched.Timeline {
		d.counter("Ps", unitCount, b.Start, []arg{{"running", b.Running}, {"held, not running", max(0, b.Held-b.Running)}})
		d.counter("goroutines waiting for a P", unitCount, b.Start, []arg{{"runnable", b.Runnable}})
	}
}

func (d *drawer) collector() {
	g := d.m.GC
	for _, h := range g.Heap {
		d.counter("heap", unitBytes, h.At, []arg{{"alloc", h.Alloc}, {"goal", h.Goal}})
	}
	for _, s := range g.Utilization(model.CountAll, d.m.Run.Procs, 0, d.m.Run.Duration) {
		for _, step := range s[:max(0, len(s)-1)] {
			if math.IsNaN(step.Util) || math.IsInf(step.Util, 0) {
				continue // of no P; JSON has no such number
			}
			d.counter("mutator utilization", unitShare, step.At, []arg{{"utilization", step.Util}})
		}
	}
	d.track(rowsProgram, trackCycles, "garbage collections")
	for _, c := range g.Cycles {
		begin, end := max(c.Begin, 0), c.End
		if end < 0 {
			end = d.m.Run.Duration
		}
		d.span(rowsProgram, trackCycles, "GC "+strconv.FormatUint(c.Seq, 10), "gc", begin, end,
			[]arg{{"begin seen", c.Begin >= 0}, {"end seen", c.End >= 0}})
	}
	d.track(rowsProgram, trackPauses, "stop the world")
	for _, s := range g.Pauses {
		var args []arg
		if names := stackNames(d.m, s.Stack); len(names) > 0 {
			args = []arg{{"stack", names}}
		}
		d.span(rowsProgram, trackPauses, plain(s.Kind), "stw", s.At, s.At+s.Duration, args)
	}
}

func (d *drawer) tasks() {
	for _, t := range d.m.Tasks.Slow {
		end := t.End
		if end < 0 {
			end = d.m.Run.Duration
		}
		d.task(t.ID, plain(t.Name), max(t.Begin, 0), end, []arg{
			{"begin seen", t.Begin >= 0}, {"end seen", t.End >= 0}, {"logs", t.Logs}, {"parent", strconv.FormatUint(t.Parent, 10)},
		})
	}
}

func (d *drawer) slices(o Options) {
	d.group(rowsProcs, "Ps")
	d.group(rowsGoroutines, "goroutines off their P")
	named := map[[2]int64]bool{}
	for s := range o.Slices {
		if d.broken() {
			break // a full disk: the rest of the trace need not be read
		}
		if !o.keeps(s.Group) {
			continue
		}
		group, id := rowsProcs, int64(s.Proc)
		if s.Proc < 0 {
			group, id = rowsGoroutines, s.Goroutine
		}
		if key := [2]int64{int64(group), id}; !named[key] {
			named[key] = true
			track := fmt.Sprint("P ", s.Proc)
			if s.Proc < 0 {
				track = fmt.Sprintf("G %d %s", s.Goroutine, plain(s.Group))
			}
			d.track(group, id, track)
		}
		s.Name = cmp.Or(s.Name, s.Group, noName)
		d.goSlice(group, id, s)
	}
}

// stackNames returns the functions of a stack, leaf first.
func stackNames(m *model.Model, id model.Stack) (names []string) {
	for _, f := range m.Stacks.Frames(id) {
		names = append(names, plain(f.Func))
	}
	return names
}
