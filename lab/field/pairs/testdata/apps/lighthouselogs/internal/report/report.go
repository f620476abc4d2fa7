// Package report reads the keepers' reports.
package report

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Report is one line of a keeper.
type Report struct {
	Light string
	Seq   int
	Lamp  float64
	Fog   int
	Note  string
}

// Lines makes n reports.
func Lines(seed uint64, n int) []string {
	rnd := rand.New(rand.NewPCG(seed, 2))
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s-%03d,%d,%.2f,%d,wind %d sea %d", region(rnd), rnd.IntN(240), i, 80+rnd.Float64()*20, rnd.IntN(12), rnd.IntN(12), rnd.IntN(9))
	}
	return out
}

func region(rnd *rand.Rand) string {
	switch n := rnd.IntN(100); {
	case n < 86:
		return "NORDLAND"
	case n < 95:
		return "TROMS"
	}
	return "SVALBARD"
}

// Parse reads a line.
func Parse(line string) (*Report, error) {
	f := strings.SplitN(line, ",", 5)
	if len(f) != 5 {
		return nil, fmt.Errorf("report: %q", line)
	}
	r := &Report{Light: f[0], Note: f[4]}
	var err error
	if r.Seq, err = strconv.Atoi(f[1]); err != nil {
		return nil, err
	}
	if r.Lamp, err = strconv.ParseFloat(f[2], 64); err != nil {
		return nil, err
	}
	r.Fog, err = strconv.Atoi(f[3])
	return r, err
}
