package timeline

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A Selection is what happened in a window.
type Selection struct {
	From, To time.Duration
	States   []StateTotal // exact, largest first
	Stacks   []StackTotal // where goroutines were, largest first
	Wakers   []Pair       // most frequent first
	Groups   []GroupTotal // largest first
	// Partial says how much of a long window stacks and wakers are of.
	Partial string
	// Pending is set while the window's edges, stacks and wakers are being read:
	// States are right to a bucket of the base then.
	Pending bool
}

// A StateTotal is time in one state; Reason and Count are there for
// short windows only.
type StateTotal struct {
	State  State
	Reason string
	Time   time.Duration
	Count  int64
}

// A StackTotal is time at one stack. Sampled is set where it is CPU samples.
type StackTotal struct {
	Group   string // start function, of [Timeline.Stacks]
	State   State
	Sampled bool
	Time    time.Duration
	Count   int64
	Stack   []Frame
	stack   uint32
}

// A Pair is how often goroutines of one group woke those of another.
type Pair struct {
	Waker, Woken string
	Count        int64
	Waited       time.Duration
	Stack        []Frame
	stack        uint32
}

// A GroupTotal is one group's part of a window.
type GroupTotal struct {
	Group   string        `json:"group"`
	Running time.Duration `json:"running_ns"`
	Ready   time.Duration `json:"ready_ns"`
	Waiting time.Duration `json:"waiting_ns"`
	Count   int64         `json:"count"` // goroutines
}

// maxRows bounds the lists of a selection.
const maxRows = 50

// Select adds up a window: all goroutines, or what lanes say.
func (t *Timeline) Select(ctx context.Context, from, to time.Duration, lanes []string) (Selection, error) {
	return t.sumUp(ctx, from, to, lanes, false)
}

// Stacks is Select of all goroutines with each stack that the window has, by start
// function.
func (t *Timeline) Stacks(ctx context.Context, from, to time.Duration) (Selection, error) {
	return t.sumUp(ctx, from, to, nil, true)
}

func (t *Timeline) sumUp(ctx context.Context, from, to time.Duration, lanes []string, all bool) (Selection, error) {
	pick, err := t.pick(lanes)
	if err != nil {
		return Selection{}, err
	}
	a, z := t.cut(from, to)
	s := &selecting{t: t, pick: pick, a: a, z: z, ctx: ctx, all: all}
	s.out = Selection{From: time.Duration(a), To: time.Duration(z)}
	chunks := t.chunksIn(a, z)
	some, partial := t.sample(chunks, a, z)
	s.out.Partial = partial
	s.exact = partial == ""
	var pending bool
	s.details, pending, err = t.details(ctx, some)
	if err == ErrNoSource {
		s.out.Partial = err.Error() + ": no stacks, and states to a bucket of the pyramid"
	} else if err != nil {
		return Selection{}, err
	}
	s.exact = s.exact && !pending && err == nil
	s.out.Pending = pending
	for _, d := range s.details {
		s.read(d)
	}
	if err := s.states(lanes); err != nil {
		return Selection{}, err
	}
	s.rows()
	return s.out, nil
}

// selecting is a selection while it is made.
type selecting struct {
	t       *Timeline
	ctx     context.Context
	pick    *picker
	a, z    int64
	details []*detail
	exact   bool // all of the window is in details
	all     bool // stacks, by start function
	out     Selection

	byReason map[reasonKey]*StateTotal
	byStack  map[stackKey]*StackTotal
	pairs    map[pairKey]*Pair
	groups   map[int32]*GroupTotal
}

type reasonKey struct {
	state  State
	reason uint8
}

type stackKey struct {
	group   int32 // -1 where stacks of all groups are added up
	state   State
	sampled bool
	stack   uint32
}

type pairKey struct {
	waker, woken int32 // groups
	stack        uint32
}

// read adds the spans, wakes and samples of a detail.
func (s *selecting) read(d *detail) {
	if s.byReason == nil {
		s.byReason, s.byStack = map[reasonKey]*StateTotal{}, map[stackKey]*StackTotal{}
		s.pairs, s.groups = map[pairKey]*Pair{}, map[int32]*GroupTotal{}
	}
	a, z := d.offset(s.a), d.offset(s.z)
	for life := range d.lives {
		own := window(d.of(int32(life)), a, z)
		if len(own) == 0 {
			continue
		}
		whole := s.pick.life(d, int32(life), s.t)
		if !whole && len(s.pick.lanes) == 0 {
			continue
		}
		counted := false
		for i := range own {
			if !whole && !s.pick.span(d, &own[i], s.t) {
				continue
			}
			s.span(d, &own[i], d.lives[life].group, !counted)
			counted = true
		}
	}
	s.wakes(d)
	for i := range d.samples {
		x := &d.samples[i]
		if x.at < a || x.at >= z || !s.pick.life(d, x.life, s.t) && !(x.lane >= 0 && s.pick.lanes[x.lane]) {
			continue
		}
		group := int32(-1)
		if x.life >= 0 {
			group = d.lives[x.life].group
		}
		r := s.stack(group, stackKey{state: Running, sampled: true, stack: x.stack})
		r.Time += samplePeriod
		r.Count++
	}
}

func (s *selecting) stack(group int32, k stackKey) *StackTotal {
	k.group = -1
	if s.all {
		k.group = group
	}
	r := s.byStack[k]
	if r == nil {
		r = &StackTotal{State: k.state, Sampled: k.sampled, stack: k.stack}
		if k.group >= 0 {
			r.Group = s.t.reg.groups[k.group].name
		}
		s.byStack[k] = r
	}
	return r
}

// span adds one span, as far as it is in the window.
func (s *selecting) span(d *detail, x *span, group int32, first bool) {
	begin := max(d.time(x.from), s.a)
	from, to := d.within(x.from, x.to)
	if from, to = max(from, s.a), min(to, s.z); from >= to {
		return
	}
	ns := time.Duration(to - from)
	rk := reasonKey{x.state, 0}
	if x.state.blocked() {
		rk.reason = x.reason
	}
	r := s.byReason[rk]
	if r == nil {
		r = &StateTotal{State: x.state, Reason: s.t.reasons.text(rk.reason)}
		s.byReason[rk] = r
	}
	n := int64(1)
	if begin < d.chunk.lo {
		n = 0 // it began in a part of the piece that counts it
	}
	r.Time += ns
	r.Count += n
	if x.stack != 0 && x.state != Running && x.state != GC {
		k := s.stack(group, stackKey{state: x.state, stack: x.stack})
		k.Time += ns
		k.Count += n
	}
	g := s.groups[group]
	if g == nil {
		g = &GroupTotal{}
		if group >= 0 {
			g.Group = s.t.reg.groups[group].name
		}
		s.groups[group] = g
	}
	g.add(x.state, ns)
	if first {
		g.Count++
	}
}

func (g *GroupTotal) add(st State, ns time.Duration) {
	switch st {
	case Running, GC:
		g.Running += ns
	case Runnable:
		g.Ready += ns
	default:
		g.Waiting += ns
	}
}

func (s *selecting) wakes(d *detail) {
	for i := d.firstWake(s.a); i < len(d.wakes) && d.time(d.wakes[i].at) < s.z; i++ {
		w := &d.wakes[i]
		if d.time(w.at) < s.a || w.woken < 0 || !s.pick.life(d, w.woken, s.t) && !s.pick.life(d, w.waker, s.t) {
			continue
		}
		k := pairKey{-1, d.lives[w.woken].group, w.stack}
		if w.waker >= 0 {
			k.waker = d.lives[w.waker].group
		}
		p := s.pairs[k]
		if p == nil {
			e := s.t.edge(d, w)
			p = &Pair{Waker: e.WakerGroup, Woken: e.WokenGroup, stack: w.stack}
			s.pairs[k] = p
		}
		_, waited, _ := d.wakeLatency(w)
		p.Count++
		p.Waited += time.Duration(waited)
	}
}

// states adds up the window by state: from spans when all of them are there,
// else from the pyramid, and its edges from spans.
func (s *selecting) states(lanes []string) error {
	if len(lanes) == 0 {
		lanes = []string{groupsOfUser, groupsOfSystem}
	}
	goroutines := true
	var sum [NumStates]float64
	for _, id := range lanes {
		r, _ := s.t.parse(id)
		goroutines = goroutines && (r.kind == "g" || r.kind == "go" || r.ofGroups())
		part, err := s.lane(&r)
		if err != nil {
			return err
		}
		for st, ns := range part {
			sum[st] += ns
		}
	}
	if s.exact && goroutines {
		for _, r := range s.byReason {
			s.out.States = append(s.out.States, *r)
		}
	} else {
		for st, ns := range sum {
			if ns >= 0.5 {
				s.out.States = append(s.out.States, StateTotal{State: State(st), Time: time.Duration(ns + 0.5)})
			}
		}
	}
	slices.SortFunc(s.out.States, func(x, y StateTotal) int {
		if c := compare(int64(y.Time), int64(x.Time)); c != 0 {
			return c
		}
		return compare(int(x.State), int(y.State))
	})
	return nil
}

// lane adds up one lane in the window.
func (s *selecting) lane(r *laneRef) (sum [NumStates]float64, err error) {
	if r.kind == "gc" || r.kind == "stw" || r.kind == "task" {
		var c cells
		v := s.view(s.a, s.z)
		v.sum(r, nil, &c)
		return c.total(), nil
	}
	w := s.t.pyramid.base().level
	first, last := (s.a+1<<w-1)>>w, s.z>>w
	if r.kind == "go" {
		return s.goroutine(r, first, last)
	}
	if first >= last {
		return s.part(r, s.a, s.z)
	}
	for _, l := range s.view(s.a, s.z).lanes(r) {
		add(&sum, s.t.pyramid.base().sum(int(l), first, last))
	}
	for _, edge := range [...][2]int64{{s.a, first << w}, {last << w, s.z}} {
		part, err := s.part(r, edge[0], edge[1])
		if err != nil {
			return sum, err
		}
		add(&sum, part)
	}
	return sum, nil
}

func add(sum *[NumStates]float64, part [NumStates]float64) {
	for st := range sum {
		sum[st] += part[st]
	}
}

// view returns a picture of one window in a few wide buckets.
func (s *selecting) view(a, z int64) *view {
	v := &view{t: s.t, from: a, to: z, items: map[itemKey]*item{}}
	for (z-a)>>v.level >= tileBuckets {
		v.level++
	}
	return v
}

func (c *cells) total() (sum [NumStates]float64) {
	for st := range c.time {
		for _, ns := range c.time[st] {
			sum[st] += ns
		}
		sum[st] = max(sum[st], 0)
	}
	return sum
}

// part adds up a lane in a window of a few buckets of the base, from spans; in
// proportion from the base while those are not there.
func (s *selecting) part(r *laneRef, a, z int64) (sum [NumStates]float64, err error) {
	if a >= z {
		return sum, nil
	}
	ds, pending, err := s.t.details(s.ctx, s.t.chunksIn(a, z))
	if err != nil && err != ErrNoSource {
		return sum, err
	}
	v := s.view(a, z)
	if err == nil && !pending {
		var c cells
		for _, l := range v.lanes(r) {
			for _, d := range ds {
				v.detailLane(d, l, &c)
			}
		}
		return c.total(), nil
	}
	s.out.Pending = s.out.Pending || pending
	base := s.t.pyramid.base()
	for b := a >> base.level; b <= (z-1)>>base.level; b++ {
		from, to := max(a, b<<base.level), min(z, (b+1)<<base.level)
		for _, l := range v.lanes(r) {
			for st, ns := range base.sum(int(l), b, b+1) {
				sum[st] += ns * float64(to-from) / float64(int64(1)<<base.level)
			}
		}
	}
	return sum, nil
}

// goroutine adds up one goroutine: from details when those of all the window
// are there, else from its lane over all of the trace.
func (s *selecting) goroutine(r *laneRef, first, last int64) (sum [NumStates]float64, err error) {
	if s.exact {
		var c cells
		v := s.view(s.a, s.z)
		for _, d := range s.details {
			for _, x := range d.goroutine(s.t, r.gor, s.a, s.z) {
				v.addSpan(&c, d, &x)
			}
		}
		return c.total(), nil
	}
	it := s.t.want(itemKey{kind: itemGo, n: r.gor})
	ok, err := wait(s.ctx, it)
	if err == ErrNoSource {
		return sum, nil
	}
	if err != nil || !ok {
		s.out.Pending = true
		return sum, err
	}
	return it.value.(*store).sum(0, first, last), nil
}

// rows sorts and cuts the lists.
func (s *selecting) rows() {
	for _, r := range s.byStack {
		s.out.Stacks = append(s.out.Stacks, *r)
	}
	slices.SortFunc(s.out.Stacks, func(x, y StackTotal) int {
		if c := compare(int64(y.Time), int64(x.Time)); c != 0 {
			return c
		}
		return cmp.Or(compare(x.stack, y.stack), cmp.Compare(x.Group, y.Group), cmp.Compare(x.State, y.State))
	})
	if !s.all {
		s.out.Stacks = s.out.Stacks[:min(len(s.out.Stacks), maxRows)]
	}
	for i := range s.out.Stacks {
		s.out.Stacks[i].Stack = s.t.stacks.resolve(s.out.Stacks[i].stack)
	}
	for _, p := range s.pairs {
		s.out.Wakers = append(s.out.Wakers, *p)
	}
	slices.SortFunc(s.out.Wakers, func(x, y Pair) int {
		if c := compare(y.Count, x.Count); c != 0 {
			return c
		}
		return compare(x.stack, y.stack)
	})
	s.out.Wakers = s.out.Wakers[:min(len(s.out.Wakers), maxRows)]
	for i := range s.out.Wakers {
		s.out.Wakers[i].Stack = s.t.stacks.resolve(s.out.Wakers[i].stack)
	}
	s.groupRows()
}

// groupRows lists the groups: from spans when those of all the window are
// there, else from the pyramid.
func (s *selecting) groupRows() {
	if s.exact {
		for _, g := range s.groups {
			s.out.Groups = append(s.out.Groups, *g)
		}
	} else {
		s.wideGroups()
	}
	slices.SortFunc(s.out.Groups, func(x, y GroupTotal) int {
		if c := compare(int64(y.Running+y.Ready), int64(x.Running+x.Ready)); c != 0 {
			return c
		}
		if x.Group < y.Group {
			return -1
		}
		return 1
	})
	s.out.Groups = s.out.Groups[:min(len(s.out.Groups), maxRows)]
}

func (s *selecting) wideGroups() {
	base := s.t.pyramid.base()
	for i := range s.t.reg.groups {
		if !s.pick.all && !s.pick.groups[int32(i)] {
			continue
		}
		g := GroupTotal{Group: s.t.reg.groups[i].name}
		for st, ns := range base.sum(int(s.t.reg.groups[i].lane), s.a>>base.level, (s.z-1)>>base.level+1) {
			g.add(State(st), time.Duration(ns))
		}
		if i < len(s.t.gors.counts) {
			g.Count = int64(s.t.gors.counts[i])
		}
		if g.Running+g.Ready+g.Waiting > 0 {
			s.out.Groups = append(s.out.Groups, g)
		}
	}
}

// Peak returns the window of about a width in which a group spent most time in a
// state; false when it spent none.
func (t *Timeline) Peak(group string, st State, width time.Duration) (from, to time.Duration, ok bool) {
	all, level := t.course(group, st)
	n := max(1, int(int64(width)>>level))
	best, at, sum := 0.0, 0, 0.0
	for i, v := range all {
		sum += v
		if i >= n {
			sum -= all[i-n]
		}
		if sum > best {
			best, at = sum, i
		}
	}
	if best <= 0 {
		return 0, 0, false
	}
	end := int64(at+1) << level
	a := max(0, end-int64(n)<<level)
	return time.Duration(a), time.Duration(min(max(end, a+int64(width)), t.length)), true
}

// Stretches returns where a group was in a state at least half as much as when it was most in
// it, as no more than a number of stretches: those nearest to each other become one.
func (t *Timeline) Stretches(group string, st State, most int) []Gap {
	all, level := t.course(group, st)
	if len(all) == 0 || slices.Max(all) <= 0 {
		return nil
	}
	half := slices.Max(all) / 2
	var list []Gap
	for i, v := range all {
		if v < half {
			continue
		}
		from, to := time.Duration(int64(i)<<level), time.Duration(min(int64(i+1)<<level, t.length))
		if n := len(list); n > 0 && list[n-1].To == from {
			list[n-1].To = to
		} else {
			list = append(list, Gap{From: from, To: to})
		}
	}
	for apart := time.Duration(1) << level; len(list) > most; apart *= 2 {
		list = joined(list, apart)
	}
	return list
}

// joined makes stretches one that are no further apart than so long.
func joined(list []Gap, apart time.Duration) []Gap {
	out := list[:1]
	for _, g := range list[1:] {
		if last := &out[len(out)-1]; g.From-last.To <= apart {
			last.To = g.To
		} else {
			out = append(out, g)
		}
	}
	return out
}

// course returns how much time a group spent in a state in each bucket of the pyramid's base,
// and these buckets' level; nothing for a group that has no lane.
func (t *Timeline) course(group string, st State) (all []float64, level uint) {
	base := t.pyramid.base()
	g, known := t.reg.byName[group]
	if !known || st >= NumStates || int(t.reg.groups[g].lane) >= len(base.lanes) {
		return nil, base.level
	}
	for i, p := range base.lanes[t.reg.groups[g].lane].pages[st] {
		for len(all) < (i+1)<<tileShift {
			all = append(all, 0)
		}
		if p != nil {
			for k, v := range p {
				all[i<<tileShift+k] = float64(v)
			}
		}
	}
	return all, base.level
}
