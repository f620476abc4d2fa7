// Package index keeps which filings use which terms.
package index

import (
	"hash/fnv"
	"strings"
	"sync"
)

const shards = 16

// Index is an inverted index of the latest filings per term.
type Index struct {
	shard [shards]struct {
		mu    sync.Mutex
		terms map[string][]int
	}
}

// New makes an empty index.
func New() *Index {
	ix := &Index{}
	for i := range ix.shard {
		ix.shard[i].terms = make(map[string][]int)
	}
	return ix
}

// Add indexes pairs of neighbouring words.
func (ix *Index) Add(number int, text string) {
	f := strings.Fields(strings.ToLower(text))
	for i := 1; i < len(f); i++ {
		term := f[i-1] + "_" + f[i]
		h := fnv.New32a()
		h.Write([]byte(term))
		s := &ix.shard[h.Sum32()%shards]
		s.mu.Lock()
		l := s.terms[term]
		if len(l) >= 64 {
			l = append(l[:0], l[32:]...)
		}
		s.terms[term] = append(l, number)
		s.mu.Unlock()
	}
}

// Terms counts the terms.
func (ix *Index) Terms() int {
	n := 0
	for i := range ix.shard {
		s := &ix.shard[i]
		s.mu.Lock()
		n += len(s.terms)
		s.mu.Unlock()
	}
	return n
}
