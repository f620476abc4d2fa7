package runs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
)

const (
	// partBegin begins the name of what is here of a recording that is not whole; the
	// rest of the name is that of the recording.
	partBegin = "part-"
	// partAge is after how long nobody goes on with an upload.
	partAge = 24 * time.Hour
	// mostParts are kept, for even empty ones have a file.
	mostParts = 256
)

// Errors of uploads in parts, besides those of [Store.Add].
var (
	ErrID   = errors.New("the name of an upload is the SHA-256 of the recording, as 64 hexadecimal digits")
	ErrBusy = errors.New("the recording is being sent already")
	ErrFull = errors.New("there is no room for another upload")
	ErrHash = errors.New("what came has another SHA-256: send it again from its beginning")
)

// An OffsetError says where an upload goes on.
type OffsetError struct{ Have int64 }

func (e *OffsetError) Error() string { return fmt.Sprintf("the upload goes on at byte %d", e.Have) }

// An Upload is a piece of a recording.
type Upload struct {
	Offset, Total int64 // in bytes: where the piece begins, and what all have together
	// About is as of [Store.Add], and has the ID.
	About api.Recording
}

// A Progress is how far an upload is.
type Progress struct {
	Have int64
	Run  *api.Recording // when it is whole
	Old  bool           // it was here before
}

// A part is what is here of a recording.
type part struct {
	size    int64
	total   int64 // while it is busy: its room is taken
	changed time.Time
	busy    bool
}

var idForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Offset returns how far the upload of a recording is.
func (s *Store) Offset(tenant, id string) Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := api.Recording{Tenant: tenant, ID: id}
	if r := s.runs[key{tenant, id}]; r != nil {
		run := *r
		return Progress{run.Bytes, &run, true}
	}
	if p := s.parts[stem(&about)]; p != nil {
		return Progress{Have: p.size}
	}
	return Progress{}
}

// Resume appends a piece to what is here of a recording, and keeps the recording when it
// is whole: then its hash must be its ID. What came of a piece that breaks off is kept.
// The error is [OffsetError], one of those above or of [Store.Add], or what the reader
// said.
func (s *Store) Resume(in io.Reader, u Upload) (Progress, error) {
	p, err := s.reserve(u)
	if err != nil || p == nil {
		return s.Offset(u.About.Tenant, u.About.ID), err
	}
	path := s.part(stem(&u.About))
	size, err := extend(path, in, u.Total-u.Offset)
	if err == nil && size == u.Total {
		return s.complete(path, p, u)
	}
	s.release(p, size)
	return Progress{Have: size}, err
}

// reserve takes an upload for one caller. It is nil where the recording is whole.
func (s *Store) reserve(u Upload) (*part, error) {
	switch {
	case !idForm.MatchString(u.About.ID):
		return nil, ErrID
	case u.Total > s.options.Most:
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrLong, s.options.Most)
	case u.Offset < 0 || u.Total < u.Offset:
		return nil, fmt.Errorf("%w: a piece begins within it", ErrFormat)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.runs[key{u.About.Tenant, u.About.ID}] != nil {
		return nil, nil
	}
	base := stem(&u.About)
	p := s.parts[base]
	if p != nil && !p.busy && p.size > u.Total { // whatever it is, it is not this recording
		s.dropPart(base)
		p = s.parts[base]
	}
	have := int64(0)
	if p != nil {
		have = p.size
	}
	switch {
	case p != nil && p.busy:
		return nil, ErrBusy
	case have != u.Offset:
		return nil, &OffsetError{have}
	case !s.room(base, u.Total):
		return nil, ErrFull
	}
	if p == nil {
		p = &part{}
		s.parts[base] = p
	}
	p.busy, p.total = true, u.Total
	return p, nil
}

// room drops uploads that nobody goes on with, the oldest first, until there is room for
// one. The lock is held.
func (s *Store) room(base string, total int64) bool {
	sum, n := total, 1
	var idle []string
	for name, p := range s.parts {
		if name == base {
			continue
		}
		n++
		sum += max(p.size, p.total)
		if !p.busy {
			idle = append(idle, name)
		}
	}
	slices.SortFunc(idle, func(a, b string) int {
		return cmp.Or(s.parts[a].changed.Compare(s.parts[b].changed), cmp.Compare(a, b))
	})
	for _, name := range idle {
		if sum <= s.options.Parts && n <= mostParts {
			break
		}
		sum, n = sum-s.parts[name].size, n-1
		s.dropPart(name)
	}
	return sum <= s.options.Parts && n <= mostParts
}

// dropPart removes what is here of a recording. The lock is held.
func (s *Store) dropPart(base string) {
	if err := os.Remove(s.part(base)); err == nil || errors.Is(err, os.ErrNotExist) {
		delete(s.parts, base)
	}
}

// release ends what reserve began.
func (s *Store) release(p *part, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.busy, p.total, p.size, p.changed = false, 0, size, s.now()
}

// extend appends to a file, a number of bytes at most, and says how many it has. What a
// process wrote that was killed is a part of it.
func extend(path string, in io.Reader, most int64) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = io.Copy(f, io.LimitReader(in, most))
		if err == nil {
			if n, _ := io.ReadFull(in, make([]byte, 1)); n > 0 {
				err = fmt.Errorf("%w: a piece is longer than what was left", ErrFormat)
			}
		}
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if info, serr := os.Stat(path); serr == nil {
		size = info.Size()
	}
	return size, err
}

// complete makes a run of an upload of which all bytes are here.
func (s *Store) complete(path string, p *part, u Upload) (Progress, error) {
	run, err := s.whole(path, u)
	old := false
	if err == nil {
		run, old, err = s.keep(path, run)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.busy, p.total, p.size, p.changed = false, 0, u.Total, s.now()
	if err == nil || errors.Is(err, ErrHash) || errors.Is(err, ErrFormat) {
		s.dropPart(stem(&u.About)) // it has another name, or is of no use
	}
	if err != nil {
		return Progress{}, err
	}
	return Progress{u.Total, &run, old}, nil
}

// whole checks an upload, and describes it.
func (s *Store) whole(path string, u Upload) (run api.Recording, err error) {
	f, err := os.Open(path)
	if err != nil {
		return run, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return run, err
	}
	if hex.EncodeToString(h.Sum(nil)) != u.About.ID {
		return run, ErrHash
	}
	if run, err = describe(path, u.About); err == nil {
		run.ID, run.Bytes = u.About.ID, u.Total
	}
	return run, err
}

// readPart notes a part that is in the directory when the store is opened, and removes
// that of a recording which is whole.
func (s *Store) readPart(name string, here map[string]bool) error {
	base := strings.TrimPrefix(name, partBegin)
	if !baseForm.MatchString(base) {
		return nil // not ours
	}
	if here[base+recordingEnd] {
		return os.Remove(filepath.Join(s.dir, name))
	}
	info, err := os.Stat(filepath.Join(s.dir, name))
	if err == nil {
		s.parts[base] = &part{size: info.Size(), changed: info.ModTime()}
	}
	return err
}

// sweepParts drops uploads that nobody goes on with. The lock is held.
func (s *Store) sweepParts() {
	for _, base := range slices.Collect(maps.Keys(s.parts)) {
		if p := s.parts[base]; !p.busy && s.now().Sub(p.changed) > partAge {
			s.dropPart(base)
		}
	}
}

func (s *Store) part(base string) string { return filepath.Join(s.dir, partBegin+base) }
