// Package station makes and reads the logs of rain gauges.
package station

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Reading is one tip of a gauge.
type Reading struct {
	Station int
	Minute  int
	Micro   int // micrometres of rain
	Flags   uint8
}

// Log makes one day's log of a station.
func Log(rng *rand.Rand, st int) string {
	var b strings.Builder
	m := 0
	for {
		m += 1 + rng.IntN(2)
		if m >= 1440 {
			return b.String()
		}
		fmt.Fprintf(&b, "%04d;%02d:%02d;%d;%x\n", st, m/60, m%60, rng.IntN(900), rng.IntN(16))
	}
}

// ParseLine reads one line of a log.
func ParseLine(s string) (r Reading, err error) {
	st, rest, _ := strings.Cut(s, ";")
	clock, rest, _ := strings.Cut(rest, ";")
	micro, flags, ok := strings.Cut(rest, ";")
	if !ok || len(clock) != 5 {
		return r, fmt.Errorf("station: bad line %q", s)
	}
	if r.Station, err = strconv.Atoi(st); err != nil {
		return r, err
	}
	h, err := strconv.Atoi(clock[:2])
	if err != nil {
		return r, err
	}
	m, err := strconv.Atoi(clock[3:])
	if err != nil {
		return r, err
	}
	r.Minute = h*60 + m
	if r.Micro, err = strconv.Atoi(micro); err != nil {
		return r, err
	}
	f, err := strconv.ParseUint(flags, 16, 8)
	r.Flags = uint8(f)
	return r, err
}
