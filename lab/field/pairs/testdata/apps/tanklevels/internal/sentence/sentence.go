// Package sentence reads the sentences of tank gauges, and the blocks that may follow them.
package sentence

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limit is the length of the longest sentence.
const Limit = 512

var (
	// ErrLong says that a sentence did not end.
	ErrLong = errors.New("sentence: too long")
	// ErrSum says that the checksum is wrong.
	ErrSum = errors.New("sentence: bad checksum")
)

// Level is what a gauge says of its tank.
type Level struct {
	Tank    string
	Serial  int
	Milli   int
	Celsius float64
	Density float64
	Curve   []uint16
}

// Reader reads levels from the line of a gauge.
type Reader struct {
	src  io.Reader
	line []byte
}

// NewReader reads from the line, with a size of room for what comes early.
func NewReader(line io.Reader, size int) *Reader {
	if size > 0 {
		line = bufio.NewReaderSize(line, size)
	}
	return &Reader{src: line, line: make([]byte, 0, Limit)}
}

// Next reads the next level. A block belongs to a sentence with a count.
func (r *Reader) Next() (*Level, error) {
	text, err := r.sentence()
	if err != nil {
		return nil, err
	}
	l, points, err := parse(text)
	if err != nil || points == 0 {
		return l, err
	}
	block := make([]byte, 2*points)
	if _, err := io.ReadFull(r.src, block); err != nil {
		return nil, err
	}
	l.Curve = make([]uint16, points)
	for i := range l.Curve {
		l.Curve[i] = binary.BigEndian.Uint16(block[2*i:])
	}
	return l, nil
}

// sentence takes the text up to the end of the line, and nothing of the block behind it.
func (r *Reader) sentence() (string, error) {
	r.line = r.line[:0]
	var c [1]byte
	for len(r.line) < Limit {
		if _, err := io.ReadFull(r.src, c[:]); err != nil {
			return "", err
		}
		if c[0] == '\n' {
			return strings.TrimSuffix(string(r.line), "\r"), nil
		}
		r.line = append(r.line, c[0])
	}
	return "", ErrLong
}

func parse(text string) (*Level, int, error) {
	body, sum, ok := strings.Cut(strings.TrimPrefix(text, "$"), "*")
	if want, err := strconv.ParseUint(sum, 16, 8); !ok || err != nil || byte(want) != Sum(body) {
		return nil, 0, ErrSum
	}
	f := strings.Split(body, ",")
	if len(f) != 7 || f[0] != "TKLVL" {
		return nil, 0, fmt.Errorf("sentence: unknown %q", f[0])
	}
	l := &Level{Tank: f[1]}
	var points int
	var errs [5]error
	l.Serial, errs[0] = strconv.Atoi(f[2])
	l.Milli, errs[1] = strconv.Atoi(f[3])
	l.Celsius, errs[2] = strconv.ParseFloat(f[4], 64)
	l.Density, errs[3] = strconv.ParseFloat(f[5], 64)
	points, errs[4] = strconv.Atoi(f[6])
	return l, points, errors.Join(errs[:]...)
}

// Sum is the checksum of a sentence.
func Sum(body string) (s byte) {
	for i := range len(body) {
		s ^= body[i]
	}
	return s
}
