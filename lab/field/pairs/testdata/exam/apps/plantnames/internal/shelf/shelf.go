// Package shelf keeps names in their order, end to end.
package shelf

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// A Shelf has names.
type Shelf struct {
	text    string
	ends    []uint32
	numbers []int32
}

// New puts names onto a shelf.
func New(names []string) *Shelf {
	s := &Shelf{numbers: make([]int32, len(names)), ends: make([]uint32, len(names))}
	size := 0
	for i, n := range names {
		s.numbers[i] = int32(i)
		size += len(n)
	}
	slices.SortFunc(s.numbers, func(a, b int32) int { return cmp.Compare(names[a], names[b]) })
	var text strings.Builder
	text.Grow(size)
	for i, n := range s.numbers {
		text.WriteString(names[n])
		s.ends[i] = uint32(text.Len())
	}
	s.text = text.String()
	return s
}

func (s *Shelf) at(i int) string {
	if i == 0 {
		return s.text[:s.ends[0]]
	}
	return s.text[s.ends[i-1]:s.ends[i]]
}

// Find returns the first numbers, by the alphabet, of names that begin so.
func (s *Shelf) Find(prefix string, most int) []int32 {
	i := sort.Search(len(s.ends), func(i int) bool { return s.at(i) >= prefix })
	var out []int32
	for ; i < len(s.ends) && len(out) < most && strings.HasPrefix(s.at(i), prefix); i++ {
		out = append(out, s.numbers[i])
	}
	return out
}
