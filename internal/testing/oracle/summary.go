package oracle

import (
	"slices"
	"strings"

	"golang.org/x/exp/trace"
)

// openStats is since when a goroutine has been in its state. Several can be
// set: that is how a system call remembers the moment it lost its P.
type openStats struct {
	running, runnable, waiting, syscall, lostP trace.Time
	reason                                     string
	ranges                                     []openRange
	regions                                    []*openRegion
	closed                                     bool // no range is taken up any more
}

type openRange struct {
	name string
	from trace.Time
}

// An openRegion holds the goroutine's Stats at its begin until it ends.
type openRegion struct {
	*Region
	at Stats
}

// A summarizer follows the reference's state machine. Its faults are kept and
// marked as such.
type summarizer struct {
	gs    map[trace.GoID]*Goroutine
	tasks map[trace.TaskID]*Task

	// Who is in a system call with which P, both ways.
	onP map[trace.ProcID]trace.GoID
	ofG map[trace.GoID]trace.ProcID
	// Under which goroutine a P's range began.
	onRange map[procRange]trace.GoID

	start, last, sync trace.Time

	// The transition just made, for the profiler: g is nil if there was none.
	g  *Goroutine
	st trace.StateTransition
}

type procRange struct {
	p    trace.ProcID
	name string
}

func newSummarizer() *summarizer {
	return &summarizer{
		gs: make(map[trace.GoID]*Goroutine), tasks: make(map[trace.TaskID]*Task),
		onP: make(map[trace.ProcID]trace.GoID), ofG: make(map[trace.GoID]trace.ProcID),
		onRange: make(map[procRange]trace.GoID),
	}
}

func (s *summarizer) event(ev *trace.Event, at trace.Time) {
	if s.sync == 0 {
		s.start, s.sync = at, at
	}
	s.last, s.g = at, nil
	switch ev.Kind() {
	case trace.EventSync:
		s.sync = at
	case trace.EventStateTransition:
		s.st = ev.StateTransition()
		switch s.st.Resource.Kind {
		case trace.ResourceGoroutine:
			s.goroutine(ev, &s.st, at)
		case trace.ResourceProc:
			s.proc(&s.st, at)
		}
	case trace.EventRangeBegin, trace.EventRangeActive:
		s.rangeBegin(ev, at)
	case trace.EventRangeEnd:
		s.rangeEnd(ev, at)
	case trace.EventRegionBegin:
		s.regionBegin(ev, at)
	case trace.EventRegionEnd:
		s.regionEnd(ev, at)
	case trace.EventTaskBegin, trace.EventTaskEnd:
		s.taskEvent(ev, at)
	case trace.EventLog:
		task := s.task(ev.Log().Task)
		task.Goroutines[ev.Goroutine()] = true
		task.Logs++
	}
}

func (s *summarizer) goroutine(ev *trace.Event, st *trace.StateTransition, at trace.Time) {
	from, to := st.Goroutine()
	if from == to {
		return // a status that says what was known
	}
	id := st.Resource.Goroutine()
	g := s.gs[id]
	switch from {
	case trace.GoUndetermined:
		g = s.adoptGoroutine(ev, id, to, at)
	case trace.GoNotExist:
		g = s.created(ev, id, at)
	default:
		s.leave(g, from, at)
	}
	if g.Name == "" {
		for f := range st.Stack.Frames() {
			g.PC, g.Name = f.PC, f.Func // the last is the root
		}
	}
	s.enter(ev, st, g, to, at)
	s.g = g
}

// adoptGoroutine begins the account of a goroutine older than the trace, with the time
// since the last sync in the state it is found in.
func (s *summarizer) adoptGoroutine(ev *trace.Event, id trace.GoID, to trace.GoState, at trace.Time) *Goroutine {
	g := &Goroutine{ID: id, Created: s.sync}
	s.gs[id] = g
	d := at.Sub(s.sync)
	switch to {
	case trace.GoRunning:
		g.Running += d
	case trace.GoRunnable:
		g.Runnable += d
	case trace.GoWaiting:
		addPart(&g.Blocked, "", d) // a status has no reason
	case trace.GoSyscall:
		if ev.Proc() == trace.NoProc {
			g.SyscallBlocked += d
		} else {
			g.Syscall += d
		}
	}
	return g
}

func (s *summarizer) created(ev *trace.Event, id trace.GoID, at trace.Time) *Goroutine {
	g := &Goroutine{ID: id, Created: at}
	if by := s.gs[ev.Goroutine()]; by != nil && len(by.open.regions) > 0 {
		top := by.open.regions[len(by.open.regions)-1]
		g.open.regions = []*openRegion{{Region: &Region{Task: top.Task, Begin: at}}}
	}
	if old := s.gs[id]; old != nil {
		g.track, g.Earlier = old.track, old.Earlier+1
	}
	s.gs[id] = g // fault: an earlier life is gone
	return g
}

func (s *summarizer) leave(g *Goroutine, from trace.GoState, at trace.Time) {
	o := &g.open
	switch from {
	case trace.GoRunning:
		g.Running += at.Sub(o.running)
		o.running = 0
	case trace.GoWaiting:
		if o.waiting != 0 {
			addPart(&g.Blocked, o.reason, at.Sub(o.waiting))
			o.waiting = 0
		}
	case trace.GoRunnable:
		if o.runnable != 0 {
			g.Runnable += at.Sub(o.runnable)
			o.runnable = 0
		}
	case trace.GoSyscall:
		s.leaveSyscall(g, at)
	}
}

func (s *summarizer) leaveSyscall(g *Goroutine, at trace.Time) {
	o := &g.open
	if o.syscall == 0 {
		return
	}
	if o.lostP != 0 {
		g.SyscallBlocked += at.Sub(o.lostP)
		g.Syscall += o.lostP.Sub(o.syscall)
	} else {
		g.Syscall += at.Sub(o.syscall)
	}
	o.syscall, o.lostP = 0, 0
	delete(s.onP, s.ofG[g.ID]) // fault: by now the P may be in another's call
	delete(s.ofG, g.ID)
}

func (s *summarizer) enter(ev *trace.Event, st *trace.StateTransition, g *Goroutine, to trace.GoState, at trace.Time) {
	o := &g.open
	g.State = to
	switch to {
	case trace.GoRunning:
		o.running = at
		if g.First == 0 {
			g.First = at
		}
	case trace.GoRunnable:
		o.runnable = at
	case trace.GoWaiting:
		if st.Reason == "forever" {
			s.end(g, at)
			return
		}
		o.waiting, o.reason = at, st.Reason
	case trace.GoSyscall:
		o.syscall = at
		s.onP[ev.Proc()], s.ofG[g.ID] = g.ID, ev.Proc()
	case trace.GoNotExist:
		s.end(g, at)
	}
}

// proc notices that a system call lost its P.
func (s *summarizer) proc(st *trace.StateTransition, at trace.Time) {
	p := st.Resource.Proc()
	if from, to := st.Proc(); from == to || to != trace.ProcIdle {
		return
	}
	if id, ok := s.onP[p]; ok {
		s.gs[id].open.lostP = at
		delete(s.onP, p)
	}
}

// snapshot returns the Stats of g up to now, what is open included.
func (g *Goroutine) snapshot(now trace.Time) Stats {
	t, o := g.Stats, &g.open
	t.Blocked, t.Ranges = slices.Clone(t.Blocked), slices.Clone(t.Ranges)
	if t.Total == 0 && !o.closed {
		t.Total = now.Sub(g.Created)
	}
	if o.running != 0 {
		t.Running += now.Sub(o.running)
	}
	if o.runnable != 0 {
		t.Runnable += now.Sub(o.runnable)
	}
	if o.waiting != 0 {
		addPart(&t.Blocked, o.reason, now.Sub(o.waiting))
	}
	if o.syscall != 0 {
		t.Syscall += now.Sub(o.syscall)
	}
	if o.lostP != 0 {
		t.Runnable += now.Sub(o.lostP) // fault: it is blocked, and counted as on P above
	}
	for _, r := range o.ranges {
		addPart(&t.Ranges, r.name, now.Sub(r.from))
	}
	return t
}

// end closes the account of g, because it ended or blocked for good.
func (s *summarizer) end(g *Goroutine, at trace.Time) {
	g.Ended = at
	g.close(at, at)
}

// close sums up to now; regions still open get the given end.
func (g *Goroutine) close(now, end trace.Time) {
	g.Stats = g.snapshot(now)
	if !system(g.Name) {
		for _, r := range g.open.regions {
			r.End = end
			r.Stats = g.Stats.since(&r.at)
			g.Regions = append(g.Regions, r.Region)
		}
	}
	g.open = openStats{closed: true}
}

// system tells the runtime's own goroutines by their root function; a thread
// of C's without one counts.
func system(root string) bool {
	return root == "" || root != "runtime.main" && strings.HasPrefix(root, "runtime.")
}

func (s *summarizer) rangeBegin(ev *trace.Event, at trace.Time) {
	r := ev.Range()
	var g *Goroutine
	switch r.Scope.Kind {
	case trace.ResourceGoroutine:
		g = s.gs[r.Scope.Goroutine()]
	case trace.ResourceProc:
		if g = s.gs[ev.Goroutine()]; g != nil {
			s.onRange[procRange{r.Scope.Proc(), r.Name}] = ev.Goroutine()
		}
	}
	if g == nil || g.open.closed {
		return
	}
	i := g.openRange(r.Name)
	if i < 0 {
		i = len(g.open.ranges)
		g.open.ranges = append(g.open.ranges, openRange{name: r.Name})
	} else if ev.Kind() == trace.EventRangeActive {
		addPart(&g.Ranges, r.Name, s.sync.Sub(g.open.ranges[i].from))
	}
	if ev.Kind() == trace.EventRangeActive {
		at = s.sync
	}
	g.open.ranges[i].from = at // fault: one that was never ended is lost
}

func (s *summarizer) rangeEnd(ev *trace.Event, at trace.Time) {
	r := ev.Range()
	var g *Goroutine
	switch r.Scope.Kind {
	case trace.ResourceGoroutine:
		g = s.gs[r.Scope.Goroutine()]
	case trace.ResourceProc:
		key := procRange{r.Scope.Proc(), r.Name}
		if id, ok := s.onRange[key]; ok {
			if id == ev.Goroutine() {
				g = s.gs[id]
			} // fault: else the begin stays open with the other goroutine
			delete(s.onRange, key)
		}
	}
	if g == nil {
		return
	}
	if i := g.openRange(r.Name); i >= 0 {
		addPart(&g.Ranges, r.Name, at.Sub(g.open.ranges[i].from))
		g.open.ranges = slices.Delete(g.open.ranges, i, i+1)
	}
}

func (g *Goroutine) openRange(name string) int {
	return slices.IndexFunc(g.open.ranges, func(r openRange) bool { return r.name == name })
}

func (s *summarizer) regionBegin(ev *trace.Event, at trace.Time) {
	g, r := s.gs[ev.Goroutine()], ev.Region()
	region := &openRegion{Region: &Region{Task: r.Task, Name: r.Type, Begin: at}, at: g.snapshot(at)}
	g.open.regions = append(g.open.regions, region)
	task := s.task(r.Task)
	task.Regions = append(task.Regions, region.Region)
	task.Goroutines[g.ID] = true
}

func (s *summarizer) regionEnd(ev *trace.Event, at trace.Time) {
	g, r := s.gs[ev.Goroutine()], ev.Region()
	var region *openRegion
	if n := len(g.open.regions); n > 0 {
		region = g.open.regions[n-1]
		g.open.regions = g.open.regions[:n-1]
	} else {
		region = &openRegion{Region: &Region{Task: r.Task, Name: r.Type}}
		task := s.task(r.Task)
		task.Regions = append(task.Regions, region.Region)
		task.Goroutines[g.ID] = true
	}
	now := g.snapshot(at)
	region.End, region.Stats = at, now.since(&region.at)
	g.Regions = append(g.Regions, region.Region)
}

func (s *summarizer) task(id trace.TaskID) *Task {
	t := s.tasks[id]
	if t == nil {
		t = &Task{ID: id, Parent: trace.NoTask, Goroutines: make(map[trace.GoID]bool)}
		s.tasks[id] = t
	}
	return t
}

func (s *summarizer) taskEvent(ev *trace.Event, at trace.Time) {
	t := ev.Task()
	task := s.task(t.ID)
	task.Name = t.Type
	task.Goroutines[ev.Goroutine()] = true
	if ev.Kind() == trace.EventTaskBegin {
		task.Begin = at
	} else {
		task.End = at
	}
	if t.Parent != trace.NoTask && task.Parent == trace.NoTask {
		task.Parent = t.Parent
		parent := s.task(t.Parent)
		parent.Children = append(parent.Children, t.ID)
	}
}

func (s *summarizer) finish() *Report {
	for _, g := range s.gs {
		g.close(s.last, 0)
		slices.SortStableFunc(g.Regions, byBegin)
	}
	return &Report{Start: s.start, End: s.last, Goroutines: s.gs, Tasks: s.tasks}
}
