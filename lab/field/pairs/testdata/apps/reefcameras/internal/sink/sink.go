// Package sink stores sightings in compressed segments.
package sink

import (
	"compress/flate"
	"hash/crc32"
	"io"
	"sync"

	"reefcameras/internal/event"
)

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// Sink is the segment that is being written.
type Sink struct {
	mu  sync.Mutex
	out counter
	zw  *flate.Writer
	crc uint32
	in  int64
}

// New returns an empty sink.
func New() *Sink {
	s := &Sink{}
	s.zw, _ = flate.NewWriter(&s.out, 5)
	return s
}

// Put appends a message.
func (s *Sink) Put(m *event.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crc = crc32.Update(s.crc, crc32.IEEETable, m.Body)
	s.in += int64(len(m.Body))
	_, err := io.WriteString(s.zw, m.Topic)
	if err == nil {
		_, err = s.zw.Write(m.Body)
	}
	return err
}

// Close ends the segment and returns the bytes before and after.
func (s *Sink) Close() (in, out int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zw.Close()
	return s.in, s.out.n
}
