package export

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/model"
)

// Perfetto writes a time line in Chrome's JSON trace event format.
//
// From the model come counters (Ps in use and goroutines waiting for one,
// averaged over the timeline's buckets; heap and its goal; mutator
// utilization), collections, stop-the-worlds, and the slowest user tasks of
// each type. Single runs of goroutines come from [Options.Slices], and are
// missing without them; the file's otherData says what it holds and what not.
func Perfetto(w io.Writer, m *model.Model, o Options) error {
	if m.Sched == nil {
		return &MissingError{"time line", "no execution trace was recorded", model.Trace}
	}
	if err := o.checkGroup(m); err != nil {
		return err
	}
	p := &perfetto{m: m, w: bufio.NewWriterSize(w, 1<<16)}
	p.begin(o)
	p.counters()
	if m.GC != nil {
		p.collector()
	}
	if m.Tasks != nil {
		p.tasks()
	}
	if o.Slices != nil {
		p.slices(o)
	}
	return p.end()
}

// Rows of the time line: Perfetto groups threads by process.
const (
	rowsProgram    = 1 // counters, collections, pauses, tasks
	rowsProcs      = 2 // a thread for each P
	rowsGoroutines = 3 // a thread for each goroutine, for what it does off its P

	trackCycles = 1
	trackPauses = 2
)

// micros is a time in the format's unit; three digits keep the nanoseconds.
type micros time.Duration

func (d micros) MarshalJSON() ([]byte, error) { return d.append(nil), nil }

func (d micros) append(b []byte) []byte {
	u := uint64(d)
	if d < 0 {
		b, u = append(b, '-'), -u
	}
	b = strconv.AppendUint(b, u/1000, 10)
	u %= 1000
	return append(b, '.', byte('0'+u/100), byte('0'+u/10%10), byte('0'+u%10))
}

// An event is one trace event; see the format's description for the letters.
type event struct {
	Phase string         `json:"ph"`
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int64          `json:"tid"`
	Ts    micros         `json:"ts"`
	Dur   *micros        `json:"dur,omitempty"`
	ID    string         `json:"id,omitempty"`
	Args  map[string]any `json:"args,omitempty"` // json sorts the keys
}

type perfetto struct {
	m     *model.Model
	w     *bufio.Writer
	count int
	err   error
}

func (p *perfetto) emit(e event) {
	if p.err != nil {
		return
	}
	data, err := json.Marshal(e)
	if err != nil {
		p.err = err
		return
	}
	if p.count++; p.count > 1 {
		p.w.WriteString(",\n")
	}
	if _, err := p.w.Write(data); err != nil {
		p.err = err
	}
}

// begin writes what the file says about itself: readers must not take a
// missing track for a program that did nothing.
func (p *perfetto) begin(o Options) {
	cov := p.m.Run.Coverage
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
	about, err := json.Marshal(map[string]any{
		"go": plain(p.m.Run.Go), "holds": holds, "lacks": lacks, "group": plain(o.Group),
		"duration_ns": int64(p.m.Run.Duration), "lost_bytes": cov.LostBytes, "lost_events": cov.LostEvents, "notes": notes,
	})
	p.err = err
	fmt.Fprintf(p.w, "{\"displayTimeUnit\":\"ns\",\"otherData\":%s,\"traceEvents\":[\n", about)
	p.name("process_name", rowsProgram, 0, "Go program")
}

func (p *perfetto) end() error {
	p.w.WriteString("\n]}\n")
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

func (p *perfetto) name(what string, pid int, tid int64, name string) {
	p.emit(event{Phase: "M", Name: what, Pid: pid, Tid: tid, Args: map[string]any{"name": name}})
}

func (p *perfetto) counter(name string, at time.Duration, args map[string]any) {
	p.emit(event{Phase: "C", Name: name, Pid: rowsProgram, Ts: micros(at), Args: args})
}

func (p *perfetto) span(pid int, tid int64, name, cat string, begin, end time.Duration, args map[string]any) {
	dur := micros(end - begin)
	p.emit(event{Phase: "X", Name: name, Cat: cat, Pid: pid, Tid: tid, Ts: micros(begin), Dur: &dur, Args: args})
}

func (p *perfetto) counters() {
	for _, b := range p.m.Sched.Timeline {
		p.counter("Ps", b.Start, map[string]any{"running": b.Running, "held, not running": max(0, b.Held-b.Running)})
		p.counter("goroutines waiting for a P", b.Start, map[string]any{"runnable": b.Runnable})
	}
}

func (p *perfetto) collector() {
	g := p.m.GC
	for _, h := range g.Heap {
		p.counter("heap", h.At, map[string]any{"alloc": h.Alloc, "goal": h.Goal})
	}
	for _, s := range g.Utilization(model.CountAll, p.m.Run.Procs, 0, p.m.Run.Duration) {
		for _, step := range s[:max(0, len(s)-1)] {
			if math.IsNaN(step.Util) || math.IsInf(step.Util, 0) {
				continue // of no P; JSON has no such number
			}
			p.counter("mutator utilization", step.At, map[string]any{"utilization": step.Util})
		}
	}
	p.name("thread_name", rowsProgram, trackCycles, "garbage collections")
	for _, c := range g.Cycles {
		begin, end := max(c.Begin, 0), c.End
		if end < 0 {
			end = p.m.Run.Duration
		}
		p.span(rowsProgram, trackCycles, "GC "+strconv.FormatUint(c.Seq, 10), "gc", begin, end,
			map[string]any{"begin seen": c.Begin >= 0, "end seen": c.End >= 0})
	}
	p.name("thread_name", rowsProgram, trackPauses, "stop the world")
	for _, s := range g.Pauses {
		p.span(rowsProgram, trackPauses, plain(s.Kind), "stw", s.At, s.At+s.Duration, p.stack(s.Stack))
	}
}

func (p *perfetto) tasks() {
	for _, t := range p.m.Tasks.Slow {
		e := event{
			Phase: "b", Name: plain(t.Name), Cat: "task", Pid: rowsProgram, Ts: micros(max(t.Begin, 0)), ID: strconv.FormatUint(t.ID, 10),
			Args: map[string]any{"parent": strconv.FormatUint(t.Parent, 10), "logs": t.Logs, "begin seen": t.Begin >= 0, "end seen": t.End >= 0},
		}
		p.emit(e)
		e.Phase, e.Args, e.Ts = "e", nil, micros(t.End)
		if t.End < 0 {
			e.Ts = micros(p.m.Run.Duration)
		}
		p.emit(e)
	}
}

func (p *perfetto) slices(o Options) {
	p.name("process_name", rowsProcs, 0, "Ps")
	p.name("process_name", rowsGoroutines, 0, "goroutines off their P")
	named := map[[2]int64]bool{}
	quote := quoter()
	for s := range o.Slices {
		if p.err != nil {
			break // a full disk: the rest of the trace need not be read
		}
		if !o.keeps(s.Group) {
			continue
		}
		pid, tid := rowsProcs, int64(s.Proc)
		if s.Proc < 0 {
			pid, tid = rowsGoroutines, s.Goroutine
		}
		if key := [2]int64{int64(pid), tid}; !named[key] {
			named[key] = true
			track := fmt.Sprint("P ", s.Proc)
			if s.Proc < 0 {
				track = fmt.Sprintf("G %d %s", s.Goroutine, plain(s.Group))
			}
			p.name("thread_name", pid, tid, track)
		}
		p.run(s, pid, tid, quote)
	}
}

// run writes the slice of a goroutine's run. A trace has ten million of them,
// so that this is written by hand: encoding/json takes ten times as long.
func (p *perfetto) run(s Slice, pid int, tid int64, quote func(string) []byte) {
	b := p.w.AvailableBuffer()
	if p.count++; p.count > 1 {
		b = append(b, ",\n"...)
	}
	b = append(b, `{"ph":"X","name":`...)
	b = append(b, quote(cmp.Or(s.Name, s.Group, noName))...)
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, int64(pid), 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, tid, 10)
	b = append(b, `,"ts":`...)
	b = micros(s.Begin).append(b)
	b = append(b, `,"dur":`...)
	b = micros(s.End - s.Begin).append(b)
	b = append(b, `,"args":{"goroutine":`...)
	b = strconv.AppendInt(b, s.Goroutine, 10)
	if s.Stack != 0 {
		names, err := json.Marshal(p.stackNames(s.Stack))
		p.err = cmp.Or(p.err, err)
		b = append(append(b, `,"stack":`...), names...)
	}
	b = append(b, "}}"...)
	if _, err := p.w.Write(b); err != nil {
		p.err = cmp.Or(p.err, err)
	}
}

// quoter returns a function that makes JSON of names, each only once.
func quoter() func(string) []byte {
	known := map[string][]byte{}
	return func(name string) []byte {
		q, ok := known[name]
		if !ok {
			// A string's encoding cannot fail.
			q, _ = json.Marshal(plain(name))
			known[name] = q
		}
		return q
	}
}

func (p *perfetto) stackNames(id model.Stack) (names []string) {
	for _, f := range p.m.Stacks.Frames(id) {
		names = append(names, plain(f.Func))
	}
	return names
}

func (p *perfetto) stack(id model.Stack) map[string]any {
	args := map[string]any{}
	if names := p.stackNames(id); len(names) > 0 {
		args["stack"] = names
	}
	return args
}
