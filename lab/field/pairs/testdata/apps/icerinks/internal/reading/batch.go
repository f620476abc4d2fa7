// Package reading holds what the rinks measure.
package reading

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"sync"
)

// Reading is one sensor's value.
type Reading struct {
	Sensor string  `json:"sensor"`
	At     int64   `json:"at"`
	Value  float64 `json:"value"`
}

// Batch is what a rink sends at once.
type Batch struct {
	Rink     string    `json:"rink"`
	Readings []Reading `json:"readings"`
}

var writers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z
}}

// Encode packs a batch.
func Encode(b *Batch) ([]byte, error) {
	var buf bytes.Buffer
	z := writers.Get().(*gzip.Writer)
	defer writers.Put(z)
	z.Reset(&buf)
	if err := json.NewEncoder(z).Encode(b); err != nil {
		return nil, err
	}
	err := z.Close()
	return buf.Bytes(), err
}

// Decode unpacks a batch.
func Decode(r io.Reader) (*Batch, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	b := new(Batch)
	return b, json.NewDecoder(z).Decode(b)
}
