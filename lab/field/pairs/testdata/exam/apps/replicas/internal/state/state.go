// Package state is what a cluster agrees on: settings by their names, and an index that rises
// with each change.
package state

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"sync"
)

// A State is safe for concurrent use.
type State struct {
	mu     sync.RWMutex
	index  uint64
	values map[string]string
}

// New returns an empty state.
func New() *State { return &State{values: map[string]string{}} }

// Set changes a value and returns the new index.
func (s *State) Set(name, value string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[name] = value
	s.index++
	return s.index
}

// Index returns how many changes there were.
func (s *State) Index() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.index
}

// Len returns how many values there are.
func (s *State) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.values)
}

// Snapshot returns a stream of what is there now, and its index. The stream is to be closed.
func (s *State) Snapshot() (io.ReadCloser, uint64) {
	s.mu.RLock()
	values, index := maps.Clone(s.values), s.index
	s.mu.RUnlock()
	r, w := io.Pipe()
	go func() { w.CloseWithError(encode(w, index, values)) }()
	return r, index
}

func encode(w io.Writer, index uint64, values map[string]string) error {
	b := bufio.NewWriter(w)
	var n [8]byte
	word := func(x uint64) {
		binary.LittleEndian.PutUint64(n[:], x)
		b.Write(n[:])
	}
	word(index)
	word(uint64(len(values)))
	for k, v := range values {
		word(uint64(len(k))<<32 | uint64(len(v)))
		b.WriteString(k)
		if _, err := b.WriteString(v); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Restore takes over a stream of a snapshot.
func (s *State) Restore(r io.Reader) error {
	b := bufio.NewReader(r)
	var n [8]byte
	word := func() (uint64, error) {
		_, err := io.ReadFull(b, n[:])
		return binary.LittleEndian.Uint64(n[:]), err
	}
	index, err := word()
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	count, err := word()
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	values := make(map[string]string, min(count, 1<<16))
	for range count {
		l, err := word()
		if err != nil {
			return fmt.Errorf("value: %w", err)
		}
		text := make([]byte, l>>32+l&(1<<32-1))
		if _, err := io.ReadFull(b, text); err != nil {
			return fmt.Errorf("value: %w", err)
		}
		values[string(text[:l>>32])] = string(text[l>>32:])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index, s.values = index, values
	return nil
}
