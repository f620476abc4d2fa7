// Package postings lists the numbers that carry a label.
package postings

import (
	"slices"
	"sync"
)

// Index holds a sorted list of numbers for each label.
type Index struct {
	mu      sync.RWMutex
	lists   map[string][]uint32
	ordered bool
}

// New returns an empty index whose lists are always in order.
func New() *Index {
	return &Index{lists: map[string][]uint32{}, ordered: true}
}

// NewUnordered returns an empty index whose lists are in order only after Order.
func NewUnordered() *Index {
	return &Index{lists: map[string][]uint32{}}
}

// Add puts a number under the labels.
func (x *Index) Add(n uint32, labels ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range labels {
		x.addFor(n, l)
	}
}

func (x *Index) addFor(n uint32, label string) {
	list := append(x.lists[label], n)
	x.lists[label] = list
	if !x.ordered {
		return
	}
	for i := len(list) - 1; i >= 1; i-- {
		if list[i] >= list[i-1] {
			break
		}
		list[i], list[i-1] = list[i-1], list[i]
	}
}

// Order sorts all lists. From then on, Add keeps them in order.
func (x *Index) Order() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ordered {
		return
	}
	for _, l := range x.lists {
		slices.Sort(l)
	}
	x.ordered = true
}

// Intersect returns the numbers that carry all labels, at most limit.
func (x *Index) Intersect(limit int, labels ...string) []uint32 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	lists := make([][]uint32, 0, len(labels))
	for _, l := range labels {
		lists = append(lists, x.lists[l])
	}
	slices.SortFunc(lists, func(a, b []uint32) int { return len(a) - len(b) })
	var out []uint32
next:
	for _, n := range lists[0] {
		for _, l := range lists[1:] {
			if _, ok := slices.BinarySearch(l, n); !ok {
				continue next
			}
		}
		if out = append(out, n); len(out) == limit {
			break
		}
	}
	return out
}

// Labels returns the number of labels.
func (x *Index) Labels() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.lists)
}
