package evidence

import (
	"bytes"
	"time"

	"github.com/gowhy/gowhy/internal/model"
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
// own, which are passed over.
func parseSched(line []byte) (schedEntry, bool) {
	e := schedEntry{SchedLine: model.SchedLine{NeedSpinning: -1}}
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
	whole := closed || bytes.Contains(head, []byte(" sysmonwait=")) // of scheddetail
	return e, whole && seen >= minSchedFields && e.Procs > 0
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
