// Package table writes and reads sorted files of keys, block by block.
package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"sort"

	"revocations/internal/bloom"
)

const blockSize = 4 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An Entry is a key and when it was written, in seconds.
type Entry struct {
	Key  uint64
	Time uint64
}

// Options say how tables are made.
type Options struct {
	FilterKeys int // keys that a filter is laid out for; 0 takes those of the table
	FilterBits int // bits for each key
}

// A Table is a sorted file whose first keys of blocks and filter are in memory.
type Table struct {
	file   *os.File
	firsts []uint64
	filter *bloom.Filter
	count  int
}

// Hash spreads the bits of a key.
func Hash(key uint64) uint64 {
	key ^= key >> 33
	key *= 0xff51afd7ed558ccd
	key ^= key >> 33
	key *= 0xc4ceb9fe1a85ec53
	return key ^ key>>33
}

// Write makes a table of sorted entries.
func Write(path string, entries []Entry, o Options) (*Table, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	keys := o.FilterKeys
	if keys == 0 {
		keys = len(entries)
	}
	t := &Table{file: f, filter: bloom.New(keys, o.FilterBits), count: len(entries)}
	w := bufio.NewWriterSize(f, 64<<10)
	const perBlock = (blockSize - 8) / 16
	for len(entries) > 0 {
		n := min(perBlock, len(entries))
		var block [blockSize]byte
		binary.LittleEndian.PutUint32(block[4:], uint32(n))
		for i, e := range entries[:n] {
			binary.LittleEndian.PutUint64(block[8+16*i:], e.Key)
			binary.LittleEndian.PutUint64(block[16+16*i:], e.Time)
			t.filter.Add(Hash(e.Key))
		}
		binary.LittleEndian.PutUint32(block[:], crc32.Checksum(block[4:], castagnoli))
		t.firsts = append(t.firsts, entries[0].Key)
		if _, err := w.Write(block[:]); err != nil {
			return nil, err
		}
		entries = entries[n:]
	}
	return t, w.Flush()
}

// block reads a block and checks its sum.
func (t *Table) block(i int, buf *[blockSize]byte) (int, error) {
	if _, err := t.file.ReadAt(buf[:], int64(i)*blockSize); err != nil {
		return 0, err
	}
	if crc32.Checksum(buf[4:], castagnoli) != binary.LittleEndian.Uint32(buf[:]) {
		return 0, errors.New("table: block does not match its checksum")
	}
	return int(binary.LittleEndian.Uint32(buf[4:])), nil
}

// Get returns the time of a key.
func (t *Table) Get(key, hash uint64) (uint64, bool, error) {
	if !t.filter.Has(hash) {
		return 0, false, nil
	}
	at := sort.Search(len(t.firsts), func(i int) bool { return t.firsts[i] > key }) - 1
	if at < 0 {
		return 0, false, nil
	}
	var buf [blockSize]byte
	n, err := t.block(at, &buf)
	if err != nil {
		return 0, false, err
	}
	i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint64(buf[8+16*i:]) >= key })
	if i == n || binary.LittleEndian.Uint64(buf[8+16*i:]) != key {
		return 0, false, nil
	}
	return binary.LittleEndian.Uint64(buf[16+16*i:]), true, nil
}

// All returns the entries of the table.
func (t *Table) All() ([]Entry, error) {
	out := make([]Entry, 0, t.count)
	var buf [blockSize]byte
	for b := range t.firsts {
		n, err := t.block(b, &buf)
		if err != nil {
			return nil, err
		}
		for i := range n {
			out = append(out, Entry{binary.LittleEndian.Uint64(buf[8+16*i:]), binary.LittleEndian.Uint64(buf[16+16*i:])})
		}
	}
	return out, nil
}

// Remove closes the table and removes its file.
func (t *Table) Remove() error {
	return errors.Join(t.file.Close(), os.Remove(t.file.Name()))
}
