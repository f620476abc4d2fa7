package heap

import (
	"slices"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A stack is used again by the next goroutine, and a variable's place by the next call: most
// words of a parked goroutine's stack are left over, and lead to what others hold. The compiler
// notes for the collector which are in use at each call; that is read here.

// A bitset has a bit for each word of a stack, from its pointer on. Nil has none.
type bitset []uint64

func (s bitset) has(i int) bool { return i/64 < len(s) && s[i/64]>>(i%64)&1 != 0 }

// set sets the words from one on, and up to another, as far as there are such.
func (s bitset) set(from, to int, on bool) {
	for i := max(0, from); i < min(to, 64*len(s)); i++ {
		if on {
			s[i/64] |= 1 << (i % 64)
		} else {
			s[i/64] &^= 1 << (i % 64)
		}
	}
}

// Where the first argument is behind the frame pointer that a function saved: its own slot and
// the address to return to are before it. arm64 has the latter in the caller's frame.
const argsBehind = 16

// unused returns the words of a stack that the program does not use any more: of b, which is from g.SP on, where the
// first frame is from sp on. A frame is believed when its size, which the compiler noted, ends where the frame pointers say it does.
func (k *stacks) unused(g *goroutines.Goroutine, sp uint64, frames []frame, b []byte) bitset {
	if g.State == goroutines.Running { // its stack is another by now
		return nil
	}
	u := &liveness{low: g.SP, b: b, left: make(bitset, len(b)/8/64+1)}
	callers := uint64(argsBehind) // from a saved frame pointer to the stack pointer of the caller
	if k.below {
		callers = 8
	}
	low, known := sp, make([]bool, len(frames))
	for i, f := range frames {
		from := low
		low = f.end + callers
		if known[i] = f.uses != nil && f.end+8-f.uses.Size == from; known[i] {
			u.left.set(u.at(from), u.at(low), true)
		} else if f.slots != nil {
			u.left.set(u.at(from), u.at(low), true)
			u.slots(from, low, f.slots)
		}
	}
	for i, f := range frames {
		switch {
		case known[i]:
			u.words(f.end-8*uint64(f.uses.Locals.N), &f.uses.Locals)
			u.words(f.end+argsBehind, &f.uses.Args)
			u.variables(f.end, f.uses)
		case f.slots != nil:
		default: // what it was called with is in the frame of the next
			u.use(u.at(f.end), u.at(f.end)+unknownArgs)
		}
	}
	u.follow()
	return u.left
}

// deferRecord is the size of runtime._defer in all versions: of a function with deferred calls the
// runtime's own list leads to such a variable.
const deferRecord = 48

// unknownArgs is how many words a function may have been called with of which nothing is known.
const unknownArgs = 16

// A liveness finds out which words of a stack are in use.
type liveness struct {
	low     uint64 // address of the first
	b       []byte
	left    bitset // those that are not
	objects []stackRange
}

// A stackRange is a variable whose address is taken.
type stackRange struct {
	at, size uint64
	used     bool
}

// at returns the number of the word at an address.
func (u *liveness) at(addr uint64) int { return int(int64(addr-u.low) / 8) }

func (u *liveness) words(from uint64, w *symbols.Words) {
	for i := range w.N {
		if w.Used(i) {
			u.use(u.at(from)+i, u.at(from)+i+1)
		}
	}
}

// slots has the words in use that a dump names. It does not name those of variables whose addresses are
// taken: the whole frame is one, which counts where something leads into it.
func (u *liveness) slots(from, to uint64, list []uint32) {
	for _, at := range list {
		u.use(u.at(from+uint64(at)), u.at(from+uint64(at))+1)
	}
	u.objects = append(u.objects, stackRange{at: from, size: to - from})
}

func (u *liveness) use(from, to int) { u.left.set(from, to, false) }

func (u *liveness) variables(end uint64, f *symbols.FrameMap) {
	for _, o := range f.Objects {
		base := end
		if o.At >= 0 {
			base += argsBehind
		}
		r := stackRange{at: base + uint64(int64(o.At)), size: uint64(max(0, o.Size)), used: f.Defers && o.Size == deferRecord}
		if r.used {
			u.use(u.at(r.at), u.at(r.at+r.size+7))
		}
		u.objects = append(u.objects, r)
	}
}

// follow has in use the variables that words in use lead to, and what those lead to.
func (u *liveness) follow() {
	if len(u.objects) == 0 {
		return
	}
	slices.SortFunc(u.objects, func(a, b stackRange) int { return int(int64(a.at - b.at)) })
	high := u.low + uint64(len(u.b))
	for more := true; more; {
		more = false
		for i := 0; i+8 <= len(u.b); i += 8 {
			to := word(u.b[i:])
			if to < u.low || to >= high || u.left.has(i/8) {
				continue
			}
			n, _ := slices.BinarySearchFunc(u.objects, to, func(r stackRange, to uint64) int {
				if r.at <= to {
					return -1
				}
				return 1
			})
			if n--; n < 0 || u.objects[n].used || to-u.objects[n].at >= u.objects[n].size {
				continue
			}
			o := &u.objects[n]
			o.used, more = true, true
			u.use(u.at(o.at), u.at(o.at+o.size+7))
		}
	}
}
