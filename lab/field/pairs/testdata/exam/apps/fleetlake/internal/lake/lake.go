// Package lake writes tables of columnar files.
package lake

import (
	"fmt"
	"os"
	"path/filepath"
)

// A Partition is where rows lie.
type Partition struct{ Region, Day string }

func (p Partition) dir() string { return filepath.Join("region="+p.Region, "day="+p.Day) }

// A Row is a reading in columns.
type Row struct{ Vehicle, At, Speed, Fuel, Driven int64 }

// A Roll is when a file ends, besides being full.
type Roll string

// The rolls.
const (
	OnChange Roll = "change" // when rows of another partition come
	OnRows   Roll = "rows"   // when it is full
)

// A Layout is how files are written.
type Layout struct {
	Rows int // of a file
	Roll Roll
}

// Stats are what was written.
type Stats struct{ Partitions, Rows, Files, Bytes int }

// A Table writes rows into the files of their partitions.
type Table struct {
	dir     string
	layout  Layout
	open    map[Partition]*block
	current Partition
	seen    map[Partition]int // files
	enc     encoder
	stats   Stats
}

// Open returns a table in a directory.
func Open(dir string, l Layout) (*Table, error) {
	if l.Roll != OnChange && l.Roll != OnRows {
		return nil, fmt.Errorf("roll %q: want %s or %s", l.Roll, OnChange, OnRows)
	}
	return &Table{dir: dir, layout: l, open: map[Partition]*block{}, seen: map[Partition]int{}}, nil
}

// Write adds a row to a partition.
func (t *Table) Write(p Partition, r Row) error {
	if t.layout.Roll == OnChange && p != t.current {
		if err := t.finish(t.current); err != nil {
			return err
		}
	}
	t.current = p
	b := t.open[p]
	if b == nil {
		b = &block{}
		t.open[p] = b
	}
	b.add(r)
	if b.rows() >= t.layout.Rows {
		return t.finish(p)
	}
	return nil
}

// finish writes what is there of a partition as a file.
func (t *Table) finish(p Partition) error {
	b := t.open[p]
	if b == nil || b.rows() == 0 {
		return nil
	}
	data, err := t.enc.encode(b)
	if err != nil {
		return err
	}
	dir := filepath.Join(t.dir, p.dir())
	if t.seen[p] == 0 {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		t.stats.Partitions++
	}
	name := filepath.Join(dir, fmt.Sprintf("part-%05d.col", t.seen[p]))
	if err := commit(name, data); err != nil {
		return err
	}
	t.seen[p]++
	t.stats.Files++
	t.stats.Rows += b.rows()
	t.stats.Bytes += len(data)
	b.reset()
	return nil
}

// commit writes a file under another name, and renames it.
func commit(name string, data []byte) error {
	f, err := os.Create(name + ".tmp")
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}

// Close writes what is left.
func (t *Table) Close() error {
	for p := range t.open {
		if err := t.finish(p); err != nil {
			return err
		}
	}
	return nil
}

// Stats returns what was written.
func (t *Table) Stats() Stats { return t.stats }
