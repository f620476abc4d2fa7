package exectrace

import "iter"

// A Piece is what single goroutines, Ps and threads did in one generation of a
// trace, in stretches of time. The spans of a goroutine lie side by side and
// cover the piece from the goroutine's birth to its end: one that goes on over the
// edge of a piece is cut there, so that pieces can be added up.
//
// The edge between two pieces is the moment at which the later generation
// begins. Threads write into the earlier one for a while longer, so what was
// entered after the edge, and lasts into the next piece, has no length in the
// earlier one, and what was left after the edge runs over it: times are the
// trace's own. A goroutine's next span begins where its last one ended.
//
// Pieces are large, and their memory is used again: nothing of a piece may be
// kept after the call that it was given to, strings excepted.
type Piece struct {
	Index int // of the generation, in Info.Generations
	// From and To are the edges. To is the From of the next piece; of the last
	// one it is the end of the trace.
	From, To Time
	// Trusted is false where states had to be given up (see Generation): all
	// goroutines that lived before are then Unknown from edge to edge, those
	// that began in the piece are left out, and so are Procs, Ranges and Wakes.
	Trusted bool
	// Part is true where only so much of the generation was read as a clip needs.
	Part bool

	// Lives are in no order. An id that was used again has several; at most one
	// of them was created before the piece, and at most one does not end in it.
	Lives []Life
	// Spans are ordered by time within each life, and mixed between lives. A
	// goroutine that starts to run at once may have a span without length.
	Spans   Spans
	Procs   []ProcSpan // each P's in order
	Ranges  []RangeSpan
	Wakes   []WakeEdge // those of one thread are in order
	Samples []SampleAt
	Regions []RegionSpan
	Tasks   []TaskEvent
	Logs    []LogEvent
	Labels  []LabelAt

	// Reasons are the texts of Span.Reason; Reasons[0] is "".
	Reasons []string
	// Threads are the ids of the threads that Span.Thread means.
	Threads []int64

	tables *tables // behind Frames
	words  []string
	give   func(block int) // gives the memory of a block back
	onTake func()          // called when blocks will be given back; nil when nobody waits for them
}

// Take returns the spans block by block, for who looks at each once: the memory of
// a block is there for the next piece before the next block comes. Afterwards the
// piece has no spans.
func (p *Piece) Take() iter.Seq[[]Span] {
	return func(yield func([]Span) bool) {
		if p.onTake != nil {
			p.onTake()
		}
		for i, block := range p.Spans {
			if !yield(block) {
				return
			}
			if p.give != nil {
				p.give(i)
				p.Spans[i] = nil
			}
		}
		if p.give != nil {
			p.Spans = p.Spans[:0]
		}
	}
}

// NumStacks returns a bound of the stacks of the piece: all are below it.
func (p *Piece) NumStacks() int {
	if p.tables == nil {
		return 1
	}
	return max(len(p.tables.stacks), 1)
}

// Frames resolves a stack of the piece, leaf first, in memory of its own. It is
// nil for 0. Stacks of different pieces have nothing to do with each other.
func (p *Piece) Frames(s Stack) []Frame {
	if p.tables == nil || s <= 0 {
		return nil
	}
	raw := p.tables.stack(uint32(s))
	if len(raw) == 0 {
		return nil
	}
	out := make([]Frame, len(raw))
	for i, f := range raw {
		out[i] = Frame{PC: f.pc, Func: p.word(uint64(f.fn)), File: p.word(uint64(f.file)), Line: int(f.line)}
	}
	return out
}

// word returns a string of the generation, made once.
func (p *Piece) word(id uint64) string {
	if id >= uint64(len(p.words)) {
		return ""
	}
	if p.words[id] == "" {
		p.words[id] = string(p.tables.str(id))
	}
	return p.words[id]
}

// A Life is a goroutine as far as a piece has it.
type Life struct {
	G       int64
	Group   string // start function; "" when no stack of the piece, nor of one before, names it
	Created Time   // 0 when before the piece
	Ended   Time   // 0 when not in it
	Creator int64  // the goroutine that created it, -1 when not known or not in the piece
	Cause   Stack  // where; 0 when not known
}

// Spans are many spans, in blocks, none of which is empty. A generation has some
// million, and blocks are memory that the next one can use, however many it has.
type Spans [][]Span

// Len returns how many there are.
func (s Spans) Len() (n int) {
	for _, block := range s {
		n += len(block)
	}
	return n
}

// All returns them in order. Where each nanosecond counts, a loop over the blocks
// is faster.
func (s Spans) All() iter.Seq[*Span] {
	return func(yield func(*Span) bool) {
		for _, block := range s {
			for i := range block {
				if !yield(&block[i]) {
					return
				}
			}
		}
	}
}

// A Span is a stretch of time in which a goroutine was in one state.
type Span struct {
	From, To Time
	Life     int32 // index in Piece.Lives
	// Stack is, for Waiting, Syscall and SyscallBlocked: where; for Runnable: of
	// whoever made it ready; for Running: where it stopped. It is 0 when not
	// known, as where a span was cut.
	Stack  Stack
	Thread int32 // Running, Syscall and SyscallBlocked: index in Piece.Threads; -1 when not known
	Proc   int16 // Running and Syscall: the P; else, and when not known, -1
	// Reason is that of the wait, for Waiting, or why it stopped to run by
	// itself or was preempted, for Runnable: index in Piece.Reasons.
	Reason uint8
	State  State
}

// A ProcSpan is a stretch of time in which a P was held by a thread. Between
// them it was idle, or, where Forced of the Generation is not 0, not known.
type ProcSpan struct {
	From, To Time
	Proc     int32
	Thread   int64 // -1 when not known
	Syscall  bool  // its goroutine was in a system call to the end of the span
}

// A RangeSpan is a special range: the mark phase, a stop-the-world, mark
// assist, a sweep. Names are as in [Event.Range].
type RangeSpan struct {
	From, To  Time // cut at the edges of the piece
	Name      string
	Goroutine int64 // -1 where it is nobody's
	Proc      int32 // -1 where it is not a P's
	Stack     Stack // where it began; 0 when before the piece
}

// A WakeEdge is the moment at which someone made a goroutine ready that waited.
type WakeEdge struct {
	At           Time
	Waker, Woken int64 // goroutines; Waker is -1 for the runtime (a timer, the network)
	Proc         int32 // the waker's, or -1
	Stack        Stack // the waker's
}

// A SampleAt is a CPU sample carried by the trace.
type SampleAt struct {
	At        Time
	Goroutine int64 // -1 for none
	Proc      int32 // -1 for none
	Thread    int64 // -1 when not known
	Stack     Stack
}

// A RegionSpan is a user region of a goroutine.
type RegionSpan struct {
	From, To  Time // cut at the edges of the piece
	Goroutine int64
	Task      uint64
	Name      string
	Began     bool // in this piece
	Ended     bool // in this piece
}

// A TaskEvent is a user task's begin or end.
type TaskEvent struct {
	At        Time
	ID        uint64
	Parent    uint64 // of a begin; 0 for none
	Goroutine int64
	Name      string // of an end: "" when its begin is not known
	End       bool
}

// A LogEvent is a user log.
type LogEvent struct {
	At                Time
	Goroutine         int64
	Task              uint64 // 0 for none
	Category, Message string
}

// A LabelAt is a label that a goroutine got. The runtime labels its mark
// workers each time that they begin to run.
type LabelAt struct {
	At        Time
	Goroutine int64
	Label     string
}

// PieceOptions say which pieces are wanted.
type PieceOptions struct {
	// Window chooses generations: each that has a part in it is given whole.
	// The zero Range is all of them.
	Window Range
	// Workers is how many generations are read at once; 0 means GOMAXPROCS.
	Workers int
	// Bare leaves out what only details need and may be as much as spans: wakes,
	// logs and labels.
	Bare bool
	// Clip leaves out lives, spans, wakes and what Ps did that lie outside of it and
	// do not touch it, and with them most of the memory, where it is a small part of
	// a piece. Spans are not cut, and nothing else is left out. The first reading of a
	// generation with a clip leaves marks in it (marks.go), so that others take but a
	// part of the time; where it can have none, more is given than the clip wants. The
	// zero Range is all.
	Clip Range
	// Goroutines leaves out the spans of all others, unless it is nil.
	Goroutines []int64
}
