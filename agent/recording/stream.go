package recording

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Stream writes a recording to a connection while the run goes on: one
// member after the other, never seeking. What arrived before the connection
// broke is a recording, cut short, that [NewReader] opens.
//
// The order is [Stream.Start], then members, then [Stream.Finish]. The first
// error is returned by every call after it. A Stream is not for concurrent use.
type Stream struct {
	w     *counter
	z     *zip.Writer
	names map[string]bool
	at    time.Time // what members are dated
	err   error
}

// NewStream begins a recording that is written to w.
func NewStream(w io.Writer) *Stream {
	return &Stream{w: &counter{w: w}, names: map[string]bool{}}
}

// Start writes what is known of the run so far. It need not be called; then a
// recording that is cut short says nothing of its run.
func (s *Stream) Start(m Manifest) error {
	if s.err != nil {
		return s.err
	}
	if s.z != nil {
		return s.fail(errors.New("recording: a stream starts once, before its members"))
	}
	s.at = m.Start
	// It goes before the archive proper: whoever reads the index at the end
	// sees the last manifest only, whoever salvages sees this one.
	first := zip.NewWriter(s.w)
	m.Schema = Schema
	if err := storeManifest(first, m, s.at); err != nil {
		return s.fail(err)
	}
	if err := first.Flush(); err != nil {
		return s.fail(err)
	}
	s.begin()
	return nil
}

func (s *Stream) begin() {
	s.z = zip.NewWriter(s.w)
	s.z.SetOffset(s.w.n)
}

// Add writes a whole member. An empty one is left out.
func (s *Stream) Add(member string, content []byte) error {
	if len(content) == 0 {
		return s.err
	}
	if err := s.next(member); err != nil {
		return err
	}
	if err := store(s.z, member, s.at, int64(len(content)), bytes.NewReader(content)); err != nil {
		return s.fail(err)
	}
	return s.fail(s.z.Flush())
}

// Begin begins a member whose length is not known. It ends with the next call
// of a method of s. What is written is passed on at once.
func (s *Stream) Begin(member string) (io.Writer, error) {
	if err := s.next(member); err != nil {
		return nil, err
	}
	h := &zip.FileHeader{Name: member, Method: zip.Store, Modified: s.at}
	w, err := s.z.CreateHeader(h)
	if err == nil {
		err = s.z.Flush()
	}
	if err != nil {
		return nil, s.fail(err)
	}
	return &streamMember{s: s, w: w}, nil
}

// Finish writes the final manifest and the archive's index. It does not close
// the connection.
func (s *Stream) Finish(m Manifest) error {
	if s.err != nil {
		return s.err
	}
	if s.z == nil {
		s.begin()
	}
	m.Schema = Schema
	err := storeManifest(s.z, m, m.End)
	if err == nil {
		err = s.z.Close()
	}
	s.fail(err)
	if err == nil {
		s.err = errors.New("recording: the stream is finished")
	}
	return err
}

func (s *Stream) next(member string) error {
	switch {
	case s.err != nil:
		return s.err
	case member == "" || len(member) > maxName || member == ManifestMember || strings.ContainsAny(member, `/\`):
		return fmt.Errorf("recording: %q cannot be a member's name", member)
	case s.names[member]:
		return fmt.Errorf("recording: a second member %q", member)
	case len(s.names) >= maxMembers-2: // both manifests count as well
		return fmt.Errorf("recording: more than %d members", maxMembers-2)
	}
	if s.z == nil {
		s.begin()
	}
	s.names[member] = true
	return nil
}

// fail keeps the first error that left the stream broken.
func (s *Stream) fail(err error) error {
	if s.err == nil {
		s.err = err
	}
	return err
}

type streamMember struct {
	s *Stream
	w io.Writer
}

func (m *streamMember) Write(p []byte) (int, error) {
	if m.s.err != nil {
		return 0, m.s.err
	}
	n, err := m.w.Write(p)
	if err == nil {
		err = m.s.z.Flush()
	}
	return n, m.s.fail(err)
}

// A counter counts what was written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
