// Package frame has the pictures of cameras, and the memory of their pixels.
package frame

import (
	"fmt"
	"runtime"
	"sync"
)

// A Size is the width and height of a picture.
type Size struct{ W, H int }

// Pixels is how many there are.
func (s Size) Pixels() int { return s.W * s.H }

// A Frame is one grey picture. Several may look at it, none of whom knows who is last.
type Frame struct {
	Camera int
	Seq    int
	Size   Size
	Pix    []byte
}

// At returns a pixel.
func (f *Frame) At(x, y int) byte { return f.Pix[y*f.Size.W+x] }

// A Policy says what becomes of a buffer when there are enough spare ones.
type Policy int

// The policies.
const (
	Queue Policy = iota
	Discard
)

// ParsePolicy reads a policy by its name.
func ParsePolicy(name string) (Policy, error) {
	switch name {
	case "queue":
		return Queue, nil
	case "discard":
		return Discard, nil
	}
	return 0, fmt.Errorf("no policy %q", name)
}

// A Store hands out frames. The pixels of a frame come back when nobody has it any more.
type Store struct {
	spare  int
	policy Policy

	mu     sync.Mutex
	racks  map[Size]chan []byte
	fresh  int
	reused int
}

// NewStore makes a store with so many spare buffers of each size.
func NewStore(spare int, policy Policy) *Store {
	return &Store{spare: spare, policy: policy, racks: map[Size]chan []byte{}}
}

func (s *Store) rack(size Size) chan []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.racks[size]
	if !ok {
		r = make(chan []byte, s.spare)
		s.racks[size] = r
	}
	return r
}

// New returns a frame whose pixels have any values.
func (s *Store) New(size Size) *Frame {
	f := &Frame{Size: size}
	select {
	case f.Pix = <-s.rack(size):
		s.count(&s.reused)
	default:
		f.Pix = make([]byte, size.Pixels())
		s.count(&s.fresh)
	}
	runtime.SetFinalizer(f, s.takeBack)
	return f
}

func (s *Store) takeBack(f *Frame) {
	rack := s.rack(f.Size)
	if s.policy == Queue {
		rack <- f.Pix
		return
	}
	select {
	case rack <- f.Pix:
	default:
	}
}

func (s *Store) count(n *int) {
	s.mu.Lock()
	*n++
	s.mu.Unlock()
}

// Counts returns how many frames had new memory, and how many that of others.
func (s *Store) Counts() (fresh, reused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh, s.reused
}
