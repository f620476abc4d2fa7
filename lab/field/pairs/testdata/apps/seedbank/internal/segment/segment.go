// Package segment stores sorted records in immutable files.
package segment

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"slices"
	"sort"
)

const (
	entrySize  = 24
	footerSize = 16
)

// ErrCorrupt is returned for a record whose checksum differs.
var ErrCorrupt = errors.New("segment: corrupt record")

type entry struct {
	Key  uint64
	Off  uint64
	Size uint32
	Sum  uint32
}

// Record is a key with its stored bytes.
type Record struct {
	Key  uint64
	Data []byte
}

// Write makes a segment of the records.
func Write(path string, recs []Record) error {
	slices.SortFunc(recs, func(a, b Record) int { return cmp.Compare(a.Key, b.Key) })
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<16)
	var off uint64
	var index []byte
	for _, r := range recs {
		w.Write(r.Data)
		e := entry{r.Key, off, uint32(len(r.Data)), crc32.ChecksumIEEE(r.Data)}
		index, _ = binary.Append(index, binary.LittleEndian, e)
		off += uint64(len(r.Data))
	}
	w.Write(index)
	foot := binary.LittleEndian.AppendUint64(nil, off)
	foot = binary.LittleEndian.AppendUint64(foot, uint64(len(recs)))
	w.Write(foot)
	return w.Flush()
}

// Segment is an open file of records.
type Segment struct {
	f     *os.File
	base  int64
	count int
	index []entry
}

// Open opens a segment; a resident one holds its index in memory.
func Open(path string, resident bool) (*Segment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var foot [footerSize]byte
	if _, err := f.ReadAt(foot[:], st.Size()-footerSize); err != nil {
		return nil, err
	}
	s := &Segment{f: f, base: int64(binary.LittleEndian.Uint64(foot[:])), count: int(binary.LittleEndian.Uint64(foot[8:]))}
	if resident {
		b := make([]byte, s.count*entrySize)
		if _, err := f.ReadAt(b, s.base); err != nil {
			return nil, err
		}
		s.index = make([]entry, s.count)
		for i := range s.index {
			s.index[i] = parse(b[i*entrySize:])
		}
	}
	return s, nil
}

func parse(b []byte) entry {
	return entry{
		Key:  binary.LittleEndian.Uint64(b),
		Off:  binary.LittleEndian.Uint64(b[8:]),
		Size: binary.LittleEndian.Uint32(b[16:]),
		Sum:  binary.LittleEndian.Uint32(b[20:]),
	}
}

func (s *Segment) entryAt(i int) entry {
	if s.index != nil {
		return s.index[i]
	}
	var b [entrySize]byte
	if _, err := s.f.ReadAt(b[:], s.base+int64(i)*entrySize); err != nil {
		return entry{}
	}
	return parse(b[:])
}

// Get returns the record with the key.
func (s *Segment) Get(key uint64) ([]byte, bool, error) {
	i := sort.Search(s.count, func(i int) bool { return s.entryAt(i).Key >= key })
	if i == s.count {
		return nil, false, nil
	}
	e := s.entryAt(i)
	if e.Key != key {
		return nil, false, nil
	}
	data := make([]byte, e.Size)
	if _, err := s.f.ReadAt(data, int64(e.Off)); err != nil {
		return nil, false, err
	}
	if crc32.ChecksumIEEE(data) != e.Sum {
		return nil, false, ErrCorrupt
	}
	return data, true, nil
}

// Close closes the file.
func (s *Segment) Close() error { return s.f.Close() }
