// Package shelf keeps the tiles that have been made.
package shelf

import (
	"crypto/sha256"
	"sync"
)

// Key is the place of a tile.
type Key struct{ X, Y int }

// Shelf has the fingerprints of tiles.
type Shelf struct {
	mu    sync.Mutex
	tiles map[Key][32]byte
	Put   int64
	Bytes int64
	Moved int64
}

// New returns an empty shelf.
func New() *Shelf { return &Shelf{tiles: make(map[Key][32]byte)} }

// Store notes a tile.
func (s *Shelf) Store(k Key, data []byte) {
	sum := sha256.Sum256(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.tiles[k]; ok && old != sum {
		s.Moved++
	}
	s.tiles[k] = sum
	s.Put++
	s.Bytes += int64(len(data))
}
