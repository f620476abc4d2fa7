package goroutines

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// Who adds up looks to know where time goes wants each goroutine where it is, and not the oldest
// of a group in place of all. Two things make that cheap, and two keep it fair:
//
// Who made no step since the last look stands where it stood: most goroutines of most programs
// wait for long, and only those that moved are read. Their stacks are remembered.
//
// A goroutine that moves while it is looked at has another state by the time its stack is read.
// It counts in the state of that time, so also those that ran before are looked at again: short
// waits would be missed otherwise, and short runs be counted twice. Of more goroutines than a
// look may read, those that are read are chosen by chance, and stand for the others that moved.

const (
	// sampledEach is how many goroutines of one group are told apart, and sampledStacks how many
	// stacks of all are read in one look: a stack takes a system call and about 5 µs.
	sampledEach, sampledStacks = 256, 512
	// sampledTries is how often a goroutine that moves is read again.
	sampledTries = 3
	// maxWalks bounds how many stacks are remembered, to 40 MB if all are deep and none is
	// like another. Beyond it all are forgotten.
	maxWalks = 1 << 14
)

// Sample reads all goroutines as [Reader.Read] does, for who adds up many looks: each goroutine
// of the program is in a group with its own stack, as far as that can be read, and with the
// state that it had then. How long they have been so is not told.
func (r *Reader) Sample() (*Snapshot, error) {
	of, stacks := r.bounds, r.Stacks
	r.bounds, r.Stacks, r.sampling = bounds{few: sampledEach}, true, true
	defer func() { r.bounds, r.Stacks, r.sampling = of, stacks, false }()
	unsure := r.layout.at[gTrackingSeq] == missing // who ran since the last look
	if r.walks == nil || len(r.walks) > maxWalks || unsure {
		r.walks = map[int32]walk{}
	}
	return r.Read()
}

// A walk is the stack of a goroutine that has not moved since.
type walk struct {
	registers
	stack []symbols.Place
}

// choose keeps a goroutine of a group beside those that are there already, each of all with the
// same chance once there are too many.
func (t *tally) choose(one aged, few int) {
	if len(t.each) < few {
		t.each = append(t.each, one)
	} else if n := rand.IntN(t.count); n < few {
		t.each[n] = one
	}
}

// A place is the goroutines of a group that stand at one place.
type place struct {
	group        Group
	tally        tally // for their labels
	still, moved int
}

// A crowd is the goroutines of a group while they are told apart.
type crowd struct {
	r    *Reader
	of   Group
	list []place
}

// sampled returns the groups of those of one by where they stand. quota is how many of those that
// moved may be read.
func (r *Reader) sampled(g *Group, t *tally, quota int, labels *labelling, now int64) []Group {
	c := crowd{r: r, of: *g}
	moved, read := 0, 0
	from := rand.IntN(len(t.each))
	for n := range t.each {
		one := &t.each[(from+n)%len(t.each)]
		if w, ok := r.walks[one.index]; ok && w.registers == one.registers && g.State != Running {
			c.add(one, g.State, g.Reason, w.stack).still++
			continue
		}
		if moved++; read < quota {
			if stack, state, reason, ok := r.stand(one.registers, t.key.state); ok {
				read++
				c.add(one, state, reason, stack).moved++
			}
		}
	}
	if moved > 0 && read == 0 { // they have ended, or cannot be read
		c.add(&t.each[0], g.State, g.Reason, nil).moved++
		read = 1
	}
	return c.groups(t.count, float64(moved)/float64(max(1, read)), labels, now)
}

// add counts a goroutine with those that stand where it does.
func (c *crowd) add(one *aged, state State, reason string, stack []symbols.Place) *place {
	at := slices.IndexFunc(c.list, func(s place) bool {
		return s.group.State == state && s.group.Reason == reason && sameStack(s.group.Stack, stack)
	})
	if at < 0 {
		at = len(c.list)
		g := c.of
		g.State, g.Reason, g.Stack, g.Oldest, g.Ages, g.Parts = state, reason, stack, 0, Ages{}, nil
		c.list = append(c.list, place{group: g})
	}
	s := &c.list[at]
	if w, ok := c.r.walks[one.index]; ok && len(w.stack) > 0 && sameStack(w.stack, stack) {
		w.stack = s.group.Stack // one for all that stand there
		c.r.walks[one.index] = w
	}
	s.tally.add(&labelTally{at: one.labels, count: 1})
	return s
}

// sameStack compares stacks, which mostly are the same memory.
func sameStack(a, b []symbols.Place) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// groups returns those of a crowd, with count goroutines in all. Each that moved and was read
// stands for a number of those that moved: each.
func (c *crowd) groups(count int, each float64, labels *labelling, now int64) []Group {
	weights := make([]float64, len(c.list))
	for i, s := range c.list {
		weights[i] = float64(s.still) + float64(s.moved)*each
	}
	var list []Group
	for i, n := range spread(count, weights) {
		if n == 0 {
			continue
		}
		s := &c.list[i]
		s.group.Count = n
		s.group.Parts, _ = s.tally.parts(labels, now)
		for i, n := range spread(n, counts(s.group.Parts)) {
			s.group.Parts[i].Count, s.group.Parts[i].Oldest = n, 0
		}
		list = append(list, s.group)
	}
	return list
}

func counts(parts []Part) []float64 {
	list := make([]float64, len(parts))
	for i, p := range parts {
		list[i] = float64(p.Count)
	}
	return list
}

// spread divides a number of goroutines by weights, as evenly as whole ones can be: who is due
// the largest part of one has it first.
func spread(n int, weights []float64) []int {
	var total float64
	for _, w := range weights {
		total += w
	}
	list, order := make([]int, len(weights)), make([]int, len(weights))
	rest := make([]float64, len(weights))
	left := n
	for i, w := range weights {
		due := float64(n) * w / total
		list[i], order[i] = int(due), i
		rest[i] = due - float64(list[i])
		left -= list[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for _, i := range order[:min(max(0, left), len(order))] {
		list[i]++
	}
	return list
}

// stand reads where a goroutine is now, which was in a state with these registers. ok is false
// when it has ended.
func (r *Reader) stand(at registers, state State) (stack []symbols.Place, is State, reason string, ok bool) {
	index, id := at.index, at.id
	for range sampledTries {
		b, g, read := r.readStack(at, state)
		if !read { // its stack is elsewhere by now
			at.sp = 0
			continue
		}
		now, why, known := r.status(g)
		fresh := r.registers(index, g, now)
		if !known || now == finished || fresh.id != id {
			return nil, 0, "", false
		}
		is, reason = now, r.reason(now, why)
		if is.String() == "running" {
			return nil, is, reason, true
		}
		if fresh == at && now == state {
			stack = r.walk(at, b)
			r.walks[index] = walk{at, stack}
			return stack, is, reason, true
		}
		at, state = fresh, now
	}
	return nil, is, reason, is != finished // it moves faster than it can be read
}

// quota returns how many stacks of a group may be read in one look: its part of sampledStacks.
func (r *Reader) quota(t *tally, all int) int {
	if all <= sampledStacks {
		return t.count
	}
	return (sampledStacks*t.count + all - 1) / all
}

// programs counts the goroutines that are not the runtime's own.
func (r *Reader) programs() (n int) {
	for i := range r.tally {
		if f := r.function(r.tally[i].key.start); f == nil || !f.system {
			n += r.tally[i].count
		}
	}
	return n
}
