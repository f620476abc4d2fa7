package model

import "time"

// A GCLogAccount is what the lines of gctrace add up to, from the end of the first
// collection to that of the last: what the first cost came before.
type GCLogAccount struct {
	Over        time.Duration
	Collections int // after the first
	Forced      int // of all lines
	Procs       int // of the last line
	// Costs says that each line has its CPU; without it the four are 0.
	Costs               bool
	Assist, Background  time.Duration // CPU of marking by goroutines that allocate, and by the collector's workers
	Stop                time.Duration // CPU of the phases in which the world is stopped
	Idle                time.Duration // CPU of workers on Ps that nobody wanted
	Stopped             time.Duration // wall time of those phases
	LongestStop         time.Duration // the longest that one collection stopped the world
	First, Middle, Last GCLine        // the second is that of the middle of the time, or the next
	Most                uint64        // largest live heap
	LeastGoal, MostGoal uint64        // of lines that have one
}

// CPU returns what collecting took from the program: what Ps did that had nothing else to do
// is not in it.
func (a *GCLogAccount) CPU() time.Duration { return a.Assist + a.Background + a.Stop }

// Ps returns what the Ps could have done meanwhile.
func (a *GCLogAccount) Ps() time.Duration { return a.Over * time.Duration(a.Procs) }

// GCLogAccount adds up the lines of gctrace; nil where these are not of two moments.
func (m *Model) GCLogAccount() *GCLogAccount {
	n := len(m.GCLog)
	if n == 0 || m.GCLog[n-1].At <= m.GCLog[0].At {
		return nil
	}
	a := &GCLogAccount{First: m.GCLog[0], Last: m.GCLog[n-1], Collections: n - 1, Costs: true, Procs: m.Run.Procs}
	a.Over = a.Last.At - a.First.At
	if a.Last.Procs > 0 {
		a.Procs = a.Last.Procs
	}
	for i := range m.GCLog {
		l := &m.GCLog[i]
		a.Most = max(a.Most, l.Live)
		if l.Goal > 0 {
			a.MostGoal = max(a.MostGoal, l.Goal)
			if a.LeastGoal == 0 {
				a.LeastGoal = l.Goal
			}
			a.LeastGoal = min(a.LeastGoal, l.Goal)
		}
		if l.Forced {
			a.Forced++
		}
		if l.Elided {
			a.Costs = false
		}
		if a.Middle.Cycle == 0 && l.At-a.First.At >= a.Over/2 {
			a.Middle = *l
		}
		if i == 0 {
			continue
		}
		a.Assist += l.CPUAssist
		a.Background += l.CPUBackground
		a.Idle += l.CPUIdle
		a.Stop += l.CPUSweepTerm + l.CPUMarkTerm
		a.Stopped += l.SweepTerm + l.MarkTerm
		a.LongestStop = max(a.LongestStop, l.SweepTerm+l.MarkTerm)
	}
	if !a.Costs {
		a.Assist, a.Background, a.Idle, a.Stop, a.Stopped, a.LongestStop = 0, 0, 0, 0, 0, 0
	}
	return a
}

// A SchedLogAccount is what the lines of schedtrace add up to.
type SchedLogAccount struct {
	Lines int
	Over  time.Duration // from the first line to the last
	Procs int           // of the last line
	// Told is how many lines say how many Ps were idle, and Full in how many of these none was.
	Told, Full int
	// Queued are the goroutines that were ready and waited for a P, line by line.
	Queued Series
	// Uneven is in how many lines one P had eight goroutines or more in its queue and
	// another none, where not all Ps were busy, and Longest the longest queue of one P.
	Uneven, Longest int
	// Beside is in how many lines Ps were idle while eight goroutines or more were ready, and at
	// least as many as these Ps.
	Beside  int
	Threads Series // of lines that tell
}

// unevenQueue is how long one P's queue must be beside an empty one to be uneven: a P with
// an empty queue takes half of another's, which leaves single ones behind.
const unevenQueue = 8

// SchedLogAccount adds up the lines of schedtrace; nil without any.
func (m *Model) SchedLogAccount() *SchedLogAccount {
	n := len(m.SchedLog)
	if n == 0 {
		return nil
	}
	a := &SchedLogAccount{Lines: n, Procs: m.SchedLog[n-1].Procs, Over: m.SchedLog[n-1].At - m.SchedLog[0].At}
	for i := range m.SchedLog {
		l := &m.SchedLog[i]
		queued := l.Queued()
		a.Queued = append(a.Queued, Point{l.At, float64(queued)})
		if l.IdleProcs >= 0 {
			a.Told++
			if l.IdleProcs == 0 {
				a.Full++
			} else if queued >= max(l.IdleProcs, unevenQueue) {
				a.Beside++
			}
		}
		if l.Threads >= 0 {
			a.Threads = append(a.Threads, Point{l.At, float64(l.Threads)})
		}
		longest, empty := 0, false
		for _, q := range l.Local {
			longest, empty = max(longest, q), empty || q == 0
		}
		a.Longest = max(a.Longest, longest)
		if empty && longest >= unevenQueue && l.IdleProcs != 0 {
			a.Uneven++
		}
	}
	return a
}
