// Package follow reads what is appended to the logs of a folder, through their
// rotation.
package follow

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

type fileID struct{ dev, ino uint64 }

// source is a log that is being read, whatever its name is by now.
type source struct {
	file *os.File
	rest []byte
	seen int
}

// Set is the logs that match a pattern.
type Set struct {
	pattern string
	forget  bool
	sources map[fileID]*source
	round   int
	chunk   []byte
}

// New makes a set for the logs that match the pattern.
func New(pattern string, forget bool) *Set {
	return &Set{pattern: pattern, forget: forget, sources: make(map[fileID]*source), chunk: make([]byte, 16<<10)}
}

// Poll hands every new line of every log to line.
func (s *Set) Poll(line func(log string, text []byte)) error {
	names, err := filepath.Glob(s.pattern)
	if err != nil {
		return err
	}
	s.round++
	for _, name := range names {
		src, err := s.source(name)
		if os.IsNotExist(err) {
			continue // rotated in the meantime
		}
		if err != nil {
			return err
		}
		src.seen = s.round
		if err := s.read(src, name, line); err != nil {
			return err
		}
	}
	if s.forget {
		for id, src := range s.sources {
			if s.round-src.seen < 3 {
				continue
			}
			s.read(src, "", line)
			src.file.Close()
			delete(s.sources, id)
		}
	}
	return nil
}

// source finds the source behind a name; a log that was renamed goes on where
// it was.
func (s *Set) source(name string) (*source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	st := info.Sys().(*syscall.Stat_t)
	if src, ok := s.sources[fileID{st.Dev, st.Ino}]; ok {
		return src, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, err
	}
	st = info.Sys().(*syscall.Stat_t)
	id := fileID{st.Dev, st.Ino}
	if src, ok := s.sources[id]; ok {
		f.Close()
		return src, nil
	}
	src := &source{file: f}
	s.sources[id] = src
	return src, nil
}

func (s *Set) read(src *source, name string, line func(string, []byte)) error {
	for {
		n, err := src.file.Read(s.chunk)
		text := append(src.rest, s.chunk[:n]...)
		for {
			at := bytes.IndexByte(text, '\n')
			if at < 0 {
				break
			}
			line(name, text[:at])
			text = text[at+1:]
		}
		src.rest = append(src.rest[:0], text...)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Close ends the reading of all logs.
func (s *Set) Close() {
	for _, src := range s.sources {
		src.file.Close()
	}
}
