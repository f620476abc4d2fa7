// Package agent stands for the agents in branch offices, which are asked for what they measured.
package agent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// A Fleet is the agents of all offices.
type Fleet struct {
	mu    sync.Mutex
	rnd   *rand.Rand
	sites int
	next  int
}

// NewFleet returns agents of a number of offices.
func NewFleet(sites int) *Fleet {
	return &Fleet{rnd: rand.New(rand.NewPCG(23, 29)), sites: sites}
}

// Poll returns what the next agent says: its site in a line, and a line for each probe.
func (f *Fleet) Poll() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	site := f.next % f.sites
	f.next++
	fmt.Fprintf(&b, "site branch-%03d\n", site)
	for probe := range 30 {
		link := [...]string{"fibre", "lte", "dsl"}[probe%3]
		kind := [...]string{"icmp", "dns", "tls", "http"}[probe%4]
		ms := 4 * math.Exp(f.rnd.NormFloat64()*0.8) * float64(1+probe%3) * float64(1+site%7)
		b.WriteString(link)
		b.WriteByte(' ')
		b.WriteString(kind)
		b.WriteByte(' ')
		if f.rnd.IntN(50) == 0 {
			b.WriteString("lost\n")
			continue
		}
		b.WriteString(strconv.FormatFloat(ms, 'f', 2, 64))
		b.WriteByte('\n')
	}
	return b.String()
}
