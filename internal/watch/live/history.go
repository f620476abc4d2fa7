package live

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gowhy/gowhy/internal/ground/beat"
)

// A History watches and remembers: what programs did in the last 15 minutes, for
// whoever comes to look at it later. It is a Watch whose frames are kept.
type History struct {
	*Watch

	mu      sync.Mutex
	number  int64 // of the last frame
	frame   *Frame
	moments []moment // of the frames whose points are kept
	courses map[int]*course
	changed chan struct{} // closed at the next frame
}

// A moment is that of a frame.
type moment struct {
	number int64
	at     time.Time
}

// A course is how one program went.
type course struct {
	pid    int // now
	points []Point
	ended  bool
	last   Process // as it was seen last
	at     time.Time
	// groups are numbered in the order in which they came; names changes when they are
	// numbered anew.
	groups []GroupName
	index  map[GroupName]int
	names  int
}

// A GroupName is what tells one group of goroutines from others in a picture: that they
// began at one function and are in one state.
type GroupName struct {
	Function string `json:"function"`
	State    string `json:"state"` // running, runnable, syscall, waiting, …
	Reason   string `json:"reason"`
}

// A Point is what a program did at one moment. What is not known is negative.
type Point struct {
	Number      int64         `json:"-"` // of the frame
	AtMS        int64         `json:"at_ms"`
	PID         int           `json:"pid"` // another one after a restart
	User        float64       `json:"user"`
	System      float64       `json:"system"`
	Waiting     float64       `json:"waiting"`   // threads that could run and had no CPU
	Wait        time.Duration `json:"wait_ns"`   // how long a thread had none, each time
	Throttled   float64       `json:"throttled"` // share of the time in which its quota was used up
	Procs       int           `json:"procs"`     // GOMAXPROCS
	BusyProcs   int           `json:"busy_procs"`
	Threads     int           `json:"threads"`
	Running     int           `json:"running"` // goroutines
	Runnable    int           `json:"runnable"`
	Syscall     int           `json:"syscall"`
	Blocked     int           `json:"blocked"`
	HeapLive    int64         `json:"heap_live"`
	HeapGoal    int64         `json:"heap_goal"`
	RSS         int64         `json:"rss"`
	PSS         int64         `json:"pss"`  // pages that several processes use are divided among these; of a program that is attended
	Swap        int64         `json:"swap"` // swapped out, divided in the same way
	GCs         float64       `json:"gcs"`
	GCShare     float64       `json:"gc_share"` // of the CPU time there was
	Voluntary   float64       `json:"voluntary"`
	Involuntary float64       `json:"involuntary"`
	// Groups are the largest groups of goroutines: a number, then how many, and so
	// on. Those that are not among them are the rest of all goroutines.
	Groups []int `json:"groups"`

	// until is the last frame of those in a row of which this is the point: a program that
	// rests has one for all of them.
	until moment
}

// What a history may take: a point has some 500 bytes with its groups, so that all
// of it is less than 50 MB. Of many programs fewer points are kept.
const (
	pointGroups = 20
	maxPoints   = 80_000
	maxNames    = 400
	usualEvery  = time.Second
)

// Remember keeps what a watch sees from now on.
func Remember(w *Watch) *History {
	return &History{Watch: w, courses: map[int]*course{}, changed: make(chan struct{})}
}

// Refresh reads everything anew and keeps it.
func (h *History) Refresh() (*Frame, error) {
	f, err := h.Watch.Refresh()
	if err == nil {
		h.Add(f)
	}
	return f, err
}

// Run refreshes until ctx ends, as often as the budget allows.
func (h *History) Run(ctx context.Context) error {
	for wait := h.Watch.o.Every; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		f, err := h.Refresh()
		if err != nil {
			return err
		}
		wait = beat.UntilNext(max(h.Watch.o.Every, f.Cost.Every))
	}
}

// Add keeps a frame. Refresh does so; it is for who has frames from elsewhere.
func (h *History) Add(f *Frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.number++
	h.frame = f
	h.moments = append(h.moments, moment{h.number, f.Time})
	for _, c := range h.courses {
		c.ended = true
	}
	programs := 0
	for i := range f.Processes {
		if f.Processes[i].IsGo() {
			programs++
		}
	}
	// Of more programs each nth frame is kept.
	nth := int64(1 + programs*int(keptTime/usualEvery)/maxPoints)
	for i := range f.Processes {
		if p := &f.Processes[i]; p.IsGo() {
			h.course(p).add(p, f.Time, h.number, nth)
		}
	}
	old, _ := slices.BinarySearchFunc(h.moments, f.Time.Add(-keptTime), func(m moment, t time.Time) int { return m.at.Compare(t) })
	h.moments = slices.Delete(h.moments, 0, old)
	for pid, c := range h.courses {
		if c.forget(f.Time.Add(-keptTime)); c.ended && len(c.points) == 0 {
			delete(h.courses, pid)
		}
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// course returns that of a process, or of the one whose place it took.
func (h *History) course(p *Process) *course {
	c := h.courses[p.PID]
	if c != nil && !c.ended {
		return c
	}
	if was := h.courses[p.Was]; p.Was != 0 && was != nil && was.ended {
		delete(h.courses, p.Was)
		was.pid = p.PID
		h.courses[p.PID] = was
		return was
	}
	if c == nil {
		c = &course{pid: p.PID, index: map[GroupName]int{}}
		h.courses[p.PID] = c
	}
	return c
}

func (c *course) add(p *Process, at time.Time, number, nth int64) {
	first := c.at.IsZero() || c.last.PID != p.PID
	rests := p.still && c.last.still && !first
	c.ended, c.last, c.at = false, *p, at
	if n := len(c.points); rests && n > 0 && c.points[n-1].until.number == number-1 {
		c.points[n-1].until = moment{number, at}
		return
	}
	if first || number%nth != 0 { // what is counted is known between two looks
		return
	}
	x := pointOf(p)
	x.Number, x.AtMS, x.until = number, at.UnixMilli(), moment{number, at}
	if g := p.Goroutines; g != nil && g.Why == "" {
		x.Groups = c.counts(g.Groups)
	}
	c.points = append(c.points, x)
}

// pointOf returns a point without its groups.
func pointOf(p *Process) Point {
	x := Point{PID: p.PID, User: p.CPU.User, System: p.CPU.System, Threads: p.Threads, RSS: int64(p.RSS), Waiting: -1, Throttled: -1, Procs: -1, BusyProcs: -1,
		Running: -1, Runnable: -1, Syscall: -1, Blocked: -1, HeapLive: -1, HeapGoal: -1, GCs: -1, GCShare: -1, Voluntary: -1, Involuntary: -1, Wait: -1, PSS: -1, Swap: -1}
	if c := p.Counters; c != nil {
		x.Waiting, x.Wait, x.Voluntary, x.Involuntary = c.Waiting, c.Wait, c.Voluntary, c.Involuntary
		if c.Quota > 0 {
			x.Throttled = c.Throttled
		}
	}
	if m := p.Memory; m != nil && m.Why == "" {
		x.PSS, x.Swap = int64(m.PSS), int64(m.Swap)
	}
	if r := p.Runtime; r != nil {
		x.Procs, x.BusyProcs, x.HeapLive, x.GCs, x.GCShare = r.Procs, r.BusyProcs, r.HeapLive, r.GCs, r.GCShare
		if r.HeapGoal > 0 {
			x.HeapGoal = r.HeapGoal
		}
	}
	if g := p.Goroutines; g != nil && g.Why == "" {
		x.Running, x.Runnable, x.Syscall, x.Blocked = g.Running, g.Runnable, g.Syscall, g.Waiting
	}
	return x
}

// counts returns the numbers of the largest groups, each with how many goroutines it has;
// those that differ only in who began them are one.
func (c *course) counts(groups []Group) (list []int) {
	sums := map[GroupName]int{}
	for _, g := range groups {
		sums[GroupName{g.Function, g.State, g.Reason}] += g.Count
	}
	names := make([]GroupName, 0, len(sums))
	for n := range sums {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b GroupName) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a.Function, b.Function), cmp.Compare(a.State, b.State), cmp.Compare(a.Reason, b.Reason))
	})
	if len(c.groups)+pointGroups > maxNames {
		c.renumber()
	}
	for _, n := range names[:min(len(names), pointGroups)] {
		list = append(list, c.numberOf(n), sums[n])
	}
	return list
}

func (c *course) numberOf(n GroupName) int {
	i, ok := c.index[n]
	if ok {
		return i
	}
	i = len(c.groups)
	c.groups = append(c.groups, n)
	c.index[n] = i
	return i
}

// renumber lets go of names that no point has any more, or, where points have too
// many, of those of the older half.
func (c *course) renumber() {
	old := c.groups
	c.groups, c.index = nil, map[GroupName]int{}
	c.names++
	for i := len(c.points) - 1; i >= 0; i-- {
		x := &c.points[i]
		if len(c.groups) > maxNames/2 {
			x.Groups = nil
			continue
		}
		x.Groups = slices.Clone(x.Groups) // whoever was given the point has the old numbers
		for k := 0; k < len(x.Groups); k += 2 {
			x.Groups[k] = c.numberOf(old[x.Groups[k]])
		}
	}
}

// forget lets go of points that are older.
func (c *course) forget(than time.Time) {
	n := 0
	for n < len(c.points) && c.points[n].until.at.Before(than) {
		n++
	}
	c.points = slices.Delete(c.points, 0, n)
}

// News is what somebody who looks at one program does not know yet.
type News struct {
	Frame   *Frame
	Process *Process // as it was seen last; nil when there is no such program
	Ended   bool
	Points  []Point
	// Groups are the names of the groups of points, from number GroupsFrom on.
	Groups     []GroupName
	GroupsFrom int
	// Whole is set when all earlier news is to be forgotten.
	Whole bool
	// Seen is what to ask with the next time.
	Seen Cursor
}

// Cursor is how far somebody knows what happened. The zero value is nothing.
type Cursor struct {
	PID    int
	Number int64 // of a frame
	Names  int   // as often names were numbered anew
	Groups int   // how many names
}

// News tells what is new of a program: 0 is the first of those that are watched,
// by what they use. next is closed when there is more.
func (h *History) News(pid int, since Cursor) (n News, next <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n.Frame, next = h.frame, h.changed
	c := h.find(pid)
	n.Seen.Number = h.number
	if c == nil {
		n.Whole = since.PID != 0 || since.Number == 0
		return n, next
	}
	last := c.last
	n.Process, n.Ended = &last, c.ended
	n.Seen.PID, n.Seen.Names, n.Seen.Groups = c.pid, c.names, len(c.groups)
	n.Whole = since.Number == 0 || since.Number > h.number || since.Names != c.names || since.PID != c.pid && last.Was != since.PID
	if n.Whole {
		since = Cursor{}
	}
	n.Points = h.points(c, since.Number+1)
	n.GroupsFrom = min(since.Groups, len(c.groups))
	n.Groups = slices.Clone(c.groups[n.GroupsFrom:])
	return n, next
}

// points returns a program's, from a frame on, one for each frame.
func (h *History) points(c *course, from int64) (list []Point) {
	at, _ := slices.BinarySearchFunc(c.points, from, func(x Point, number int64) int { return cmp.Compare(x.until.number, number) })
	for _, x := range c.points[at:] {
		k, _ := slices.BinarySearchFunc(h.moments, max(from, x.Number), func(m moment, number int64) int { return cmp.Compare(m.number, number) })
		for ; k < len(h.moments) && h.moments[k].number <= x.until.number; k++ {
			x.Number, x.AtMS = h.moments[k].number, h.moments[k].at.UnixMilli()
			list = append(list, x)
		}
	}
	return list
}

func (h *History) find(pid int) *course {
	if pid != 0 {
		if c := h.courses[pid]; c != nil {
			return c
		}
		for _, c := range h.courses { // it was restarted
			if slices.ContainsFunc(c.points, func(x Point) bool { return x.PID == pid }) {
				return c
			}
		}
		return nil
	}
	var best *course
	for _, c := range h.courses {
		if best == nil || cmp.Or(compareBool(best.ended, c.ended), cmp.Compare(c.last.CPU.Cores(), best.last.CPU.Cores()), cmp.Compare(best.pid, c.pid)) > 0 {
			best = c
		}
	}
	return best
}

// Program returns a process as it was seen last; nil when there is none of that number.
func (h *History) Program(pid int) *Process {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.find(pid)
	if c == nil {
		return nil
	}
	last := c.last
	return &last
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
