// Package cdr reads call detail records.
package cdr

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"strconv"
	"time"
)

type Record struct {
	ID       uint64
	Caller   string
	Called   string
	Start    time.Time
	Duration time.Duration
}

var ErrFormat = errors.New("not a call record")

// Parse reads a line: id;caller;called;start;seconds.
func Parse(line []byte) (Record, error) {
	var f [5][]byte
	for i := range f {
		part, rest, ok := bytes.Cut(line, []byte{';'})
		if !ok && i < len(f)-1 {
			return Record{}, ErrFormat
		}
		f[i], line = part, rest
	}
	id, err := strconv.ParseUint(string(f[0]), 16, 64)
	if err != nil {
		return Record{}, err
	}
	start, err := time.Parse(time.RFC3339, string(f[3]))
	if err != nil {
		return Record{}, err
	}
	sec, err := strconv.Atoi(string(f[4]))
	if err != nil {
		return Record{}, err
	}
	return Record{ID: id, Caller: string(f[1]), Called: string(f[2]), Start: start, Duration: time.Duration(sec) * time.Second}, nil
}

// Sample makes up the records of a switch.
func Sample(n int, seed int64) [][]byte {
	rng := rand.New(rand.NewSource(seed))
	at := time.Date(2026, 1, 30, 4, 0, 0, 0, time.UTC)
	prefixes := []string{"4930", "4989", "331", "4420", "3906", "4822", "43171", "3120", "9122", "81332", "12125", "61292"}
	out := make([][]byte, n)
	for i := range out {
		at = at.Add(time.Duration(rng.Intn(9000)) * time.Millisecond)
		sec := int(rng.ExpFloat64() * 95)
		if rng.Intn(400) == 0 {
			sec += 3600
		}
		out[i] = fmt.Appendf(nil, "%016x;4915%08d;%s%07d;%s;%d", rng.Uint64(), rng.Intn(30000),
			prefixes[rng.Intn(len(prefixes))], rng.Intn(1e7), at.Format(time.RFC3339), sec)
	}
	return out
}
