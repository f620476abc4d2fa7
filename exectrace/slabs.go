package exectrace

import "sync"

// slabs are a list whose elements never move. Its memory comes from a pool and
// goes back there, so lists that are filled one after another need no more of it
// than the longest.
type slabs[T any] struct {
	pool *sync.Pool // of *slab[T]
	list []*slab[T]
	n    int
}

// A slab of spans is half a megabyte: what a core's own cache holds.
type slab[T any] [1 << slabShift]T

const (
	slabShift = 14
	slabMask  = 1<<slabShift - 1
)

func newPool[T any]() *sync.Pool { return &sync.Pool{New: func() any { return new(slab[T]) }} }

// at returns an element by its number.
func (b *slabs[T]) at(i int32) *T { return &b.list[i>>slabShift][i&slabMask] }

// next adds an element. What it holds is left from others: all of it is to be set.
func (b *slabs[T]) next() *T {
	i := b.n
	if b.n++; i>>slabShift == len(b.list) {
		b.list = append(b.list, b.pool.Get().(*slab[T]))
	}
	return &b.list[i>>slabShift][i&slabMask]
}

// appendTo adds the elements to a list of slices.
func (b *slabs[T]) appendTo(to [][]T) [][]T {
	for i := 0; i < b.n; i += 1 << slabShift {
		to = append(to, b.list[i>>slabShift][:min(b.n-i, 1<<slabShift)])
	}
	return to
}

// rangeTo adds the elements from one to before another to a list of slices.
func (b *slabs[T]) rangeTo(to [][]T, from, until int) [][]T {
	for from < until {
		end := min(until, (from>>slabShift+1)<<slabShift)
		to = append(to, b.list[from>>slabShift][from&slabMask:(end-1)&slabMask+1])
		from = end
	}
	return to
}

// give gives the memory of one slab to others, before all the rest.
func (b *slabs[T]) give(i int) {
	if s := b.list[i]; s != nil {
		b.pool.Put(s)
		b.list[i] = nil
	}
}

// release empties the list and gives its memory to others.
func (b *slabs[T]) release() {
	for i := range b.list {
		b.give(i)
	}
	b.list, b.n = b.list[:0], 0
}
