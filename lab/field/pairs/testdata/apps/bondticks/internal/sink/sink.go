// Package sink is the line to subscribers.
package sink

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"
)

// Sink writes frames with a header.
type Sink struct {
	mu    sync.Mutex
	w     *bufio.Writer
	head  [12]byte
	bytes int64
	seq   uint32
}

// New returns a sink.
func New(w io.Writer) *Sink { return &Sink{w: bufio.NewWriterSize(w, 64<<10)} }

// Send writes one frame.
func (s *Sink) Send(isin string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	binary.LittleEndian.PutUint32(s.head[:], s.seq)
	binary.LittleEndian.PutUint32(s.head[4:], uint32(len(body)))
	binary.LittleEndian.PutUint32(s.head[8:], crc32.ChecksumIEEE(body))
	s.w.Write(s.head[:])
	s.w.Write(body)
	s.bytes += int64(len(body) + len(s.head))
}

// Bytes says how much was sent.
func (s *Sink) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
