// Package index finds archived messages again by id, thread and subject.
package index

import (
	"strings"
	"sync"

	"mailarchive/internal/mime"
)

type Entry struct {
	ID      string
	Subject string
	Digest  [32]byte
	Score   float32
	Words   int32
}

type Index struct {
	mu      sync.RWMutex
	byID    map[string]*Entry
	threads map[string]*int
	latest  [64]*mime.Message
	n       int
	v2      bool
}

func New(v2 bool) *Index {
	return &Index{byID: make(map[string]*Entry), threads: make(map[string]*int), v2: v2}
}

func (x *Index) Add(m *mime.Message, digest [32]byte, score float64, words int) {
	e := &Entry{ID: m.ID, Subject: m.Subject, Digest: digest, Score: float32(score), Words: int32(words)}
	if x.v2 {
		e.ID, e.Subject = strings.Clone(m.ID), strings.Clone(m.Subject)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byID[e.ID] = e
	if m.References != "" {
		n, ok := x.threads[m.References]
		if !ok {
			n = new(int)
			x.threads[strings.Clone(m.References)] = n
		}
		*n++
	}
	x.latest[x.n%len(x.latest)] = m
	x.n++
}

func (x *Index) Find(id string) (*Entry, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	e, ok := x.byID[id]
	return e, ok
}

// Latest gives the subjects of the newest messages.
func (x *Index) Latest(n int) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []string
	for i := 1; i <= n && i <= len(x.latest) && i <= x.n; i++ {
		out = append(out, x.latest[(x.n-i)%len(x.latest)].Subject)
	}
	return out
}

func (x *Index) Size() (messages, threads int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.byID), len(x.threads)
}
