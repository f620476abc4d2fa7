package oracle

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/exp/trace"
)

// Flags say what counts as the collector's in [Utilization].
type Flags uint8

// The flags.
const (
	STW        Flags = 1 << iota // stop-the-worlds of the collector
	Background                   // mark workers, the idle ones not
	Assist                       // goroutines running a mark assist
	Sweep                        // incremental sweeping
	PerProc                      // a function for each P; dedicated workers do not count
)

// A Step is the mutator's share of the Ps, 0 to 1, from a time on.
type Step struct {
	At    trace.Time
	Share float64
}

// Utilization gives the mutator utilization functions of a trace: one, or with
// PerProc one for each P. Each starts when GOMAXPROCS is first told, and ends
// with a step at the end of the trace that repeats the last value.
//
// A P is the collector's while a world stop lasts, from the label of a mark
// worker until that goroutine leaves the P or enters a system call, while a goroutine in a mark assist
// runs on it, and while it sweeps. The order is that of the reference, the times
// are [Raw].
func Utilization(data []byte, flags Flags) ([][]Step, error) {
	u := newUtilization(flags)
	err := Raw(data, func(ev *trace.Event, raw trace.Time) error {
		u.event(ev, raw)
		return nil
	})
	return u.functions(), err
}

type utilization struct {
	flags   Flags
	procs   int
	stopped int
	busy    map[trace.ProcID]map[cause]bool // why the collector has each P
	where   map[trace.GoID]trace.ProcID     // on which P each goroutine runs
	worker  map[trace.GoID]bool             // labelled, and still on its P
	assists map[trace.GoID]bool
	was     map[trace.ProcID]bool // the collector's at the event before
	changes []change
	last    trace.Time
}

// A change is that of one P, or of their number. As times of different threads need
// not follow the order of events, a P is the collector's while it came to it more
// often than it left it.
type change struct {
	at    trace.Time
	p     trace.ProcID
	by    int // 1 to the collector, -1 back
	procs int // from then on, 0 when it stays
}

// A cause is a goroutine at collector's work, or a sweep.
type cause struct {
	g     trace.GoID
	sweep bool
}

func newUtilization(flags Flags) *utilization {
	return &utilization{
		flags: flags, busy: make(map[trace.ProcID]map[cause]bool), where: make(map[trace.GoID]trace.ProcID),
		worker: make(map[trace.GoID]bool), assists: make(map[trace.GoID]bool), was: make(map[trace.ProcID]bool),
	}
}

func (u *utilization) event(ev *trace.Event, at trace.Time) {
	switch ev.Kind() {
	case trace.EventMetric:
		if m := ev.Metric(); m.Name == "/sched/gomaxprocs:threads" {
			u.procs = int(m.Value.Uint64())
			u.changes = append(u.changes, change{at: at, procs: u.procs})
		}
	case trace.EventLabel:
		u.label(ev)
	case trace.EventStateTransition:
		if st := ev.StateTransition(); st.Resource.Kind == trace.ResourceGoroutine {
			_, to := st.Goroutine()
			u.move(st.Resource.Goroutine(), to, ev.Proc())
		}
	case trace.EventRangeBegin, trace.EventRangeActive:
		u.work(ev, true)
	case trace.EventRangeEnd:
		u.work(ev, false)
	}
	u.last = max(u.last, at)
	u.compare(at)
}

func (u *utilization) set(p trace.ProcID, c cause, on bool) {
	if p == trace.NoProc {
		return
	}
	if u.busy[p] == nil {
		u.busy[p] = make(map[cause]bool)
	}
	if on {
		u.busy[p][c] = true
	} else {
		delete(u.busy[p], c)
	}
}

func (u *utilization) label(ev *trace.Event) {
	l := ev.Label().Label
	dedicated, fractional := l == "GC (dedicated)", l == "GC (fractional)"
	if u.flags&Background == 0 || !dedicated && !fractional || dedicated && u.flags&PerProc != 0 {
		return
	}
	u.worker[ev.Goroutine()] = true
	u.set(ev.Proc(), cause{g: ev.Goroutine()}, true)
}

// move follows g onto and off its P. In a system call it keeps the P: who
// takes it away is none of the collector's.
func (u *utilization) move(g trace.GoID, to trace.GoState, p trace.ProcID) {
	if to.Executing() {
		if to == trace.GoSyscall && u.worker[g] {
			u.set(u.where[g], cause{g: g}, u.assists[g])
			delete(u.worker, g)
		}
		if p == trace.NoProc {
			return
		}
		u.where[g] = p
		if u.assists[g] {
			u.set(p, cause{g: g}, true)
		}
		return
	}
	if p, ok := u.where[g]; ok {
		u.set(p, cause{g: g}, false)
	}
	delete(u.where, g)
	delete(u.worker, g)
}

func (u *utilization) work(ev *trace.Event, on bool) {
	r := ev.Range()
	switch {
	case r.Name == "GC mark assist" && u.flags&Assist != 0:
		g := r.Scope.Goroutine()
		if on {
			u.assists[g] = true
		} else {
			delete(u.assists, g)
		}
		if p, ok := u.where[g]; ok && !u.worker[g] {
			u.set(p, cause{g: g}, on)
		}
	case r.Name == "GC incremental sweep" && u.flags&Sweep != 0:
		u.set(r.Scope.Proc(), cause{sweep: true}, on)
	case strings.HasPrefix(r.Name, "stop-the-world (GC") && u.flags&STW != 0:
		if on {
			u.stopped++
		} else if u.stopped > 0 {
			u.stopped--
		}
	}
}

func (u *utilization) taken(p trace.ProcID) bool { return u.stopped > 0 || len(u.busy[p]) > 0 }

// compare notes which Ps are the collector's and were not, or the other way round.
func (u *utilization) compare(at trace.Time) {
	for i := range u.procs {
		switch p := trace.ProcID(i); {
		case u.taken(p) && !u.was[p]:
			u.changes = append(u.changes, change{at: at, p: p, by: 1})
		case !u.taken(p) && u.was[p]:
			u.changes = append(u.changes, change{at: at, p: p, by: -1})
		default:
			continue
		}
		u.was[trace.ProcID(i)] = !u.was[trace.ProcID(i)]
	}
}

// functions returns the mutator's shares: of all Ps, or of each.
func (u *utilization) functions() (out [][]Step) {
	slices.SortStableFunc(u.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	put := func(i int, at trace.Time, share float64) {
		for len(out) <= i {
			out = append(out, nil)
		}
		s := out[i]
		if n := len(s); n > 0 && s[n-1].At == at {
			s[n-1].Share = share // of several values at one time the last holds
		} else if n == 0 || s[n-1].Share != share {
			out[i] = append(s, Step{at, share})
		}
	}
	procs, depth := 0, map[trace.ProcID]int{}
	for _, c := range u.changes {
		if depth[c.p] += c.by; c.procs > 0 {
			procs = c.procs
		}
		free := 0
		for p := range procs {
			mutator := depth[trace.ProcID(p)] <= 0
			if mutator {
				free++
			}
			if u.flags&PerProc != 0 {
				put(p, c.at, map[bool]float64{true: 1}[mutator])
			}
		}
		if u.flags&PerProc == 0 && procs > 0 {
			put(0, c.at, float64(free)/float64(procs))
		}
	}
	for i, s := range out {
		out[i] = append(s, Step{u.last, s[len(s)-1].Share})
	}
	return out
}

// MMU returns the lowest mean of any of the functions over any window of the given
// length in nanoseconds that lies within it. A window longer than the function
// is cut to it.
func MMU(functions [][]Step, window int64) float64 {
	lowest := 1.0
	for _, s := range functions {
		lowest = min(lowest, mmu(s, window))
	}
	return lowest
}

// mmu tries each window that begins or ends at a step: between those the mean
// changes linearly, so no other can be the lowest.
func mmu(s []Step, window int64) float64 {
	if len(s) == 0 {
		return 1
	}
	first, last := int64(s[0].At), int64(s[len(s)-1].At)
	window = min(window, last-first)
	if window <= 0 {
		return 0
	}
	sums := make([]float64, len(s)) // of share times ns up to each step
	for i := 1; i < len(s); i++ {
		sums[i] = sums[i-1] + s[i-1].Share*float64(s[i].At-s[i-1].At)
	}
	upTo := func(t int64) float64 {
		i, _ := slices.BinarySearchFunc(s, t, func(x Step, t int64) int {
			if int64(x.At) <= t {
				return -1
			}
			return 1
		})
		return sums[i-1] + s[i-1].Share*float64(t-int64(s[i-1].At))
	}
	lowest := 1.0
	for _, x := range s {
		for _, from := range []int64{int64(x.At), int64(x.At) - window} {
			if from >= first && from+window <= last {
				lowest = min(lowest, (upTo(from+window)-upTo(from))/float64(window))
			}
		}
	}
	return lowest
}
