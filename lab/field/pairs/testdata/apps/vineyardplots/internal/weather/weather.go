// Package weather reads the stations' reports.
package weather

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Hour is one hour at a station.
type Hour struct {
	Temp, Humidity, Wind, Rain, Sun float64
}

// Report writes a day's report of a station.
func Report(rnd *rand.Rand) string {
	var b strings.Builder
	for h := range 24 {
		fmt.Fprintf(&b, "%d %.1f %.0f %.1f %.1f %.2f\n", h, -2+rnd.Float64()*36, 30+rnd.Float64()*70, rnd.Float64()*60, rnd.Float64()*4, rnd.Float64())
	}
	return b.String()
}

// Read parses a report.
func Read(r io.Reader) ([]Hour, error) {
	out := make([]Hour, 0, 24)
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		var v [6]float64
		i := 0
		for f := range strings.FieldsSeq(sc.Text()) {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return nil, err
			}
			if i < len(v) {
				v[i] = x
			}
			i++
		}
		out = append(out, Hour{v[1], v[2], v[3], v[4], v[5]})
	}
	return out, sc.Err()
}
