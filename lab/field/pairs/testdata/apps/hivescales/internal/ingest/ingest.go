// Package ingest moves weighings from spools into the trend.
package ingest

import (
	"hash/crc64"
	"path/filepath"

	"hivescales/internal/cursor"
	"hivescales/internal/spool"
	"hivescales/internal/weighing"
)

var table = crc64.MakeTable(crc64.ECMA)

// Ingest reads spools.
type Ingest struct {
	Trend  *weighing.Trend
	Cursor *cursor.Store
	Step   int

	Lines  int
	Swarms int
	Digest uint64
}

// File takes in the rest of a spool.
func (in *Ingest) File(path string) error {
	name := filepath.Base(path)
	r, err := spool.Open(path, in.Cursor.Get(name))
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		lines, err := r.Chunk(512)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			in.Cursor.Forget(name)
			return nil
		}
		for i, l := range lines {
			in.line(l)
			if (i+1)%in.Step == 0 || i == len(lines)-1 {
				if err := in.Cursor.Advance(name, l.End); err != nil {
					return err
				}
			}
		}
	}
}

func (in *Ingest) line(l spool.Line) {
	in.Lines++
	w, err := weighing.Parse(l.Text)
	if err != nil {
		return
	}
	in.Digest = crc64.Update(in.Digest, table, []byte(l.Text))
	if in.Trend.Add(w) {
		in.Swarms++
	}
}
