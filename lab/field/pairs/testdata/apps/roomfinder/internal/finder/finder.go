// Package finder answers searches, and remembers the answers for a while.
package finder

import (
	"container/list"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"

	"roomfinder/internal/flats"
)

// Wishes are the fields of a search form that were filled in.
type Wishes map[string]string

// Finder searches the stock.
type Finder struct {
	stock []flats.Flat
	kept  bool

	mu     sync.Mutex
	recent *list.List
	byKey  map[string]*list.Element
	room   int
}

type answer struct {
	key  string
	hits []*flats.Flat
}

// New returns a finder that remembers up to room answers.
func New(stock []flats.Flat, room int, kept bool) *Finder {
	return &Finder{stock: stock, kept: kept, recent: list.New(), byKey: map[string]*list.Element{}, room: room}
}

// Find returns the flats that meet all wishes, the best first.
func (f *Finder) Find(w Wishes) []*flats.Flat {
	key := f.key(w)
	f.mu.Lock()
	if e := f.byKey[key]; e != nil {
		f.recent.MoveToFront(e)
		f.mu.Unlock()
		return e.Value.(*answer).hits
	}
	f.mu.Unlock()

	hits := f.search(w)

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey[key] == nil {
		f.byKey[key] = f.recent.PushFront(&answer{key: key, hits: hits})
		if f.recent.Len() > f.room {
			last := f.recent.Back()
			f.recent.Remove(last)
			delete(f.byKey, last.Value.(*answer).key)
		}
	}
	return hits
}

func (f *Finder) key(w Wishes) string {
	var b strings.Builder
	add := func(field, value string) {
		b.WriteString(field)
		b.WriteByte('=')
		b.WriteString(value)
		b.WriteByte('&')
	}
	if f.kept {
		for _, field := range slices.Sorted(maps.Keys(w)) {
			add(field, w[field])
		}
		return b.String()
	}
	for field, value := range w {
		add(field, value)
	}
	return b.String()
}

func (f *Finder) search(w Wishes) []*flats.Flat {
	var hits []*flats.Flat
next:
	for i := range f.stock {
		fl := &f.stock[i]
		for field, value := range w {
			if !fl.Match(field, value) {
				continue next
			}
		}
		hits = append(hits, fl)
	}
	sort.Slice(hits, func(i, j int) bool {
		a, b := hits[i].Rent*hits[j].Size, hits[j].Rent*hits[i].Size
		if a != b {
			return a < b
		}
		return hits[i].ID < hits[j].ID
	})
	if len(hits) > 60 {
		hits = slices.Clone(hits[:60])
	}
	return hits
}
