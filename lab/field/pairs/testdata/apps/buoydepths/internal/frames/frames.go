// Package frames reads the text frames that buoys send.
package frames

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Reading is one sample of one sensor chain.
type Reading struct {
	Buoy        string
	Seq         int
	Depth       float64
	Temperature float64
	Salinity    float64
	Density     float64
}

var errChecksum = errors.New("frames: checksum does not match")

// Parse reads a frame: a header, one line per sensor and a checksum line.
func Parse(frame string) ([]Reading, error) {
	cut := strings.LastIndex(frame, "\n*")
	if cut < 0 {
		return nil, errors.New("frames: no checksum line")
	}
	want, err := strconv.ParseUint(strings.TrimSpace(frame[cut+2:]), 16, 32)
	if err != nil {
		return nil, fmt.Errorf("frames: checksum: %w", err)
	}
	if crc32.ChecksumIEEE([]byte(frame[:cut])) != uint32(want) {
		return nil, errChecksum
	}
	header, body, ok := strings.Cut(frame[:cut], "\n")
	if !ok {
		return nil, errors.New("frames: no sensors")
	}
	id, seqText, _ := strings.Cut(header, "#")
	seq, err := strconv.Atoi(seqText)
	if err != nil {
		return nil, fmt.Errorf("frames: sequence: %w", err)
	}
	id = strings.Clone(id)
	out := make([]Reading, 0, 32)
	for line := range strings.SplitSeq(body, "\n") {
		r := Reading{Buoy: id, Seq: seq}
		d, rest, _ := strings.Cut(line, ";")
		t, s, _ := strings.Cut(rest, ";")
		if r.Depth, err = number(d); err != nil {
			return nil, err
		}
		if r.Temperature, err = number(t); err != nil {
			return nil, err
		}
		if r.Salinity, err = number(s); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// number reads a field; a sensor that did not answer sends dashes.
func number(s string) (float64, error) {
	if s == "---" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(s, 64)
}

// Source makes frames as the receiver station hands them on.
type Source struct {
	rnd   *rand.Rand
	buoys int
	seq   int
	buf   []byte
}

func NewSource(seed uint64, buoys int) *Source {
	return &Source{rnd: rand.New(rand.NewPCG(seed, 77)), buoys: buoys}
}

func (s *Source) Next() string {
	s.seq++
	b := s.buf[:0]
	b = fmt.Appendf(b, "BY%04d#%d", s.rnd.IntN(s.buoys), s.seq)
	for i := range 24 {
		b = append(b, '\n')
		if s.rnd.IntN(36) == 0 {
			b = append(b, "---"...)
		} else {
			b = strconv.AppendFloat(b, float64(i)*2.5+s.rnd.Float64()*0.4, 'f', 2, 64)
		}
		b = append(b, ';')
		b = strconv.AppendFloat(b, 18-float64(i)*0.3+s.rnd.Float64(), 'f', 3, 64)
		b = append(b, ';')
		b = strconv.AppendFloat(b, 33+s.rnd.Float64(), 'f', 3, 64)
	}
	sum := crc32.ChecksumIEEE(b)
	if s.rnd.IntN(300) == 0 {
		sum++
	}
	b = fmt.Appendf(b, "\n*%08x", sum)
	s.buf = b
	return string(b)
}
