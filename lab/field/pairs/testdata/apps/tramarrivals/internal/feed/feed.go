// Package feed reads the positions that trams report.
package feed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Position is one report of a tram.
type Position struct {
	Line  int
	Tram  int
	Metre int
	Delay int // seconds
	At    time.Time
}

var errReport = errors.New("feed: malformed report")

// Parse reads a report of the form "$TRM,line,tram,metre,delay*sum".
func Parse(s string) (Position, error) {
	var p Position
	body, sum, ok := strings.Cut(s, "*")
	if !ok || !strings.HasPrefix(body, "$TRM,") {
		return p, errReport
	}
	var x byte
	for i := 1; i < len(body); i++ {
		x ^= body[i]
	}
	want, err := strconv.ParseUint(sum, 16, 8)
	if err != nil || byte(want) != x {
		return p, errReport
	}
	f := strings.Split(body[5:], ",")
	if len(f) != 4 {
		return p, errReport
	}
	for i, dst := range []*int{&p.Line, &p.Tram, &p.Metre, &p.Delay} {
		if *dst, err = strconv.Atoi(f[i]); err != nil {
			return p, fmt.Errorf("feed: field %d: %w", i, err)
		}
	}
	p.At = time.Now()
	return p, nil
}

// Report makes the text that a tram sends.
func Report(rng *rand.Rand, line int) string {
	body := fmt.Sprintf("$TRM,%d,%d,%d,%d", line, rng.IntN(24), rng.IntN(18000), rng.IntN(400)-60)
	var x byte
	for i := 1; i < len(body); i++ {
		x ^= body[i]
	}
	return fmt.Sprintf("%s*%02X", body, x)
}
