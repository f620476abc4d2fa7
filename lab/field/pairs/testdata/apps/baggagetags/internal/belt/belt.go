// Package belt moves bags through the hall and tells the tracker.
package belt

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"time"

	"baggagetags/internal/scan"
	"baggagetags/internal/tracker"
)

// Belt is one conveyor.
type Belt struct {
	No      int
	Tracker *tracker.Tracker
	Rate    int

	Readings int
	Bytes    int
	Bad      int
	serial   int
}

// Run sends bags until the context ends.
func (b *Belt) Run(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	r := rand.New(rand.NewPCG(uint64(b.No), 77))
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			for range b.Rate / 100 {
				b.bag(r)
			}
		}
	}
}

func (b *Belt) bag(r *rand.Rand) {
	b.serial++
	tag := fmt.Sprintf("%02d%08d", b.No, b.serial)
	flight := fmt.Sprintf("NX%d", 100+r.IntN(240))
	label := print(tag, flight)
	m := scan.Message{Tag: tag, Flight: flight, Weight: 5 + r.IntN(25)}
	for i, k := range []scan.Kind{scan.Checked, scan.Sorted, scan.Loaded, scan.Claimed} {
		m.Kind, m.Point = k, fmt.Sprintf("P%d-%d", i, r.IntN(9))
		got, err := scan.Parse(scan.Encode(m))
		if err != nil {
			b.Bad++
			continue
		}
		if k == scan.Loaded {
			if !b.Tracker.OnFlight(flight, tag) {
				b.Bad++
			}
			j, err := b.Tracker.Journey(tag)
			if err != nil {
				b.Bad++
			}
			b.Bytes += len(j)
		}
		if err := b.Tracker.Apply(got, label, time.Now()); err != nil {
			b.Bad++
		}
		b.Readings++
	}
}

// print renders the label of a bag as a small bitmap.
func print(tag, flight string) []byte {
	out := make([]byte, 0, 3072)
	sum := sha256.Sum256([]byte(tag + flight))
	for len(out)+len(sum) <= cap(out) {
		out = append(out, sum[:]...)
		sum = sha256.Sum256(sum[:])
	}
	return out
}
