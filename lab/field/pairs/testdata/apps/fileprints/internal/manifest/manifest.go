// Package manifest writes lists of files with their prints.
package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"fileprints/internal/files"
)

// A Writer writes a list.
type Writer struct {
	Out       io.Writer
	Formatted bool
	line      []byte
	n         int
}

func formatted(sum []byte) string {
	out := ""
	for _, b := range sum {
		out += fmt.Sprintf("%02x", b)
	}
	return out
}

// Add adds a file.
func (w *Writer) Add(f files.File) error {
	sum := sha256.Sum256(f.Content)
	w.line = w.line[:0]
	if w.Formatted {
		w.line = append(w.line, formatted(sum[:])...)
	} else {
		w.line = hex.AppendEncode(w.line, sum[:])
	}
	w.line = append(append(w.line, "  "...), f.Name...)
	w.line = append(w.line, '\n')
	n, err := w.Out.Write(w.line)
	w.n += n
	return err
}

// Bytes is how much was written.
func (w *Writer) Bytes() int { return w.n }
