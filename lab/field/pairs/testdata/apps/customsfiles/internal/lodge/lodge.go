// Package lodge checks files and hands them in.
package lodge

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"customsfiles/internal/declare"
	"customsfiles/internal/render"
)

// Options of the office.
type Options struct {
	V2       bool
	MaxBytes int64
}

// Stats of the day.
type Stats struct {
	Lodged, Refused int
	Duty, Bytes     int64
	Last            error
}

// Office takes files.
type Office struct {
	codes *declare.Codes
	opts  Options

	mu    sync.Mutex
	stats Stats
	sums  map[int64][sha256.Size]byte
	order []int64
}

var (
	errSize   = errors.New("lodge: file is larger than the office takes")
	errClosed = errors.New("lodge: goods are not admitted")
)

func NewOffice(codes *declare.Codes, opts Options) *Office {
	return &Office{codes: codes, opts: opts, sums: make(map[int64][sha256.Size]byte)}
}

// Stats returns the numbers so far.
func (o *Office) Stats() Stats {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stats
}

// Lodge renders the declaration and hands it in as a stream.
func (o *Office) Lodge(d *declare.Declaration) {
	pr, pw := io.Pipe()
	go func() {
		pw.CloseWithError(render.Write(pw, d))
	}()
	f := &file{codes: o.codes, sum: sha256.New(), limit: o.opts.MaxBytes}
	err := f.read(pr)
	if o.opts.V2 {
		pr.CloseWithError(err)
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.stats.Refused++
		o.stats.Last = fmt.Errorf("declaration %d: %w", d.Number&0xffff, err)
		return
	}
	o.stats.Lodged++
	o.stats.Duty += f.duty
	o.stats.Bytes += f.size
	o.note(d.Number, f)
}

// note keeps the sums of the last files, for questions.
func (o *Office) note(number int64, f *file) {
	if len(o.order) == 4000 {
		delete(o.sums, o.order[0])
		o.order = append(o.order[:0], o.order[1:]...)
	}
	o.order = append(o.order, number)
	o.sums[number] = [sha256.Size]byte(f.sum.Sum(nil))
}

// file is a declaration as the office reads it.
type file struct {
	codes *declare.Codes
	sum   hash.Hash
	limit int64
	size  int64
	duty  int64
}

func (f *file) read(r io.Reader) error {
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		line := sc.Bytes()
		f.size += int64(len(line)) + 1
		if f.size > f.limit {
			return errSize
		}
		f.sum.Write(line)
		if err := f.position(line); err != nil {
			return err
		}
	}
	return sc.Err()
}

func (f *file) position(line []byte) error {
	_, rest, ok := bytes.Cut(line, []byte(`code="`))
	if !ok {
		return nil
	}
	number, rest, _ := bytes.Cut(rest, []byte(`"`))
	code, ok := f.codes.Find(string(number))
	if !ok || code.Closed {
		return fmt.Errorf("%w: %s", errClosed, number)
	}
	_, rest, _ = bytes.Cut(rest, []byte("<value>"))
	var cents int64
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		cents = cents*10 + int64(c-'0')
	}
	f.duty += cents * int64(code.Permil) / 1000
	return nil
}
