package evidence

import (
	"bytes"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A schedEntry is a schedtrace line in a log.
type schedEntry struct {
	model.SchedLine
	stamp time.Time
}

// parseSched reads what the runtime prints with GODEBUG=schedtrace=…, from
// "SCHED " on. The form is that of proc.go:
//
//	SCHED 1009ms: gomaxprocs=2 idleprocs=1 threads=5 spinningthreads=0 needspinning=0 idlethreads=2 runqueue=0 [ 0 3 ] schedticks=[ 17 4 ]
//
// The brackets had no blanks inside once; needspinning came with Go 1.20,
// schedticks with Go 1.25. With scheddetail=1 the queues are on lines of their
// own: see [schedEntry.detail]. Of a line that somebody shortened what is left counts.
func parseSched(line []byte) (schedEntry, bool) {
	e := schedEntry{SchedLine: model.SchedLine{IdleProcs: -1, Threads: -1, SpinningThreads: -1, IdleThreads: -1, RunQueue: -1, NeedSpinning: -1}}
	c := cursor{rest: line, ok: true}
	c.lit("SCHED ")
	e.At = c.amount(time.Millisecond)
	c.lit("ms: ")
	if !c.ok {
		return e, false
	}
	head, lists, _ := bytes.Cut(c.rest, []byte("["))
	seen := 0
	for _, field := range bytes.Fields(head) {
		name, value, _ := bytes.Cut(field, []byte("="))
		if to := e.field(string(name)); to != nil {
			v := cursor{rest: value, ok: true}
			*to = int(v.integer())
			if !v.ok || len(v.rest) > 0 {
				return e, false
			}
			seen++
		}
	}
	queues, rest, closed := bytes.Cut(lists, []byte("]"))
	e.Local = numbers[int](queues)
	if ticks, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte("schedticks=[")); ok {
		ticks, _, closed = bytes.Cut(ticks, []byte("]"))
		e.Ticks = numbers[int64](ticks)
	}
	if closed && isElided(head) {
		if e.Procs == 0 {
			e.Procs = len(e.Local)
		}
		return e, e.RunQueue >= 0 && len(e.Local) > 0
	}
	whole := closed || bytes.Contains(head, []byte(" sysmonwait=")) // of scheddetail
	return e, whole && seen >= minSchedFields && e.Procs > 0
}

// detail reads a line that scheddetail=1 writes below the first, of a P or a goroutine,
// and reports whether it was one:
//
//	P0: status=1 schedtick=1 syscalltick=0 m=0 runqsize=0 gfreecnt=0
//	G4: status=4(GC scavenge wait) m=-1 lockedm=-1
//
// Those of threads say nothing that the first does not.
func (e *schedEntry) detail(line []byte) bool {
	kind, rest, ok := bytes.Cut(line, []byte(": "))
	if kind = bytes.TrimSpace(kind); !ok || len(kind) < 2 || kind[1] < '0' || kind[1] > '9' {
		return false
	}
	switch kind[0] {
	case 'P':
		_, size, ok := bytes.Cut(rest, []byte(" runqsize="))
		n := cursor{rest: size, ok: ok}
		if v := int(n.integer()); n.ok && len(e.Local) < e.Procs {
			e.Local = append(e.Local, v)
		}
	case 'G':
		if state := goroutineState(rest); state != "" {
			if e.Goroutines == nil {
				e.Goroutines = map[string]int{}
			}
			if _, known := e.Goroutines[state]; known || len(e.Goroutines) < maxSchedStates {
				e.Goroutines[state]++
			}
		}
	case 'M':
	default:
		return false
	}
	return true
}

// maxSchedStates bounds what is kept of a text that only looks like the runtime's: it
// has some forty reasons to wait.
const maxSchedStates = 100

// goroutineState returns the state of a goroutine of scheddetail: the reason of its wait, or
// the word for its status. Empty for one that is not in use.
func goroutineState(rest []byte) string {
	status, ok := bytes.CutPrefix(rest, []byte("status="))
	if !ok {
		return ""
	}
	c := cursor{rest: status, ok: true}
	n := c.integer() &^ 0x1000 // its stack is being scanned
	reason, _, _ := bytes.Cut(c.rest, []byte(" m="))
	reason = bytes.TrimSuffix(bytes.TrimPrefix(reason, []byte("(")), []byte(")"))
	switch {
	case !c.ok:
	case n == 1:
		return "runnable"
	case n == 2:
		return "running"
	case n == 3:
		return "system call"
	case n == 4 && len(reason) > 0:
		return string(reason)
	case n == 4:
		return "waiting"
	}
	return ""
}

// minSchedFields is how many of the fields every version has.
const minSchedFields = 6

func (e *schedEntry) field(name string) *int {
	switch name {
	case "gomaxprocs":
		return &e.Procs
	case "idleprocs":
		return &e.IdleProcs
	case "threads":
		return &e.Threads
	case "spinningthreads":
		return &e.SpinningThreads
	case "needspinning":
		return &e.NeedSpinning
	case "idlethreads":
		return &e.IdleThreads
	case "runqueue":
		return &e.RunQueue
	}
	return nil
}

// numbers reads numbers between blanks; nil when there is anything else.
func numbers[T int | int64](b []byte) []T {
	var list []T
	for _, f := range bytes.Fields(b) {
		c := cursor{rest: f, ok: true}
		list = append(list, T(c.integer()))
		if !c.ok || len(c.rest) > 0 {
			return nil
		}
	}
	return list
}

// schedOrigin returns when the lines' clock began, by the stamps of a log.
func schedOrigin(entries []schedEntry) (t time.Time) {
	for i := range entries {
		t = earliest(t, entries[i].stamp, entries[i].At)
	}
	return t
}
