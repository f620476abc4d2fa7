// Package report writes findings for the editors.
package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"

	"statutelint/internal/check"
	"statutelint/internal/source"
)

type entry struct {
	File     string          `json:"file"`
	Digest   []byte          `json:"digest"`
	Findings []check.Finding `json:"findings"`
}

// Writer packs reports.
type Writer struct {
	z   *gzip.Writer
	buf bytes.Buffer
}

// NewWriter returns a writer of packed reports.
func NewWriter(w io.Writer) *Writer { return &Writer{z: gzip.NewWriter(w)} }

// Write adds the report of a text.
func (w *Writer) Write(t *source.Text, digest []byte, fs []check.Finding) error {
	w.buf.Reset()
	if err := json.NewEncoder(&w.buf).Encode(entry{t.Name, digest, fs}); err != nil {
		return err
	}
	_, err := w.z.Write(w.buf.Bytes())
	return err
}

// Close ends the packing.
func (w *Writer) Close() error { return w.z.Close() }
