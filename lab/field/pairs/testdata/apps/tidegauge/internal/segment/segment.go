// Package segment stores readings in files of limited length.
package segment

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
)

const (
	perSegment = 50000
	keep       = 3
)

type sealed struct {
	path  string
	crc   uint32
	bytes int64
}

// Log is the store of one station.
type Log struct {
	dir, name string
	v2        bool
	seq       int
	f         *os.File
	w         *bufio.Writer
	n         int
	last      int64
	scratch   []byte
	live      []sealed
	Removed   int

	mu      sync.Mutex
	readers map[string]*os.File
}

func Open(dir, name string, v2 bool) (*Log, error) {
	l := &Log{dir: dir, name: name, v2: v2, readers: make(map[string]*os.File)}
	return l, l.next()
}

func (l *Log) next() error {
	l.seq++
	f, err := os.Create(filepath.Join(l.dir, fmt.Sprintf("%s-%06d.seg", l.name, l.seq)))
	if err != nil {
		return err
	}
	l.f, l.w, l.n, l.last = f, bufio.NewWriterSize(f, 64<<10), 0, 0
	return nil
}

// Append writes one reading as the difference from the one before.
func (l *Log) Append(level int64) error {
	l.scratch = binary.AppendVarint(l.scratch[:0], level-l.last)
	l.last = level
	if _, err := l.w.Write(l.scratch); err != nil {
		return err
	}
	if l.n++; l.n < perSegment {
		return nil
	}
	return l.roll()
}

func (l *Log) roll() error {
	if err := l.w.Flush(); err != nil {
		return err
	}
	path := l.f.Name()
	if err := l.f.Close(); err != nil {
		return err
	}
	s, err := l.verify(path)
	if err != nil {
		return err
	}
	l.live = append(l.live, s)
	for len(l.live) > keep {
		if err := l.expire(l.live[0]); err != nil {
			return err
		}
		l.live = append(l.live[:0], l.live[1:]...)
	}
	return l.next()
}

func (l *Log) expire(s sealed) error {
	if l.v2 {
		l.mu.Lock()
		if r := l.readers[s.path]; r != nil {
			r.Close()
			delete(l.readers, s.path)
		}
		l.mu.Unlock()
	}
	l.Removed++
	return os.Remove(s.path)
}

func (l *Log) reader(path string) (*os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.readers[path]; ok {
		return r, nil
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l.readers[path] = r
	return r, nil
}

func (l *Log) verify(path string) (sealed, error) {
	r, err := l.reader(path)
	if err != nil {
		return sealed{}, err
	}
	st, err := r.Stat()
	if err != nil {
		return sealed{}, err
	}
	h := crc32.NewIEEE()
	n, err := io.Copy(h, io.NewSectionReader(r, 0, st.Size()))
	return sealed{path, h.Sum32(), n}, err
}

// Recent reads the tail of every stored segment.
func (l *Log) Recent(buf []byte) (int, error) {
	total := 0
	for _, s := range l.live {
		r, err := l.reader(s.path)
		if err != nil {
			return total, err
		}
		n, err := r.ReadAt(buf, max(0, s.bytes-int64(len(buf))))
		if err != nil && err != io.EOF {
			return total, err
		}
		total += n
	}
	return total, nil
}

func (l *Log) Close() error { return l.f.Close() }
