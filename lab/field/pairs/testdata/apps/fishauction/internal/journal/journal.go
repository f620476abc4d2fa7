// Package journal keeps the latest events of the auction for its followers.
package journal

import (
	"sync"

	"fishauction/internal/wire"
)

// Journal is a ring of encoded events.
type Journal struct {
	codec wire.Codec
	mu    sync.Mutex
	seq   int64
	ring  [][]byte
	bytes int64
}

// New keeps n events.
func New(codec wire.Codec, n int) *Journal { return &Journal{codec: codec, ring: make([][]byte, n)} }

// Append writes an event.
func (j *Journal) Append(e wire.Event) error {
	j.mu.Lock()
	j.seq++
	e.Seq = j.seq
	j.mu.Unlock()
	b, err := j.codec.Encode(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	j.ring[e.Seq%int64(len(j.ring))] = b
	j.bytes += int64(len(b))
	j.mu.Unlock()
	return nil
}

// Read returns the event of a number, if it is still kept.
func (j *Journal) Read(seq int64) (wire.Event, bool, error) {
	j.mu.Lock()
	b := j.ring[seq%int64(len(j.ring))]
	j.mu.Unlock()
	if b == nil {
		return wire.Event{}, false, nil
	}
	e, err := j.codec.Decode(b)
	return e, err == nil && e.Seq == seq, err
}

// Size is how many events and bytes were written.
func (j *Journal) Size() (int64, int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seq, j.bytes
}
