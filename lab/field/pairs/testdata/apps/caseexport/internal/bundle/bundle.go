// Package bundle writes the papers of a case into one file.
package bundle

import (
	"archive/tar"
	"bufio"
	"io"
	"os"
	"time"
)

// Bundle is a file with papers.
type Bundle struct {
	file *os.File
	room *bufio.Writer
	tar  *tar.Writer
	n    int
	size int64
}

// Create makes a bundle with a size of room for what is not yet written.
func Create(path string, room int) (*Bundle, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	b := &Bundle{file: f}
	var out io.Writer = f
	if room > 0 {
		b.room = bufio.NewWriterSize(f, room)
		out = b.room
	}
	b.tar = tar.NewWriter(out)
	return b, nil
}

// Add adds a paper.
func (b *Bundle) Add(name string, at time.Time, text []byte) error {
	h := &tar.Header{Name: name, Mode: 0o640, Size: int64(len(text)), ModTime: at, Format: tar.FormatUSTAR}
	if err := b.tar.WriteHeader(h); err != nil {
		return err
	}
	b.n++
	b.size += h.Size
	_, err := b.tar.Write(text)
	return err
}

// Close ends the bundle.
func (b *Bundle) Close() (papers int, size int64, err error) {
	err = b.tar.Close()
	if b.room != nil && err == nil {
		err = b.room.Flush()
	}
	if e := b.file.Close(); err == nil {
		err = e
	}
	return b.n, b.size, err
}
