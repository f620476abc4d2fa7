package profiles

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/gowhy/gowhy/fleet/store"
)

// A Place is a place on a stack: the lines that were inlined into each other there, with
// the hashes of their frames, which are computed once and not for each stack.
type Place struct {
	frames []*store.Frame
	hashes []uint64
}

// PlaceOf returns a place of frames, the innermost first.
func PlaceOf(frames []*store.Frame) *Place {
	p := &Place{frames: frames}
	for _, f := range frames {
		p.hashes = append(p.hashes, f.Hash())
	}
	return p
}

// Address returns the name of a function that has none.
func Address(address uint64) string { return "0x" + strconv.FormatUint(address, 16) }

// LineOf returns a line as a frame has it.
func LineOf(n int64) int32 { return int32(max(0, min(n, 1<<31-1))) }

// Stacks are stacks of places, each once and within limits.
type Stacks struct {
	limits   Limits
	frames   map[store.StackID][]*store.Frame
	retained int      // frames of all of them
	hashes   []uint64 // of the last, for the next
}

// NewStacks has none yet.
func NewStacks(l Limits) *Stacks {
	return &Stacks{limits: l, frames: map[store.StackID][]*store.Frame{}}
}

// Add returns the ID of a stack, leaf first, whose frames it keeps.
func (s *Stacks) Add(places []*Place) (store.StackID, error) {
	s.hashes = s.hashes[:0]
	for _, p := range places {
		s.hashes = append(s.hashes, p.hashes...)
		if err := s.limits.Stack(len(s.hashes)); err != nil {
			return 0, err
		}
	}
	id := store.IDOfHashes(s.hashes)
	if _, known := s.frames[id]; known || id == 0 {
		return id, nil
	}
	if s.retained += len(s.hashes); s.retained > s.limits.Frames {
		return 0, fmt.Errorf("%w: more than %d frames in all stacks", ErrLong, s.limits.Frames)
	}
	frames := make([]*store.Frame, 0, len(s.hashes))
	for _, p := range places {
		frames = append(frames, p.frames...)
	}
	s.frames[id] = frames
	return id, nil
}

// Lookup returns the stacks of samples.
func (s *Stacks) Lookup(lists ...[]store.Sample) map[store.StackID][]*store.Frame {
	stacks := map[store.StackID][]*store.Frame{}
	for _, samples := range lists {
		for _, sample := range samples {
			if sample.Stack != 0 {
				stacks[sample.Stack] = s.frames[sample.Stack]
			}
		}
	}
	return stacks
}

// Stack refuses one of n frames when that is too deep.
func (l Limits) Stack(n int) error {
	if n > l.Depth {
		return fmt.Errorf("%w: a stack has more than %d frames", ErrLong, l.Depth)
	}
	return nil
}

// Lines refuses n lines of all places together.
func (l Limits) Lines(n int) error {
	if n > l.Frames {
		return fmt.Errorf("%w: more than %d lines in all locations", ErrLong, l.Frames)
	}
	return nil
}

// SamplesOf returns the sums that are not 0, by stack.
func SamplesOf(values map[store.StackID]int64) []store.Sample {
	var samples []store.Sample
	for id, v := range values {
		if v != 0 {
			samples = append(samples, store.Sample{Stack: id, Value: v})
		}
	}
	slices.SortFunc(samples, func(a, b store.Sample) int { return cmp.Compare(a.Stack, b.Stack) })
	return samples
}
