package whatif

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
)

// A trace does not name locks: it has the stack of whoever waits in Lock, and
// the stack of whoever wakes it in Unlock. Lines that take and release are
// therefore joined to locks by these wakes: what one line waits for, the line
// that wakes it holds. Locks in many objects behind the same lines become one;
// that they are several shows where one goroutine releases what another holds.
//
// How long a lock was held is seen only while others waited for it. Between
// two hand-overs with waiters left in between, it was held by somebody all the
// time, so that this is the holder's hold. Else it is known from its own wait
// for the lock, and if it had none, from the wait of the first waiter, which is
// half a hold when it comes at any moment.
type sites struct {
	ids  map[string]int32
	list []site
}

// A site is a line that takes or releases a lock; the fields from queue on are
// those of the whole lock at its root.
type site struct {
	name, file string
	shared     bool // readers share it
	parent     int32
	waits      int
	wait       time.Duration

	queue    int     // goroutines that wait
	queued   float64 // work clock when the queue began
	turned   float64 // when it was last handed over, -1 never
	turnedAt exectrace.Time
	left     bool  // others waited then
	woken    int32 // who got it then, perhaps
	by       int32 // who released it
	owned    int   // holds that began with a wait
	crossed  int   // of these, with a release by another goroutine in them
	holdSum  float64
	holds    int
	exactSum float64
	exact    int
}

const (
	// maxSites is what an op can name; real programs have some hundred.
	maxSites = 1 << 14
)

func newSites() sites { return sites{ids: map[string]int32{}} }

// lockFuncs are the methods behind which a lock is.
var lockFuncs = []string{"sync.(*Mutex).", "internal/sync.(*Mutex).", "sync.(*RWMutex).", "sync.(*rlocker).", "internal/poll.(*fdMutex)."}

// lookup returns the site of a stack that is in a lock's method, -1 if it is not.
func (s *sites) lookup(stack []exectrace.Frame) int32 {
	last := -1
	shared := false
	for i, f := range stack[:min(len(stack), 10)] {
		if slices.ContainsFunc(lockFuncs, func(p string) bool { return strings.HasPrefix(f.Func, p) }) {
			last = i
			shared = shared || strings.HasPrefix(f.Func, "sync.(*RWMutex)")
		}
	}
	if last < 0 {
		return -1
	}
	at := last + 1
	for at < len(stack)-1 && strings.HasPrefix(stack[at].Func, "internal/poll.") {
		at++
	}
	if at >= len(stack) {
		return -1
	}
	name := fmt.Sprintf("%s:%d", stack[at].Func, stack[at].Line)
	id, known := s.ids[name]
	if !known {
		if len(s.list) == maxSites {
			return -1
		}
		id = int32(len(s.list))
		s.ids[name] = id
		s.list = append(s.list, site{name: name, file: stack[at].File, parent: id, turned: -1, woken: -1, by: -1})
	}
	root := &s.list[s.find(id)]
	root.shared = root.shared || shared
	return id
}

func (s *sites) find(id int32) int32 {
	for s.list[id].parent != id {
		s.list[id].parent = s.list[s.list[id].parent].parent
		id = s.list[id].parent
	}
	return id
}

// join says that two lines are about one lock, and returns its root.
func (s *sites) join(a, b int32) int32 {
	a, b = s.find(a), s.find(b)
	if a == b {
		return a
	}
	x, y := &s.list[a], &s.list[b]
	y.parent = a
	x.shared = x.shared || y.shared
	if x.queue == 0 || y.queue > 0 && y.queued < x.queued {
		x.queued = y.queued
	}
	x.queue += y.queue
	if y.turned > x.turned {
		x.turned, x.turnedAt, x.left, x.woken, x.by = y.turned, y.turnedAt, y.left, y.woken, y.by
	}
	x.owned, x.crossed = x.owned+y.owned, x.crossed+y.crossed
	x.holdSum, x.holds = x.holdSum+y.holdSum, x.holds+y.holds
	x.exactSum, x.exact = x.exactSum+y.exactSum, x.exact+y.exact
	return a
}

// wait begins a wait.
func (s *sites) wait(id int32, v float64) {
	root := &s.list[s.find(id)]
	if root.queue == 0 {
		root.queued = v
	}
	root.queue++
}

// leave ends a wait.
func (s *sites) leave(id int32, waited time.Duration) {
	if id < 0 {
		return
	}
	s.list[id].waits++
	s.list[id].wait += waited
	s.list[s.find(id)].queue--
}

// countHold counts that a goroutine releases a lock that it took after a wait, and
// ran with from the given time on, for so much work.
func (s *sites) countHold(root, g int32, since exectrace.Time, worked float64) {
	const spinning = 20_000 // ns, a mutex may be taken so much later than the run begins
	r := &s.list[root]
	if mean := r.mean(); mean > 0 && worked > 1.5*mean {
		return // it has released and taken it in between
	}
	r.owned++
	if r.turnedAt > since+spinning && r.by != g {
		r.crossed++
	}
}

// holdTime returns for how much work a lock that g releases now was held; exact
// tells that nothing had to be guessed.
func (s *sites) holdTime(root, g int32, v float64) (d float64, exact bool) {
	r := &s.list[root]
	switch {
	case r.turned >= 0 && r.by == g:
		// It released the lock, did something else, and was back before the one
		// that it woke: how much was something else, other holds tell.
		d = v - r.turned
		if r.exact > 0 {
			d = min(d, r.exactSum/float64(r.exact))
		}
		return d, false
	case r.turned >= 0 && r.left:
		return v - r.turned, true
	}
	d = 2 * max(0, v-r.queued)
	if r.turned >= 0 {
		d = min(d, v-r.turned)
	}
	return d, false
}

// plausible reports whether a goroutine that waited for the lock and now
// releases it has held it all the time: it was the last to get it, and not for
// much longer than others.
func (s *sites) plausible(root, g int32, own float64) bool {
	r := &s.list[root]
	return r.woken == g && (r.exact < minHolds || own <= 4*r.exactSum/float64(r.exact))
}

func (s *sites) hold(root int32, d float64, exact bool) {
	r := &s.list[root]
	r.holdSum += d
	r.holds++
	if exact {
		r.exactSum += d
		r.exact++
	}
}

func (s *sites) released(root, by, woken int32, v float64, at exectrace.Time) {
	r := &s.list[root]
	r.turned, r.turnedAt, r.by, r.woken, r.left = v, at, by, woken, r.queue > 0
}

// minHolds is how many holds make a mean.
const minHolds = 8

// mean returns the mean hold of a lock: of those known exactly, if there are some.
func (r *site) mean() float64 {
	switch {
	case r.exact >= minHolds || r.holds == r.exact && r.exact > 0:
		return r.exactSum / float64(r.exact)
	case r.holds > 0:
		return r.holdSum / float64(r.holds)
	}
	return 0
}

// several is the share of crossed holds above which the lines take several
// locks. A single mutex has none but those that the order of events in
// different threads makes.
const several = 0.2

// locks makes the program's locks of the lines, and returns the lock of each line.
func (s *sites) locks(p *Program) []int16 {
	of := make([]int16, len(s.list))
	roots := map[int32]int16{}
	for i := range s.list {
		root := s.find(int32(i))
		l, ok := roots[root]
		if !ok {
			l = int16(len(p.Locks))
			roots[root] = l
			r := &s.list[root]
			p.Locks = append(p.Locks, Lock{Hold: time.Duration(r.mean()), Holds: r.holds})
			crossed := float64(r.crossed) / float64(max(1, r.owned))
			p.locks = append(p.locks, lockModel{traced: r.shared || crossed > several})
		}
		of[i] = l
		s.list[i].addTo(&p.Locks[l])
	}
	return of
}

// addTo adds a line to its lock. The one that waited most gives it its name.
func (t *site) addTo(l *Lock) {
	l.Sites = append(l.Sites, t.name)
	if n := len(l.Sites); n == 1 || t.wait > l.longest {
		l.Site, l.File, l.longest = t.name, t.file, t.wait
	}
	l.Waits += t.waits
	l.Wait += t.wait
}
