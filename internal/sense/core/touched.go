package core

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
)

// A kernel writes memory that nobody touched as a hole of the file, gcore and those who copy
// cores as zeros. So what was resident is known where a file has holes, and else but for pages
// that somebody touched and left zero.

const (
	page = 4 << 10
	// maxLooked bounds what of a file without holes is looked through for zeros: some seconds.
	// What lies behind counts as touched.
	maxLooked = 2 << 30
	lookBytes = 1 << 20
	// holeCost is what finding a hole counts as: it takes a system call.
	holeCost = 256
)

// Of the names that the kernel has for memory without a file.
const (
	stackName = "[stack]"
	vdsoName  = "[vdso]"
)

// A Touched is a piece of memory, and how much of it was touched as far as the core tells.
type Touched struct {
	Segment
	Path  string // of a file, or the kernel's name; empty for what has none
	File  bool
	Bytes uint64
}

// TouchedMemory looks which memory was. All is false where there was too much to look through.
func (f *File) TouchedMemory() (list []Touched, all bool) {
	l := &looker{source: f.source, left: maxLooked, buffer: make([]byte, lookBytes)}
	file, _ := f.source.(*os.File)
	l.holes = file != nil && sparse(file)
	for _, s := range f.Segments {
		t := Touched{Segment: s, Bytes: l.touched(s)}
		if m, ok := f.mapping(s.Start); ok {
			t.Path, t.File = m.Path, true
		} else if f.stack >= s.Start && f.stack < s.End {
			t.Path = stackName
		} else if f.vdso >= s.Start && f.vdso < s.End {
			t.Path = vdsoName
		}
		list = append(list, t)
	}
	return list, l.left > 0
}

// mapping returns what is mapped from a file at an address.
func (f *File) mapping(at uint64) (m Mapping, ok bool) {
	n, _ := slices.BinarySearchFunc(f.Mappings, at, func(m Mapping, at uint64) int {
		if m.End <= at {
			return -1
		}
		return 1
	})
	if n == len(f.Mappings) || f.Mappings[n].Start > at || strings.HasPrefix(f.Mappings[n].Path, "[") {
		return m, false
	}
	return f.Mappings[n], true
}

// A looker looks for pages with something in them.
type looker struct {
	source io.ReaderAt
	holes  bool
	left   int64
	buffer []byte
}

// touched counts the bytes of a segment in pages that are neither holes nor zero.
func (l *looker) touched(s Segment) (n uint64) {
	for at, end := s.offset, s.offset+s.Stored; at < end; {
		from, to := at, end
		if l.holes && l.left > 0 {
			l.left -= holeCost
			from, to = dataAt(l.source.(*os.File), at, end)
			n += to - from
		} else {
			to = min(end, at+uint64(len(l.buffer)))
			n += l.written(from, to)
		}
		if to <= at {
			break
		}
		at = to
	}
	return n
}

// written counts what is in pages that are not zero.
func (l *looker) written(from, to uint64) (n uint64) {
	if l.left -= int64(to - from); l.left <= 0 {
		return to - from
	}
	b := l.buffer[:to-from]
	got, _ := l.source.ReadAt(b, int64(from))
	for b = b[:got]; len(b) > 0; {
		p := b[:min(len(b), page)]
		if !bytes.Equal(p, zeros[:len(p)]) {
			n += uint64(len(p))
		}
		b = b[len(p):]
	}
	return n
}

var zeros [page]byte
