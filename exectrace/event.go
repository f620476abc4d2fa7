package exectrace

import (
	"strings"
	"time"
)

// An EventKind says what an [Event] is about and which of its methods answer.
type EventKind uint8

// The kinds of events.
const (
	eventNone         EventKind = iota
	EventSync                   // a generation begins, or the trace ends: Sync
	EventGoroutine              // a goroutine changes state, or its state is told: GoTransition
	EventProc                   // a P changes state, or its state is told: ProcTransition
	EventMetric                 // a metric has a new value: Metric
	EventLabel                  // the running goroutine gets a label: Label
	EventSample                 // a CPU profile sample
	EventRangeBegin             // a special range begins: Range
	EventRangeActive            // a special range was going on before: Range
	EventRangeEnd               // a special range ends: Range
	EventTaskBegin              // a user task begins: Task
	EventTaskEnd                // a user task ends: Task
	EventRegionBegin            // a user region begins: Region
	EventRegionEnd              // a user region ends: Region
	EventLog                    // a user log: Log
	EventExperimental           // of an experiment like AllocFree: Args
)

var eventKindNames = [...]string{
	"None", "Sync", "Goroutine", "Proc", "Metric", "Label", "Sample",
	"RangeBegin", "RangeActive", "RangeEnd", "TaskBegin", "TaskEnd",
	"RegionBegin", "RegionEnd", "Log", "Experimental",
}

// String returns the name of the kind without "Event".
func (k EventKind) String() string {
	if int(k) < len(eventKindNames) {
		return eventKindNames[k]
	}
	return eventKindNames[eventNone]
}

// A ProcState is what a P is doing.
type ProcState uint8

// The states of a P. A P in a system call is running: a thread holds it.
const (
	ProcUnknown ProcState = iota
	ProcAbsent            // does not exist
	ProcRunning           // held by a thread
	ProcIdle
)

// NoTask is the parent of a task that has none, and the task of what belongs
// to no task is 0.
const NoTask = ^uint64(0)

// An Event is one thing that happened, in the context of a thread. The
// context is the state before the event: a goroutine that begins to run is
// not yet Goroutine. -1 stands for no thread, P or goroutine.
//
// An Event may be kept as long as wanted; it keeps the strings and stacks of
// its generation in memory. While the iteration goes on its methods must be
// called by the goroutine that iterates. Methods for another kind than the event's return
// zero values.
type Event struct {
	Kind      EventKind
	typ       eventType
	from, to  uint8
	Proc      int32
	Time      Time
	Thread    int64
	Goroutine int64
	args      [4]uint64 // as on the wire without dt; UserTaskEnd: task, stack, parent, extra name; STWEnd: extra name
	tab       *eventTables
}

// eventTables are the strings and stacks that the events of a generation refer to.
type eventTables struct {
	tables
	names []string // by string id
	extra []string // names carried over from earlier events; 0 is ""
	snap  Clock
}

// newEventTables decodes the tables of a generation into memory of their own.
func newEventTables(g *generation) *eventTables {
	t := &eventTables{extra: []string{""}}
	t.load(g)
	// The input's memory may be used again while events are kept.
	bodies := make([]string, len(t.tables.text))
	for i, b := range t.tables.text {
		bodies[i] = string(b)
		t.tables.text[i] = []byte(bodies[i])
	}
	t.names = make([]string, len(t.strings))
	for i, r := range t.strings {
		if r.at != 0 {
			t.names[i] = bodies[r.batch][r.at : r.at+uint32(r.n)]
		}
	}
	return t
}

// word returns a string by its id.
func (t *eventTables) word(id uint64) string {
	if t == nil || id >= uint64(len(t.names)) {
		return ""
	}
	return t.names[id]
}

// addExtra returns the place of a string in extra.
func (t *eventTables) addExtra(s string) uint64 {
	if s == "" {
		return 0
	}
	// There are a handful of kinds of pauses; tasks end with few names.
	for i := len(t.extra) - 1; i > 0 && i >= len(t.extra)-8; i-- {
		if t.extra[i] == s {
			return uint64(i)
		}
	}
	t.extra = append(t.extra, s)
	return uint64(len(t.extra) - 1)
}

// resolve returns the frames of a stack.
func (t *eventTables) resolve(id uint64) []Frame {
	if t == nil || id == 0 || id >= 1<<32 {
		return nil
	}
	raw := t.stack(uint32(id))
	if len(raw) == 0 {
		return nil
	}
	out := make([]Frame, len(raw))
	for i, f := range raw {
		out[i] = Frame{PC: f.pc, Func: t.word(uint64(f.fn)), File: t.word(uint64(f.file)), Line: int(f.line)}
	}
	return out
}

// How the arguments of an event are used, by type. Places are counted from 1
// for the first argument after dt; 0 is none.
type eventShape struct {
	kind     EventKind
	stack    uint8 // of the context
	newStack uint8 // of a created goroutine
	strings  uint8 // bit set of string ids
}

var shapes = func() (s [256]eventShape) {
	kinds := map[EventKind][]eventType{
		EventProc: {evProcStart, evProcStop, evProcSteal, evProcStatus},
		EventGoroutine: {evGoCreate, evGoCreateSyscall, evGoStart, evGoDestroy, evGoDestroySyscall, evGoStop,
			evGoBlock, evGoUnblock, evGoSyscallBegin, evGoSyscallEnd, evGoSyscallEndBlocked, evGoStatus,
			evGoSwitch, evGoSwitchDestroy, evGoCreateBlocked, evGoStatusStack},
		EventMetric:      {evProcsChange, evHeapAlloc, evHeapGoal},
		EventLabel:       {evGoLabel},
		EventSample:      {evCPUSample},
		EventRangeBegin:  {evSTWBegin, evGCBegin, evGCSweepBegin, evGCMarkAssistBegin},
		EventRangeActive: {evGCActive, evGCSweepActive, evGCMarkAssistActive},
		EventRangeEnd:    {evSTWEnd, evGCEnd, evGCSweepEnd, evGCMarkAssistEnd},
		EventTaskBegin:   {evUserTaskBegin},
		EventTaskEnd:     {evUserTaskEnd},
		EventRegionBegin: {evUserRegionBegin},
		EventRegionEnd:   {evUserRegionEnd},
		EventLog:         {evUserLog},
		EventSync:        {evSync},
	}
	for kind, types := range kinds {
		for _, t := range types {
			s[t].kind = kind
		}
	}
	for t := evSpan; t <= evLastExperimental; t++ {
		s[t].kind = EventExperimental
	}
	for t := range s {
		if s[t].kind == eventNone || !specs[t].timed {
			continue
		}
		for i, a := range specs[t].args {
			switch {
			case a == "stack":
				s[t].stack = uint8(i)
			case a == "new_stack":
				s[t].newStack = uint8(i)
			case strings.HasSuffix(a, "_string"):
				s[t].strings |= 1 << i
			}
		}
	}
	s[evCPUSample].stack = 1
	return s
}()

// Name returns the name of the event in the wire format, like "GoStart".
func (e *Event) Name() string { return specs[e.typ].name }

// GoTransition returns the goroutine of an EventGoroutine with its states
// before and after. They are equal where the state is only told again; Unknown
// comes before the first that is told; Dead is before creation and after the end.
func (e *Event) GoTransition() (g int64, from, to State) {
	if e.Kind != EventGoroutine {
		return -1, Unknown, Unknown
	}
	return e.subject(), State(e.from), State(e.to)
}

// subject returns the goroutine that a goroutine event is about.
func (e *Event) subject() int64 {
	switch e.typ {
	case evGoCreate, evGoCreateSyscall, evGoCreateBlocked, evGoStart, evGoUnblock,
		evGoSwitch, evGoSwitchDestroy, evGoStatus, evGoStatusStack:
		return int64(e.args[0])
	}
	return e.Goroutine
}

// ProcTransition returns the P of an EventProc with its states before and after.
func (e *Event) ProcTransition() (p int32, from, to ProcState) {
	if e.Kind != EventProc {
		return -1, ProcUnknown, ProcUnknown
	}
	if e.typ == evProcStop {
		return e.Proc, ProcState(e.from), ProcState(e.to)
	}
	return int32(e.args[0]), ProcState(e.from), ProcState(e.to)
}

// Reason returns why a goroutine stopped or blocked; "" when it is not told.
func (e *Event) Reason() string {
	if e.typ == evGoStop || e.typ == evGoBlock {
		return e.tab.word(e.args[0])
	}
	return ""
}

// stackID returns the id of the stack of the context in the event's tables.
func (e *Event) stackID() uint64 {
	if i := shapes[e.typ].stack; i > 0 {
		return e.args[i-1]
	}
	return 0
}

// subjectStackID is stackID for the goroutine that changes state.
func (e *Event) subjectStackID() uint64 {
	switch e.typ {
	case evGoCreate, evGoCreateBlocked:
		return e.args[1]
	case evGoStop, evGoBlock, evGoSyscallBegin, evGoStatusStack:
		return e.stackID()
	}
	return 0
}

// Stack returns the stack of the context, leaf first: of whoever created or
// woke another goroutine, of the goroutine that blocks, of a sample.
func (e *Event) Stack() []Frame { return e.tab.resolve(e.stackID()) }

// GoStack returns the stack of the goroutine that changes state: the start
// function of one that is created, else where it stopped.
func (e *Event) GoStack() []Frame { return e.tab.resolve(e.subjectStackID()) }

// MetricProcs is GOMAXPROCS, as runtime/metrics names it.
const MetricProcs = "/sched/gomaxprocs:threads"

const (
	metricHeapAlloc = "/memory/classes/heap/objects:bytes"
	metricHeapGoal  = "/gc/heap/goal:bytes"
)

// Metric returns the name of a metric, as in runtime/metrics, and its new value.
func (e *Event) Metric() (name string, value uint64) {
	switch e.typ {
	case evProcsChange:
		name = MetricProcs
	case evHeapAlloc:
		name = metricHeapAlloc
	case evHeapGoal:
		name = metricHeapGoal
	default:
		return "", 0
	}
	return name, e.args[0]
}

// Label returns the label that the running goroutine gets.
func (e *Event) Label() string {
	if e.typ != evGoLabel {
		return ""
	}
	return e.tab.word(e.args[0])
}

// Names of special ranges. A pause is "stop-the-world (" + its kind + ")".
const (
	RangeMark   = "GC concurrent mark phase"
	RangeSweep  = "GC incremental sweep"
	RangeAssist = "GC mark assist"
)

// Range returns the name of a special range and whose it is: of a goroutine,
// of a P (sweeping), or of nobody (the mark phase); -1 where it is not.
func (e *Event) Range() (name string, g int64, p int32) {
	switch e.typ {
	case evSTWBegin, evSTWEnd:
		return "stop-the-world (" + e.pauseKind() + ")", e.Goroutine, -1
	case evGCBegin, evGCActive, evGCEnd:
		return RangeMark, -1, -1
	case evGCSweepBegin, evGCSweepEnd:
		return RangeSweep, -1, e.Proc
	case evGCSweepActive:
		return RangeSweep, -1, int32(e.args[0])
	case evGCMarkAssistBegin, evGCMarkAssistEnd:
		return RangeAssist, e.Goroutine, -1
	case evGCMarkAssistActive:
		return RangeAssist, int64(e.args[0]), -1
	}
	return "", -1, -1
}

// pauseKind returns the kind of a stop-the-world event.
func (e *Event) pauseKind() string {
	if e.typ == evSTWEnd {
		return e.tab.extra[e.args[0]]
	}
	return e.tab.word(e.args[0])
}

// Swept returns the bytes that a range of sweeping looked at and freed.
func (e *Event) Swept() (swept, reclaimed uint64) {
	if e.typ != evGCSweepEnd {
		return 0, 0
	}
	return e.args[0], e.args[1]
}

// Task returns the task of a task event. Parent is NoTask when there is none
// or it is not known; the name of an end is "" when its begin was not seen.
func (e *Event) Task() (id, parent uint64, name string) {
	switch e.typ {
	case evUserTaskBegin:
		return e.args[0], e.args[1], e.tab.word(e.args[2])
	case evUserTaskEnd:
		return e.args[0], e.args[2], e.tab.extra[e.args[3]]
	}
	return 0, NoTask, ""
}

// Region returns the task and the name of a region event.
func (e *Event) Region() (task uint64, name string) {
	if e.typ != evUserRegionBegin && e.typ != evUserRegionEnd {
		return 0, ""
	}
	return e.args[0], e.tab.word(e.args[1])
}

// Log returns the task, category and message of a user log.
func (e *Event) Log() (task uint64, category, message string) {
	if e.typ != evUserLog {
		return 0, "", ""
	}
	return e.args[0], e.tab.word(e.args[1]), e.tab.word(e.args[2])
}

// Sync returns the number of a sync event, from 1, and the clock of the
// generation that it begins, zero before Go 1.25.
func (e *Event) Sync() (n int, c Clock) {
	if e.typ != evSync {
		return 0, Clock{}
	}
	if e.tab != nil {
		c = e.tab.snap
	}
	return int(e.args[0]), c
}

// An Arg is a raw argument of an experimental event.
type Arg struct {
	Name  string
	Value uint64
}

// Args returns the arguments of an experimental event.
func (e *Event) Args() []Arg {
	if e.Kind != EventExperimental {
		return nil
	}
	names := specs[e.typ].args[1:]
	out := make([]Arg, len(names))
	for i, n := range names {
		out[i] = Arg{n, e.args[i]}
	}
	return out
}

// Sub returns the duration from s to t.
func (t Time) Sub(s Time) time.Duration { return time.Duration(t - s) }
