// Package cursor remembers how far spool files have been read.
package cursor

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Store keeps the positions in one file.
type Store struct {
	path string
	pos  map[string]int64
}

// Open reads the positions.
func Open(path string) (*Store, error) {
	s := &Store{path: path, pos: map[string]int64{}}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	return s, json.Unmarshal(b, &s.pos)
}

// Get returns the position in a spool.
func (s *Store) Get(name string) int64 { return s.pos[name] }

// Forget drops a spool that is done.
func (s *Store) Forget(name string) { delete(s.pos, name) }

// Advance sets the position in a spool and stores all positions.
func (s *Store) Advance(name string, off int64) error {
	s.pos[name] = off
	b, err := json.Marshal(s.pos)
	if err != nil {
		return err
	}
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "cursor-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(b); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), s.path)
}
