// Package fleet makes the reports of many buoys.
package fleet

import (
	"bytes"
	"fmt"
	"math"
	"math/rand"
)

// Month returns the lines of n buoys for some hours.
func Month(n, hours int) []byte {
	rng := rand.New(rand.NewSource(46))
	var b bytes.Buffer
	const start = 1767225600
	for h := range hours {
		for i := range n {
			lat, lon := 30+float64(i)*0.31, -120-float64(i)*0.17
			storm := 1 + math.Sin(float64(h)/40+float64(i)/9)
			wind := 3 + 7*storm + rng.Float64()*2
			fmt.Fprintf(&b, "BUOY %d %d %.3f %.3f WIND %.1f/%.1f WAVE %.1f/%.1f PRES %.1f WTMP %.1f\n",
				46000+i, start+h*3600+rng.Intn(300), lat+rng.NormFloat64()/400, lon+rng.NormFloat64()/400,
				wind, wind*1.2, 0.6+1.9*storm, 5+rng.Float64()*7, 1018-9*storm+rng.NormFloat64(), 11+rng.Float64())
			if rng.Intn(400) == 0 {
				b.WriteString("BUOY ???? no fix\n")
			}
		}
	}
	return b.Bytes()
}
