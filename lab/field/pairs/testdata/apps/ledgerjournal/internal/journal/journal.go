// Package journal writes entries that are on disk when it says so.
package journal

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"sync"
	"time"
)

// Options are how entries are written.
type Options struct{ Group time.Duration }

// A Journal is a file of entries.
type Journal struct {
	options Options
	mu      sync.Mutex
	file    *os.File
	waiting *group
}

// A group is entries that are synced together.
type group struct {
	done chan struct{}
	err  error
}

// Open opens a journal.
func Open(name string, o Options) (*Journal, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &Journal{options: o, file: f}, nil
}

func frame(entry []byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(entry)))
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(entry))
	return append(out, entry...)
}

// Append writes an entry and returns when it is on disk.
func (j *Journal) Append(entry []byte) error {
	j.mu.Lock()
	if _, err := j.file.Write(frame(entry)); err != nil {
		j.mu.Unlock()
		return err
	}
	if j.options.Group == 0 {
		defer j.mu.Unlock()
		return j.file.Sync()
	}
	g := j.waiting
	if g == nil {
		g = &group{done: make(chan struct{})}
		j.waiting = g
		time.AfterFunc(j.options.Group, j.flush)
	}
	j.mu.Unlock()
	<-g.done
	return g.err
}

// flush syncs all that was written so far.
func (j *Journal) flush() {
	j.mu.Lock()
	g := j.waiting
	j.waiting = nil
	j.mu.Unlock()
	g.err = j.file.Sync()
	close(g.done)
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
