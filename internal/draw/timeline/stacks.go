package timeline

import (
	"hash/maphash"
	"sync"

	"github.com/gowhy/gowhy/exectrace"
)

// stacks gives the stacks of all pieces one identity each; 0 is none. Two are
// one when all their PCs and lines agree.
type stacks struct {
	mu     sync.RWMutex
	byKey  map[uint64][]uint32 // stacks by hash
	byPC   map[place]uint32    // frames
	frames []exectrace.Frame
	list   [][]uint32 // frames of a stack, leaf first
	seed   maphash.Seed
}

type place struct {
	pc   uint64
	line int
}

// maxStacks bounds what is kept; programs have some ten thousand.
const maxStacks = 1 << 18

func newStacks() *stacks {
	return &stacks{byKey: map[uint64][]uint32{}, byPC: map[place]uint32{}, list: make([][]uint32, 1), seed: maphash.MakeSeed()}
}

func (s *stacks) hash(frames []exectrace.Frame) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for i := range frames {
		maphash.WriteComparable(&h, place{frames[i].PC, frames[i].Line})
	}
	return h.Sum64()
}

// add returns the identity of a stack.
func (s *stacks) add(frames []exectrace.Frame) uint32 {
	if len(frames) == 0 {
		return 0
	}
	key := s.hash(frames)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.byKey[key] {
		if s.same(id, frames) {
			return id
		}
	}
	if len(s.list) >= maxStacks {
		return 0
	}
	refs := make([]uint32, len(frames))
	for i, f := range frames {
		at := place{f.PC, f.Line}
		n, ok := s.byPC[at]
		if !ok {
			n = uint32(len(s.frames))
			s.frames = append(s.frames, f)
			s.byPC[at] = n
		}
		refs[i] = n
	}
	id := uint32(len(s.list))
	s.list = append(s.list, refs)
	s.byKey[key] = append(s.byKey[key], id)
	return id
}

func (s *stacks) same(id uint32, frames []exectrace.Frame) bool {
	refs := s.list[id]
	if len(refs) != len(frames) {
		return false
	}
	for i, r := range refs {
		if s.frames[r].PC != frames[i].PC || s.frames[r].Line != frames[i].Line {
			return false
		}
	}
	return true
}

// resolve returns the frames of a stack, leaf first.
func (s *stacks) resolve(id uint32) []exectrace.Frame {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if id == 0 || int(id) >= len(s.list) {
		return nil
	}
	out := make([]exectrace.Frame, len(s.list[id]))
	for i, r := range s.list[id] {
		out[i] = s.frames[r]
	}
	return out
}
