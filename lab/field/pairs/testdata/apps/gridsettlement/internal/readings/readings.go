// Package readings has the meter files of the plants.
package readings

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Reading is the energy of a plant in a block.
type Reading struct {
	Area, Plant string
	At          time.Time
	Planned     float64
	Metered     float64
}

// Each calls f for each line of a file.
func Each(file []byte, f func(Reading)) error {
	sc := bufio.NewScanner(bytes.NewReader(file))
	for n := 1; sc.Scan(); n++ {
		r, err := parse(sc.Text())
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		f(r)
	}
	return sc.Err()
}

func parse(line string) (r Reading, err error) {
	parts := strings.Split(line, ",")
	if len(parts) != 5 {
		return r, fmt.Errorf("%d fields", len(parts))
	}
	r.Area, r.Plant = parts[0], parts[1]
	if r.At, err = time.Parse(time.RFC3339, parts[2]); err != nil {
		return r, err
	}
	if r.Planned, err = strconv.ParseFloat(parts[3], 64); err != nil {
		return r, err
	}
	r.Metered, err = strconv.ParseFloat(parts[4], 64)
	return r, err
}

// File makes the file of a day for some plants of one area.
func File(area string, day time.Time, plants int, rnd *rand.Rand) []byte {
	var b bytes.Buffer
	for p := range plants {
		for s := range 96 {
			plan := 20 + rnd.Float64()*60
			fmt.Fprintf(&b, "%s,%s%02d,%s,%.3f,%.3f\n", area, area, p,
				day.Add(time.Duration(s)*15*time.Minute).Format(time.RFC3339), plan, plan*(0.85+rnd.Float64()*0.3))
		}
	}
	return b.Bytes()
}
