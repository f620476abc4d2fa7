package model

// Stack identifies a call stack in [Stacks]; 0 is "no stack".
type Stack int32

// A Frame is one function of a call stack.
type Frame struct {
	PC   uint64
	Func string
	File string
	Line int
}

// Stacks is a table of call stacks. The zero table holds only stack 0.
type Stacks struct{ list [][]Frame }

// Add appends a stack, leaf first, and returns its identity. It does not
// look for an equal one; interning is the reader's work.
func (s *Stacks) Add(frames []Frame) Stack {
	if len(s.list) == 0 {
		s.list = append(s.list, nil)
	}
	s.list = append(s.list, frames)
	return Stack(len(s.list) - 1)
}

// Frames returns the frames of a stack, leaf first; nil for an unknown one.
func (s *Stacks) Frames(id Stack) []Frame {
	if id < 0 || int(id) >= len(s.list) {
		return nil
	}
	return s.list[id]
}

// Len returns the number of identities given out, stack 0 included.
func (s *Stacks) Len() int { return max(1, len(s.list)) }
