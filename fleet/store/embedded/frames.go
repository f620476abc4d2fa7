package embedded

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"

	"github.com/gowhy/gowhy/fleet/store"
)

// The stacks of a batch share most of their frames: a program's hundreds of stacks have a
// hundred functions. So a batch has its frames once, in a list, and stacks have their
// numbers; frames in each stack took a megabyte of the log for a process's first batch.

// A frameList is the frames of a batch's stacks, encoded.
type frameList []byte

// frames counts those of a list.
func (l frameList) frames() (n int) {
	for d := (decoder{rest: l}); len(d.rest) > 0; n++ {
		d.take(d.count(1))
		d.take(d.count(1))
		d.varint()
	}
	return n
}

// A numberedStack is a stack by the numbers of its frames.
type numberedStack struct {
	numbers []byte // varints
	list    *frameList
}

// appendStacks appends a batch's stacks but those that are known, in a block, and the
// list of their frames.
func appendStacks(to []byte, stacks map[store.StackID][]*store.Frame, known func(store.StackID) bool) []byte {
	at := len(to)
	to = append(to, 0, 0, 0, 0)
	var list []*store.Frame
	var numbers map[store.Frame]uint64
	for id, frames := range stacks {
		if len(frames) == 0 || known(id) {
			continue
		}
		if numbers == nil {
			numbers = map[store.Frame]uint64{}
		}
		to = binary.LittleEndian.AppendUint64(to, uint64(id))
		length := len(to)
		to = append(to, 0, 0, 0, 0)
		for _, f := range frames {
			n, has := numbers[*f]
			if !has {
				n = uint64(len(list))
				numbers[*f] = n
				list = append(list, f)
			}
			to = binary.AppendUvarint(to, n)
		}
		binary.LittleEndian.PutUint32(to[length:], uint32(len(to)-length-4))
	}
	binary.LittleEndian.PutUint32(to[at:], uint32(len(to)-at-4))
	text := 0
	for _, f := range list {
		text += len(f.Function) + len(f.File) + 3*binary.MaxVarintLen32
	}
	to = slices.Grow(to, text)
	for _, f := range list {
		to = appendText(appendText(to, f.Function), f.File)
		to = binary.AppendVarint(to, int64(f.Line))
	}
	return to
}

// newStacks gives a batch's stacks.
func (b *batch) newStacks() iter.Seq2[store.StackID, numberedStack] {
	return func(yield func(store.StackID, numberedStack) bool) {
		d := decoder{rest: b.stacks}
		for len(d.rest) > 0 {
			id, numbers := store.StackID(d.fixed()), d.block()
			if d.bad || !yield(id, numberedStack{numbers, &b.frames}) {
				return
			}
		}
	}
}

// validStacks reports whether a batch's stacks decode.
func (b *batch) validStacks() bool {
	d := decoder{rest: b.stacks}
	decoded := frameLists{}
	for len(d.rest) > 0 {
		d.fixed()
		stack := numberedStack{d.block(), &b.frames}
		if _, err := decoded.stack(stack); err != nil || d.bad {
			return false
		}
	}
	_, err := decoded.list(&b.frames)
	return err == nil
}

// frameLists are lists that are decoded, each once.
type frameLists map[*frameList][]*store.Frame

func (l frameLists) list(from *frameList) ([]*store.Frame, error) {
	if list, has := l[from]; has {
		return list, nil
	}
	d := decoder{rest: *from}
	var list []*store.Frame
	for len(d.rest) > 0 {
		f := &store.Frame{Function: d.text(), File: d.text()}
		line := d.varint()
		if d.bad || line < math.MinInt32 || line > math.MaxInt32 {
			return nil, errBatch
		}
		f.Line = int32(line)
		list = append(list, f)
	}
	l[from] = list
	return list, nil
}

// stack returns the frames of a stack.
func (l frameLists) stack(s numberedStack) ([]*store.Frame, error) {
	list, err := l.list(s.list)
	if err != nil {
		return nil, err
	}
	frames := make([]*store.Frame, 0, len(s.numbers))
	for rest := s.numbers; len(rest) > 0; {
		number, n := binary.Uvarint(rest)
		if n <= 0 || number >= uint64(len(list)) {
			return nil, errBatch
		}
		frames, rest = append(frames, list[number]), rest[n:]
	}
	return frames, nil
}
