// Package intake takes scans and hands them to the archive.
package intake

import (
	"compress/flate"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"scaninbox/internal/archive"
	"scaninbox/internal/document"
)

// Options are the settings of an intake.
type Options struct {
	Strict bool
}

// Service is the intake.
type Service struct {
	store   *archive.Archive
	opts    Options
	writers sync.Pool

	taken   atomic.Int64
	refused atomic.Int64
}

// New makes an intake.
func New(store *archive.Archive, opts Options) *Service {
	s := &Service{store: store, opts: opts}
	s.writers.New = func() any {
		w, _ := flate.NewWriter(io.Discard, flate.BestSpeed)
		return w
	}
	return s
}

// Take stores one scan.
func (s *Service) Take(scan document.Scan) error {
	body := s.encode(scan)
	err := s.store.Put(scan.ID, body)
	if s.opts.Strict {
		body.CloseWithError(err)
	}
	switch {
	case errors.Is(err, document.ErrTooLarge):
		s.refused.Add(1)
	case err == nil:
		s.taken.Add(1)
	}
	return err
}

// encode returns the scan's compressed form, made while it is read.
func (s *Service) encode(scan document.Scan) *io.PipeReader {
	pr, pw := io.Pipe()
	go func() {
		pw.CloseWithError(s.writePages(pw, scan))
	}()
	return pr
}

func (s *Service) writePages(w io.Writer, scan document.Scan) error {
	zw := s.writers.Get().(*flate.Writer)
	defer s.writers.Put(zw)
	zw.Reset(w)
	var frame []byte
	for _, page := range scan.Pages {
		frame = document.AppendPage(frame[:0], page)
		if _, err := zw.Write(frame); err != nil {
			return err
		}
		if err := zw.Flush(); err != nil {
			return err
		}
	}
	return zw.Close()
}

// Counts returns how many scans were taken and refused.
func (s *Service) Counts() (taken, refused int64) { return s.taken.Load(), s.refused.Load() }
