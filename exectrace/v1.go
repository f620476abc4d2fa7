package exectrace

import (
	"errors"
	"fmt"
	"io"
	"math"

	xtrace "golang.org/x/exp/trace"
)

// Traces of Go 1.21 and older have another format: events of Ps instead of
// threads, to be sorted as a whole before any can be read. Those versions are
// out of support, so golang.org/x/exp/trace reads them, into memory, at about
// 25 times the size of the trace; its events are turned into ours here.

// ErrOldFormat is wrapped by errors of reading traces of Go 1.21 and older.
var ErrOldFormat = errors.New("this trace has the format of Go 1.21 and older; record it again with Go 1.22 or later, whose format can " +
	"be read in pieces")

// eachOldEvent is eachEvent for traces of Go 1.21 and older.
func (t *Trace) eachOldEvent(o EventOptions, yield func(*Event) bool) error {
	var r *xtrace.Reader
	if err := guarded(func() (err error) { r, err = xtrace.NewReader(t.raw()); return err }); err != nil {
		return err
	}
	c := newConverter()
	rec := Generation{Number: 1, Bytes: t.size, Start: Time(math.MaxInt64), Trusted: true}
	threads := map[int64]struct{}{}
	for {
		var e *Event
		err := guarded(func() error {
			x, err := r.ReadEvent()
			if err == nil {
				e = c.convert(&x)
			}
			return err
		})
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		rec.Events++
		rec.Start, rec.End = min(rec.Start, e.Time), max(rec.End, e.Time)
		if e.Thread >= 0 {
			threads[e.Thread] = struct{}{}
		}
		w := o.Window
		if !w.IsZero() && (e.Time < w.From && !o.Lead || e.Time >= w.To) {
			continue
		}
		if !yield(e) {
			return errStopped
		}
	}
	rec.Threads = len(threads)
	if o.generation != nil && rec.Events > 0 {
		o.generation(&rec)
	}
	return nil
}

// guarded calls f. The reader of old traces was not made for what no Go
// program wrote: where it panics, the trace is damaged.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the trace is damaged: %v: %w", r, ErrOldFormat)
		}
	}()
	// A bare io.EOF is the end of the trace, a wrapped one that of a cut one.
	if err = f(); err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", err, ErrOldFormat)
	}
	return err
}

// A converter turns events of golang.org/x/exp/trace into ours. Its tables
// grow as it goes.
type converter struct {
	tab    *eventTables
	ids    map[string]uint64
	stacks map[xtrace.Stack]uint64
	mark   uint64
	event  Event
}

func newConverter() *converter {
	c := &converter{tab: &eventTables{extra: []string{""}}, ids: map[string]uint64{"": 0}, stacks: map[xtrace.Stack]uint64{}}
	t := c.tab
	t.names = []string{""}
	t.strings = []stringRef{{}}
	t.text = [][]byte{{0}} // the place 0 stands for no string
	t.stacks = []stackRef{{}}
	return c
}

// word returns the id of a string.
func (c *converter) word(s string) uint64 {
	if id, ok := c.ids[s]; ok {
		return id
	}
	t := c.tab
	id := uint64(len(t.names))
	c.ids[s] = id
	t.names = append(t.names, s)
	at, n := len(t.text[0]), min(len(s), math.MaxUint16)
	t.text[0] = append(t.text[0], s[:n]...)
	t.strings = append(t.strings, stringRef{0, uint32(at), uint16(n)})
	return id
}

// stack returns the id of a stack.
func (c *converter) stack(s xtrace.Stack) uint64 {
	if s == xtrace.NoStack {
		return 0
	}
	if id, ok := c.stacks[s]; ok {
		return id
	}
	t := c.tab
	ref := stackRef{first: uint32(len(t.frames))}
	for f := range s.Frames() {
		if ref.n == maxFrames {
			break
		}
		t.frames = append(t.frames, rawFrame{f.PC, uint32(c.word(f.Func)), uint32(c.word(f.File)), uint32(f.Line)})
		ref.n++
	}
	id := uint64(0)
	if ref.n > 0 {
		id = uint64(len(t.stacks))
		t.stacks = append(t.stacks, ref)
	}
	c.stacks[s] = id
	return id
}

// convert returns an event that is valid until the next call.
func (c *converter) convert(x *xtrace.Event) *Event {
	e := &c.event
	*e = Event{
		Time: Time(x.Time()), Thread: int64(x.Thread()), Proc: int32(x.Proc()), Goroutine: int64(x.Goroutine()), tab: c.tab,
	}
	stack := c.stack(x.Stack())
	switch x.Kind() {
	case xtrace.EventSync:
		e.typ = evSync
		e.args[0] = uint64(x.Sync().N)
	case xtrace.EventStateTransition:
		c.transition(e, x, stack)
	case xtrace.EventMetric:
		m := x.Metric()
		e.typ = metricTypes[m.Name]
		if m.Value.Kind() == xtrace.ValueUint64 {
			e.args[0] = m.Value.Uint64()
		}
		if e.typ == evProcsChange {
			e.args[1] = stack
		}
	case xtrace.EventLabel:
		e.typ = evGoLabel
		e.args[0] = c.word(x.Label().Label)
	case xtrace.EventStackSample:
		e.typ = evCPUSample
		e.args[0] = stack
	case xtrace.EventRangeBegin, xtrace.EventRangeActive, xtrace.EventRangeEnd:
		c.special(e, x, stack)
	case xtrace.EventTaskBegin:
		t := x.Task()
		e.typ = evUserTaskBegin
		e.args = [4]uint64{uint64(t.ID), uint64(t.Parent), c.word(t.Type), stack}
	case xtrace.EventTaskEnd:
		t := x.Task()
		e.typ = evUserTaskEnd
		e.args = [4]uint64{uint64(t.ID), stack, uint64(t.Parent), c.tab.addExtra(t.Type)}
	case xtrace.EventRegionBegin, xtrace.EventRegionEnd:
		r := x.Region()
		e.typ = evUserRegionBegin
		if x.Kind() == xtrace.EventRegionEnd {
			e.typ = evUserRegionEnd
		}
		e.args = [4]uint64{uint64(r.Task), c.word(r.Type), stack}
	case xtrace.EventLog:
		l := x.Log()
		e.typ = evUserLog
		e.args = [4]uint64{uint64(l.Task), c.word(l.Category), c.word(l.Message), stack}
	}
	e.Kind = shapes[e.typ].kind
	return e
}

var metricTypes = map[string]eventType{
	MetricProcs: evProcsChange, metricHeapAlloc: evHeapAlloc, metricHeapGoal: evHeapGoal,
}

// A change is a goroutine's change of state.
type change struct{ from, to xtrace.GoState }

// transitionTypes are the events that stand for changes of goroutines.
// Where it is only told what a goroutine does, it is evGoStatusStack.
var transitionTypes = map[change]eventType{
	{xtrace.GoNotExist, xtrace.GoRunnable}: evGoCreate,
	{xtrace.GoNotExist, xtrace.GoWaiting}:  evGoCreateBlocked,
	{xtrace.GoNotExist, xtrace.GoSyscall}:  evGoCreateSyscall,
	{xtrace.GoRunnable, xtrace.GoRunning}:  evGoStart,
	{xtrace.GoRunning, xtrace.GoNotExist}:  evGoDestroy,
	{xtrace.GoRunning, xtrace.GoRunnable}:  evGoStop,
	{xtrace.GoRunning, xtrace.GoWaiting}:   evGoBlock,
	{xtrace.GoRunning, xtrace.GoSyscall}:   evGoSyscallBegin,
	{xtrace.GoWaiting, xtrace.GoRunnable}:  evGoUnblock,
	{xtrace.GoSyscall, xtrace.GoRunning}:   evGoSyscallEnd,
	{xtrace.GoSyscall, xtrace.GoRunnable}:  evGoSyscallEndBlocked,
	{xtrace.GoSyscall, xtrace.GoNotExist}:  evGoDestroySyscall,
}

var goStates = map[xtrace.GoState]State{
	xtrace.GoUndetermined: Unknown, xtrace.GoNotExist: Dead, xtrace.GoRunnable: Runnable,
	xtrace.GoRunning: Running, xtrace.GoWaiting: Waiting, xtrace.GoSyscall: Syscall,
}

var oldProcStates = map[xtrace.ProcState]ProcState{
	xtrace.ProcUndetermined: ProcUnknown, xtrace.ProcNotExist: ProcAbsent,
	xtrace.ProcRunning: ProcRunning, xtrace.ProcIdle: ProcIdle,
}

// transition converts a change of state of a goroutine or a P.
func (c *converter) transition(e *Event, x *xtrace.Event, stack uint64) {
	s := x.StateTransition()
	if s.Resource.Kind == xtrace.ResourceProc {
		from, to := s.Proc()
		e.from, e.to = uint8(oldProcStates[from]), uint8(oldProcStates[to])
		e.args[0] = uint64(s.Resource.Proc())
		switch {
		case from == xtrace.ProcIdle && to == xtrace.ProcRunning:
			e.typ = evProcStart
		case from == xtrace.ProcRunning && to == xtrace.ProcIdle:
			e.typ = evProcSteal
			if s.Resource.Proc() == x.Proc() {
				e.typ = evProcStop
			}
		default:
			e.typ = evProcStatus
		}
		return
	}
	from, to := s.Goroutine()
	e.from, e.to = uint8(goStates[from]), uint8(goStates[to])
	id := uint64(s.Resource.Goroutine())
	typ, ok := transitionTypes[change{from, to}]
	if !ok {
		e.typ = evGoStatusStack
		e.args = [4]uint64{id, noThread, uint64(to), c.stack(s.Stack)}
		return
	}
	e.typ = typ
	switch typ {
	case evGoCreate, evGoCreateBlocked:
		e.args = [4]uint64{id, c.stack(s.Stack), stack}
	case evGoUnblock:
		e.args = [4]uint64{id, 0, stack}
	case evGoStart, evGoCreateSyscall:
		e.args[0] = id
	case evGoStop, evGoBlock:
		e.args = [4]uint64{c.word(s.Reason), stack}
	case evGoSyscallBegin:
		e.args[1] = stack
	}
}

// special converts an event of a special range.
func (c *converter) special(e *Event, x *xtrace.Event, stack uint64) {
	r := x.Range()
	kind := x.Kind()
	pick := func(begin, active, end eventType) eventType {
		switch kind {
		case xtrace.EventRangeBegin:
			return begin
		case xtrace.EventRangeActive:
			return active
		}
		return end
	}
	switch r.Name {
	case RangeMark:
		// The old format numbers only the begins. Ours go on by one.
		e.typ = pick(evGCBegin, evGCActive, evGCEnd)
		c.mark++
		e.args = [4]uint64{c.mark, stack}
	case RangeSweep:
		e.typ = pick(evGCSweepBegin, evGCSweepActive, evGCSweepEnd)
		switch kind {
		case xtrace.EventRangeBegin:
			e.args[0] = stack
		case xtrace.EventRangeActive:
			e.args[0] = uint64(r.Scope.Proc())
		default:
			for i, a := range x.RangeAttributes() {
				e.args[i%2] = a.Value.Uint64()
			}
		}
	case RangeAssist:
		e.typ = pick(evGCMarkAssistBegin, evGCMarkAssistActive, evGCMarkAssistEnd)
		e.args[0] = stack
		if kind == xtrace.EventRangeActive {
			e.args[0] = uint64(r.Scope.Goroutine())
		}
	default:
		word := pauseOf(r.Name)
		e.typ = evSTWBegin
		e.args = [4]uint64{c.word(word), stack}
		if kind == xtrace.EventRangeEnd {
			e.typ = evSTWEnd
			e.args = [4]uint64{c.tab.addExtra(word)}
		}
	}
}

// pauseOf returns the kind in the name of a stop-the-world.
func pauseOf(name string) string {
	const head = "stop-the-world ("
	if len(name) > len(head) && name[:len(head)] == head && name[len(name)-1] == ')' {
		return name[len(head) : len(name)-1]
	}
	return name
}
