// Package ship packs records into batches for the archive.
package ship

import (
	"bytes"
	"compress/gzip"
	"encoding/json"

	"refinerylogs/internal/parse"
)

// Shipper fills batches.
type Shipper struct {
	Size           int
	Records, Bytes int
	Batches        int
	batch          []parse.Record
	out            bytes.Buffer
}

// Add takes a record and ships the batch when it is full.
func (s *Shipper) Add(r parse.Record) error {
	s.batch = append(s.batch, r)
	if len(s.batch) < s.Size {
		return nil
	}
	return s.Flush()
}

// Flush ships what there is.
func (s *Shipper) Flush() error {
	s.out.Reset()
	zw := gzip.NewWriter(&s.out)
	if err := json.NewEncoder(zw).Encode(s.batch); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return err
	}
	s.Records += len(s.batch)
	s.Bytes += s.out.Len()
	s.Batches++
	s.batch = s.batch[:0]
	return nil
}
