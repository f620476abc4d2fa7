package goroutines

import (
	"slices"
	"testing"
)

// A counting memory counts how often a stack is read, and lets something happen before.
type counting struct {
	fake
	stacks *int
	before func()
}

func (c counting) gather(b []byte, spans []span) (int, error) {
	if spans[0].at >= stacksAt {
		*c.stacks++
		c.before()
	}
	return c.fake.gather(b, spans)
}

// sampledFrom returns what a look at all goroutines brings, and how many stacks it read.
func sampledFrom(t *testing.T, m fake, r *Reader, before func()) (s *Snapshot, stacks int) {
	t.Helper()
	r.memory = counting{m, &stacks, before}
	s, err := r.Sample()
	if err != nil {
		t.Fatal(err)
	}
	return s, stacks
}

// TestSample holds that all are there in each look, and only the stacks of those that moved are read.
func TestSample(t *testing.T) {
	l, none := layouts["go1.26 amd64"], func() {}
	for _, c := range []struct {
		name          string
		all, moved    int
		first, second int // stacks that are read
	}{
		{"few", 20, 3, 20, 3},
		{"as many as are told apart", sampledEach, sampledEach, sampledEach, sampledEach},
		{"many", 1000, 0, sampledEach, -1}, // others than before, by chance
		{"none", 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, r := goroutinesOf(max(1, c.all))
			if c.all == 0 {
				m[structuresAt][l.at[gStatus]] = dead
			}
			s, stacks := sampledFrom(t, m, r, none)
			if s.Count != c.all || stacks != c.first || c.all > 0 && (len(s.Groups) != 1 || s.Groups[0].Count != c.all || len(s.Groups[0].Stack) != 3) {
				t.Errorf("Sample() = %d goroutines, %+v with %d stacks read; want %d and %d", s.Count, s.Groups, stacks, c.all, c.first)
			}
			for i := range c.moved {
				m[structuresAt][structureSize*i+int(l.at[gTrackingSeq])]++
			}
			if s, stacks = sampledFrom(t, m, r, none); s.Count != c.all || c.second >= 0 && stacks != c.second {
				t.Errorf("Sample() once more = %d goroutines, %d stacks read; want %d and %d", s.Count, stacks, c.all, c.second)
			}
		})
	}
}

// TestSampleMoves has a goroutine that does something else by the time its stack is read.
func TestSampleMoves(t *testing.T) {
	l := layouts["go1.26 amd64"]
	for _, c := range []struct {
		name   string
		change func(g []byte)
		state  State
		reason string
		frames int
	}{
		{"nothing", func([]byte) {}, Waiting, "IO wait", 3},
		{"it waits for something else", func(g []byte) { g[l.at[gWaitReason]] = 9; g[l.at[gTrackingSeq]]++ }, Waiting, l.reasons[9], 3},
		{"it is made ready", func(g []byte) { g[l.at[gStatus]] = byte(Runnable) }, Runnable, "", 3},
		{"it runs", func(g []byte) { g[l.at[gStatus]] = byte(Running) }, Running, "", 0},
		{"it has ended", func(g []byte) { g[l.at[gStatus]] = dead }, Waiting, "IO wait", 0},
		{"another has its place", func(g []byte) { put(g[l.at[gID]:], 77) }, Waiting, "IO wait", 0},
		{"no state", func(g []byte) { g[l.at[gStatus]] = 77 }, Waiting, "IO wait", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, r := goroutinesOf(1)
			changed := false
			s, _ := sampledFrom(t, m, r, func() {
				if !changed {
					c.change(m[structuresAt])
					changed = true
				}
			})
			g := s.Groups[0]
			if g.Count != 1 || g.State != c.state || g.Reason != c.reason || len(g.Stack) != c.frames {
				t.Errorf("Sample() = %+v, want it %s, %q, with %d frames", g, c.state, c.reason, c.frames)
			}
		})
	}
	t.Run("it moves all the time", func(t *testing.T) {
		m, r := goroutinesOf(1)
		s, stacks := sampledFrom(t, m, r, func() { m[structuresAt][l.at[gTrackingSeq]]++ })
		if g := s.Groups[0]; g.Count != 1 || g.State != Waiting || len(g.Stack) != 0 || stacks != sampledTries {
			t.Errorf("Sample() = %+v in %d tries, want no stack in %d", g, stacks, sampledTries)
		}
	})
	t.Run("nobody knows whether it moved", func(t *testing.T) {
		m, r := goroutinesOf(1)
		unsure := l
		unsure.at[gTrackingSeq] = missing
		r.layout = &unsure
		for range 2 {
			if s, stacks := sampledFrom(t, m, r, func() {}); stacks != 1 || len(s.Groups[0].Stack) != 3 {
				t.Errorf("Sample() = %+v, %d stacks read; want its stack read each time", s.Groups, stacks)
			}
		}
	})
	t.Run("it ran", func(t *testing.T) {
		m, r := goroutinesOf(1)
		m[structuresAt][l.at[gStatus]] = byte(Running)
		if s, _ := sampledFrom(t, m, r, func() {}); s.Groups[0].State != Running || s.Groups[0].Count != 1 {
			t.Errorf("Sample() = %+v, want one that runs", s.Groups)
		}
	})
}

// TestSampleParts holds that goroutines keep their labels, and stand for those that were not read.
func TestSampleParts(t *testing.T) {
	for _, n := range []int{40, 1000} {
		m, r := goroutinesOf(n)
		labelsOf(m, n/2, 1)
		s, err := r.Sample()
		if err != nil {
			t.Fatal(err)
		}
		got := labelled(s)
		if got["a=b "]+got[""] != n || got["a=b "] < n/4 || got["a=b "] > 3*n/4 {
			t.Errorf("Sample() of %d = %v, want half with the label", n, got)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		n       int
		weights []float64
		want    []int
	}{
		{10, []float64{1, 1}, []int{5, 5}},
		{10, []float64{1, 2}, []int{3, 7}},
		{1, []float64{1, 1, 1}, []int{1, 0, 0}},
		{7, []float64{0, 3}, []int{0, 7}},
		{100, []float64{0.1, 0.2, 0.7}, []int{10, 20, 70}},
		{0, []float64{1}, []int{0}},
		{3, nil, []int{}},
	} {
		if got := spread(c.n, c.weights); !slices.Equal(got, c.want) {
			t.Errorf("spread(%d, %v) = %v, want %v", c.n, c.weights, got, c.want)
		}
	}
}
