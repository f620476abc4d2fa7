// Package feed reads the operations that the departments announce.
package feed

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Case is one announced operation.
type Case struct {
	Patient string
	Theatre string
	Start   string
	Minutes int
	Urgency int
	Surgeon string
}

// Layout is how the departments write times.
const Layout = "02 Jan 2006 15:04 -0700"

// Make returns the feed of one day as text.
func Make(r *rand.Rand, day time.Time, n int) []byte {
	var b bytes.Buffer
	for range n {
		at := day.Add(time.Duration(r.IntN(14*60)) * time.Minute)
		if r.IntN(3) == 0 {
			at = at.In(time.FixedZone("", 2*3600))
		}
		fmt.Fprintf(&b, "pat-%06d|T%02d|%s|%d|%d|dr. %c%c\n", r.IntN(1e6), 1+r.IntN(12),
			at.Format(Layout), 20+r.IntN(200), r.IntN(4), 'A'+rune(r.IntN(26)), 'A'+rune(r.IntN(26)))
	}
	return b.Bytes()
}

// Parse reads a feed.
func Parse(text []byte) ([]Case, error) {
	cases := make([]Case, 0, 256)
	sc := bufio.NewScanner(bytes.NewReader(text))
	for line := 1; sc.Scan(); line++ {
		f := strings.Split(sc.Text(), "|")
		if len(f) != 6 {
			return nil, fmt.Errorf("line %d: %d fields", line, len(f))
		}
		min, err := strconv.Atoi(f[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		urg, err := strconv.Atoi(f[4])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		cases = append(cases, Case{Patient: f[0], Theatre: f[1], Start: f[2], Minutes: min, Urgency: urg, Surgeon: f[5]})
	}
	return cases, sc.Err()
}
