package timeline

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Who holds what goroutines wait for.
//
// A trace names no lock and no channel. It says who woke whom, and what the woken waited
// at: whoever ends a wait at some places has had until then what was waited for there, be
// it the lock that is given back or the turn to take from a channel. When the woken one is
// also the next that ends such a wait, it has had it since it was woken. Otherwise somebody
// was quicker, and all that is known is that it began after the hand-over before.

// A Hold is a stretch in which a goroutine had what others waited for. Where that is not sure
// it was handed to somebody else when it began, and this one was quicker.
type Hold struct {
	From      time.Duration `json:"from_ns"`
	To        time.Duration `json:"to_ns"`
	Goroutine int64         `json:"goroutine"`
	Group     string        `json:"group"`
	Sure      bool          `json:"sure"` // it began at From; else not before
}

// A Party is goroutines of a group that held something, or waited for it, at one place.
type Party struct {
	Group   string
	Stack   []Frame // where they gave it back, or waited
	Time    time.Duration
	Count   int64
	Longest Hold // of the hold, or of the wait
	stack   uint32
}

// Holds are who held what was waited for in a window, and who waited.
type Holds struct {
	List    []Hold  // in order of time; the longest, where there are too many
	Total   int     // all of them
	Holders []Party // largest first
	Waiters []Party // the same
	Partial string  // the window is too long: which pieces this is of
	Pending bool
}

// MaxHolds bounds the holds of one window, and maxParties who has them.
const (
	MaxHolds   = 1000
	maxParties = 8
)

// Holds tells who ended the waits at some places in a window, which of asks by their
// stacks.
func (t *Timeline) Holds(ctx context.Context, from, to time.Duration, of func([]Frame) bool) (Holds, error) {
	a, z := t.cut(from, to)
	chunks, partial := t.sample(t.chunksIn(a, z), a, z)
	ds, pending, err := t.details(ctx, chunks)
	if err != nil {
		return Holds{}, err
	}
	h := &holding{t: t, a: a, z: z, of: of, asked: map[uint32]bool{}, last: -1,
		holders: map[stackKey]*Party{}, waiters: map[stackKey]*Party{}}
	for _, d := range ds {
		if d.chunk.lo != h.end {
			h.last = -1 // what was between is not known
		}
		h.end = d.chunk.hi
		h.read(d)
	}
	h.out.Partial, h.out.Pending = partial, pending
	h.rows()
	return h.out, nil
}

// holding is Holds while it is made.
type holding struct {
	t                *Timeline
	a, z             int64
	of               func([]Frame) bool
	asked            map[uint32]bool // stacks, whether they are of it
	end              int64           // of the piece before
	last             int64           // when it changed hands; -1 when not known
	next             int64           // goroutine that was woken then
	holders, waiters map[stackKey]*Party
	out              Holds
}

// read follows what was waited for from hand to hand, from the piece's begin on: who has it
// when the window begins got it before.
func (h *holding) read(d *detail) {
	for i := range d.wakes {
		w := &d.wakes[i]
		if w.woken < 0 || h.last >= h.z {
			continue
		}
		wait, waited, _ := d.wakeLatency(w)
		if wait == nil || !h.is(wait.stack) {
			continue
		}
		at, e := d.time(w.at), h.t.edge(d, w)
		if w.waker >= 0 && h.last >= 0 {
			h.hold(Hold{time.Duration(h.last), time.Duration(at), e.Waker, e.WakerGroup, h.next == e.Waker}, d.lives[w.waker].group, w.stack)
		}
		if begin := at - waited; begin < h.z && at >= h.a {
			h.add(h.waiters, Hold{time.Duration(begin), time.Duration(at), e.Woken, e.WokenGroup, true}, d.lives[w.woken].group, wait.stack)
		}
		h.last, h.next = at, e.Woken
	}
}

// is reports whether a wait at a stack is one that is asked for.
func (h *holding) is(stack uint32) bool {
	yes, known := h.asked[stack]
	if !known {
		yes = h.of(h.t.stacks.resolve(stack))
		h.asked[stack] = yes
	}
	return yes
}

func (h *holding) hold(x Hold, group int32, stack uint32) {
	if int64(x.To) < h.a || int64(x.From) >= h.z {
		return
	}
	h.add(h.holders, x, group, stack)
	h.out.Total++
	if h.out.List = append(h.out.List, x); len(h.out.List) >= 4*MaxHolds {
		h.out.List = longestHolds(h.out.List)
	}
}

// add adds a hold or a wait to those of its place.
func (h *holding) add(to map[stackKey]*Party, x Hold, group int32, stack uint32) {
	k := stackKey{group: group, stack: stack}
	p := to[k]
	if p == nil {
		p = &Party{Group: x.Group, stack: stack}
		to[k] = p
	}
	p.Time += x.To - x.From
	p.Count++
	if x.To-x.From > p.Longest.To-p.Longest.From {
		p.Longest = x
	}
}

func longestHolds(list []Hold) []Hold {
	slices.SortStableFunc(list, func(x, y Hold) int { return cmp.Compare(y.To-y.From, x.To-x.From) })
	return list[:min(len(list), MaxHolds)]
}

// rows sorts and cuts the lists.
func (h *holding) rows() {
	h.out.List = longestHolds(h.out.List)
	slices.SortStableFunc(h.out.List, func(x, y Hold) int { return cmp.Compare(x.From, y.From) })
	h.out.Holders, h.out.Waiters = h.parties(h.holders), h.parties(h.waiters)
}

func (h *holding) parties(all map[stackKey]*Party) (list []Party) {
	for _, p := range all {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(x, y Party) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Group, y.Group), cmp.Compare(x.stack, y.stack))
	})
	list = list[:min(len(list), maxParties)]
	for i := range list {
		list[i].Stack = h.t.stacks.resolve(list[i].stack)
	}
	return list
}
