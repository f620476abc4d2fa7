// Package spool holds the lines that scales under beehives have sent.
package spool

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Write makes a spool file with lines of n weighings and returns its path.
func Write(dir string, day, n int) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("day-%04d.spool", day))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	rnd := rand.New(rand.NewPCG(uint64(day), 5))
	for i := range n {
		fmt.Fprintf(w, "hive=%03d at=%d", rnd.IntN(240), 1700000000+i*30)
		for c := range 96 {
			fmt.Fprintf(w, " c%d=%.3f", c, 0.5+rnd.NormFloat64()*0.02)
		}
		fmt.Fprintln(w)
	}
	return path, w.Flush()
}

// Reader reads lines together with the offset behind them.
type Reader struct {
	f   *os.File
	r   *bufio.Reader
	off int64
}

// Open opens a spool file at an offset.
func Open(path string, off int64) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(off, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return &Reader{f: f, r: bufio.NewReaderSize(f, 1<<16), off: off}, nil
}

// Chunk returns up to n lines; it is empty at the end.
func (r *Reader) Chunk(n int) ([]Line, error) {
	out := make([]Line, 0, n)
	for len(out) < n {
		s, err := r.r.ReadString('\n')
		r.off += int64(len(s))
		if s != "" {
			out = append(out, Line{Text: strings.TrimSuffix(s, "\n"), End: r.off})
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.f.Close() }

// Line is one line of a spool.
type Line struct {
	Text string
	End  int64
}
