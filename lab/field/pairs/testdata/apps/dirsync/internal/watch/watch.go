// Package watch tells what has changed between two readings.
package watch

import (
	"reflect"

	"dirsync/internal/directory"
)

// A Source can be read.
type Source interface{ Read() []directory.Person }

// A Watcher remembers what it read.
type Watcher struct {
	source    Source
	revisions bool
	before    []directory.Person
}

// New watches a source.
func New(s Source, revisions bool) *Watcher {
	return &Watcher{source: s, revisions: revisions, before: s.Read()}
}

func (w *Watcher) same(a, b *directory.Person) bool {
	if w.revisions {
		return a.Revision == b.Revision && a.Name == b.Name
	}
	return reflect.DeepEqual(a, b)
}

// Poll reads the source and names those who changed.
func (w *Watcher) Poll() (changed []string) {
	now := w.source.Read()
	for i := range now {
		if i >= len(w.before) || !w.same(&now[i], &w.before[i]) {
			changed = append(changed, now[i].Name)
		}
	}
	w.before = now
	return changed
}
