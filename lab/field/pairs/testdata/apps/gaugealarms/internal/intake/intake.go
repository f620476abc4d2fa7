// Package intake decodes the files of the gauge stations.
package intake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"time"
)

// Reading is one level of one gauge.
type Reading struct {
	Gauge   int
	River   string
	At      time.Time
	Level   int
	Flow    float64
	Trend   int
	Stage   int
	Quality uint8
}

var rivers = [...]string{"Fulda", "Werra", "Leine", "Aller", "Oker", "Innerste", "Eder", "Diemel"}

var errSum = errors.New("intake: wrong sum")

// Decode reads one file: lines of fields, and eight bytes of sum at the end.
func Decode(file []byte) ([]Reading, error) {
	if len(file) < 8 {
		return nil, errors.New("intake: short file")
	}
	text, tail := file[:len(file)-8], file[len(file)-8:]
	h := fnv.New64a()
	h.Write(text)
	if h.Sum64() != binary.BigEndian.Uint64(tail) {
		return nil, errSum
	}
	out := make([]Reading, 0, bytes.Count(text, []byte{'\n'}))
	for line := range bytes.Lines(text) {
		r, err := decodeLine(bytes.TrimSuffix(line, []byte{'\n'}))
		if err != nil {
			return nil, fmt.Errorf("intake: line %d: %w", len(out)+1, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func decodeLine(line []byte) (Reading, error) {
	var r Reading
	var fields [5]int
	n := 0
	for f := range bytes.SplitSeq(line, []byte{','}) {
		if n == len(fields) {
			return r, errors.New("too many fields")
		}
		v, err := strconv.Atoi(string(f))
		if err != nil {
			return r, err
		}
		fields[n] = v
		n++
	}
	if n != len(fields) {
		return r, errors.New("too few fields")
	}
	r.Gauge, r.Level, r.Trend, r.Quality = fields[0], fields[2], fields[3], uint8(fields[4])
	r.River = rivers[r.Gauge%len(rivers)]
	r.At = time.Unix(int64(fields[1]), 0)
	return r, nil
}

// Station makes files as they come from the network of gauges.
type Station struct {
	rnd    *rand.Rand
	gauges int
	clock  int64
}

func NewStation(seed uint64, gauges int) *Station {
	return &Station{rnd: rand.New(rand.NewPCG(seed, 3)), gauges: gauges, clock: 1_700_000_000}
}

// File makes a file with n lines.
func (s *Station) File(n int) []byte {
	out := make([]byte, 0, n*28+8)
	high := s.rnd.IntN(12) == 0
	for i := range n {
		level := 80 + s.rnd.IntN(240)
		if high && i%250 == 90 {
			level += 400
		}
		out = strconv.AppendInt(out, int64(s.rnd.IntN(s.gauges)), 10)
		out = append(out, ',')
		out = strconv.AppendInt(out, s.clock+int64(i), 10)
		out = append(out, ',')
		out = strconv.AppendInt(out, int64(level), 10)
		out = append(out, ',')
		out = strconv.AppendInt(out, int64(s.rnd.IntN(21)-10), 10)
		out = append(out, ',')
		out = strconv.AppendInt(out, int64(s.rnd.IntN(4)), 10)
		out = append(out, '\n')
	}
	s.clock += 3600
	h := fnv.New64a()
	h.Write(out)
	return binary.BigEndian.AppendUint64(out, h.Sum64())
}
