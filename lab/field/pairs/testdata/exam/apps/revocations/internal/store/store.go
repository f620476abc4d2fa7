// Package store is a log-structured store of keys: what is new is in memory, the rest
// in tables of two levels.
package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"revocations/internal/table"
)

// Options are the settings of a store.
type Options struct {
	Dir      string
	Memory   int // keys in memory before they are written
	Fan      int // young tables that are merged into one
	Tables   table.Options
	sequence int
}

// A Store is safe for concurrent use.
type Store struct {
	mu    sync.RWMutex
	o     Options
	fresh map[uint64]uint64
	young []*table.Table
	old   []*table.Table
}

// Open returns an empty store.
func Open(o Options) *Store {
	return &Store{o: o, fresh: make(map[uint64]uint64, o.Memory)}
}

// Put remembers a key with its time.
func (s *Store) Put(key, time uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh[key] = time
	if len(s.fresh) < s.o.Memory {
		return nil
	}
	entries := make([]table.Entry, 0, len(s.fresh))
	for k, t := range s.fresh {
		entries = append(entries, table.Entry{Key: k, Time: t})
	}
	t, err := s.write(entries)
	if err != nil {
		return err
	}
	clear(s.fresh)
	s.young = append(s.young, t)
	if len(s.young) < s.o.Fan {
		return nil
	}
	return s.merge()
}

// merge makes one old table of all young ones.
func (s *Store) merge() error {
	var entries []table.Entry
	for _, t := range s.young {
		all, err := t.All()
		if err != nil {
			return err
		}
		entries = append(entries, all...)
	}
	t, err := s.write(entries)
	if err != nil {
		return err
	}
	for _, y := range s.young {
		if err := y.Remove(); err != nil {
			return err
		}
	}
	s.old, s.young = append(s.old, t), nil
	return nil
}

func (s *Store) write(entries []table.Entry) (*table.Table, error) {
	slices.SortFunc(entries, func(a, b table.Entry) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	s.o.sequence++
	return table.Write(filepath.Join(s.o.Dir, fmt.Sprintf("%06d.tbl", s.o.sequence)), entries, s.o.Tables)
}

// Get returns the time of a key, if it is there.
func (s *Store) Get(key uint64) (uint64, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t, ok := s.fresh[key]; ok {
		return t, true, nil
	}
	h := table.Hash(key)
	for _, level := range [][]*table.Table{s.young, s.old} {
		for i := len(level) - 1; i >= 0; i-- {
			if t, ok, err := level[i].Get(key, h); ok || err != nil {
				return t, ok, err
			}
		}
	}
	return 0, false, nil
}
