package record

import (
	"strconv"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A program that nobody can ask still has its goroutines in its memory, and what its
// runtime counts and samples: profiles of them and of the heap are read there at the
// beginning of a recording and at its end, and the counters all the time.

// A countedProgram is one that is read from outside; nil is none.
type countedProgram struct {
	r        *recorder
	read     func() (*goroutines.Snapshot, error) // nil when no profile is wanted
	done     func()
	at       int64 // of the first profile
	counters *counterLog
	gauge    func() (*goroutines.Gauge, error) // nil when nothing tells the counters
	heap     *goroutines.HeapReader
}

// count takes the first profile and begins to read the counters, each unless the
// program's endpoint gives it.
func (r *recorder) count(pid int, asked bool) *countedProgram {
	profiles := r.wants("goroutine") && (!asked || r.o.Goroutines != nil)
	metrics, heap := r.wants("metrics") && !asked, r.wants("heap") && !asked
	if pid == 0 || !profiles && !metrics && !heap {
		return nil
	}
	c := &countedProgram{r: r, done: func() {}}
	gauge, heaps := r.o.Gauge, r.o.Heap
	if from := r.o.Goroutines; from != nil {
		c.read = func() (*goroutines.Snapshot, error) { return from(), nil }
	} else {
		reader, err := goroutines.Open(pid)
		if err != nil {
			return nil // no Go program, or not ours: that there is no endpoint is said already
		}
		reader.Stacks = true
		c.read, c.done, gauge = reader.Read, reader.Close, reader.Gauge
		heaps = reader.HeapReader
		if p := reader.Counters().Procs; r.man.Procs == 0 && p > 0 {
			r.man.Procs = p
		}
	}
	c.gauge = gauge
	if metrics && gauge != nil {
		if g, err := gauge(); err == nil {
			c.counters = r.logCounters(g)
		}
	}
	if heap && heaps != nil {
		c.heap, _ = heaps() // a program that keeps no profile has none
		c.keepHeap(recording.HeapStartMember)
	}
	if !profiles {
		c.read = nil
	}
	c.at = c.keep(recording.GoroutineStartMember, 0)
	return c
}

// end takes the second profile.
func (c *countedProgram) end() {
	if c == nil {
		return
	}
	c.look()
	c.close()
}

// close lets go of the program.
func (c *countedProgram) close() {
	if c == nil {
		return
	}
	c.counters.end(c.r)
	if c.heap != nil {
		c.heap.Close()
	}
	c.done()
}

// look takes the profiles of the end.
func (c *countedProgram) look() {
	c.keep(recording.GoroutineEndMember, c.at)
	c.keepHeap(recording.HeapEndMember)
}

// keep writes a profile that is later than another, and tells its time.
func (c *countedProgram) keep(member string, than int64) int64 {
	if c.read == nil {
		return 0
	}
	s, err := c.read()
	if err != nil || s == nil || s.Time.UnixNano() <= than {
		return 0
	}
	watched := min(s.Watched, c.r.o.Duration) // before the recording, by who watches anyway
	if than > 0 {
		watched = time.Duration(s.Time.UnixNano() - than)
	}
	c.r.keep(member, goroutineProfile(s, watched), nil)
	return s.Time.UnixNano()
}

// memoryComment tells a profile that was read from outside from the runtime's.
const memoryComment = "gowhy goroutines read from memory; of a group of equal ones the stack is the oldest one's"

// goroutineProfile is a snapshot in the form of the runtime's goroutine profile,
// which leaves out the runtime's own goroutines too. watched is for how long they were
// looked at before: labels say how many of a group made no step in it.
func goroutineProfile(s *goroutines.Snapshot, watched time.Duration) *profile.Profile {
	kind := &profile.ValueType{Type: "goroutine", Unit: "count"}
	p := &profile.Profile{SampleType: []*profile.ValueType{kind}, PeriodType: kind, Period: 1, TimeNanos: s.Time.UnixNano(), Comments: []string{memoryComment}}
	if _, of := new(goroutines.Group).Still(watched); of > 0 {
		p.Comments = append(p.Comments, artifact.StillComment(of))
	}
	if s.Unread > 0 {
		p.Comments = append(p.Comments, artifact.UnlabelledComment(s.Unread))
	}
	w := stacks.NewWriter(p)
	for _, g := range s.Groups {
		if g.System {
			continue
		}
		stack := g.Stack
		if len(stack) == 0 { // it runs, or is of a small group
			stack = []symbols.Place{g.Start}
		}
		at := locationsOf(w, stack)
		if len(at) == 0 {
			continue
		}
		for _, part := range partsOf(&g) {
			p.Sample = append(p.Sample, &profile.Sample{Value: []int64{int64(part.Count)}, Location: at, Label: standingLabels(&part, watched)})
		}
	}
	return p
}

// partsOf returns a group for each of its sets of labels.
func partsOf(g *goroutines.Group) []goroutines.Group {
	if len(g.Parts) == 0 {
		return []goroutines.Group{*g}
	}
	list := make([]goroutines.Group, len(g.Parts))
	for i, p := range g.Parts {
		list[i] = *g
		list[i].Count, list[i].Oldest, list[i].Ages, list[i].Parts = p.Count, p.Oldest, p.Ages, g.Parts[i:i+1]
	}
	return list
}

// standingLabels say what a dump of the runtime prints of a goroutine beside its stack: the
// program's labels, the state, and for how many minutes it has waited, of the one that has
// waited longest; and of a group how many made no step while it was watched.
func standingLabels(g *goroutines.Group, watched time.Duration) map[string][]string {
	labels := map[string][]string{}
	for _, p := range g.Parts {
		for _, l := range p.Labels {
			labels[l.Key] = []string{l.Value}
		}
	}
	labels["state"] = []string{g.State.String()}
	if g.State == goroutines.Waiting && g.Reason != "" {
		labels["state"] = []string{g.Reason}
	}
	if n := int(g.Oldest / time.Minute); g.State == goroutines.Waiting && n > 0 {
		labels["minutes"] = []string{strconv.Itoa(n)}
	}
	if n, _ := g.Still(watched); n > 0 && (g.State == goroutines.Waiting || g.State == goroutines.Syscall) {
		labels[artifact.StillLabel] = []string{strconv.Itoa(n)}
	}
	return labels
}
