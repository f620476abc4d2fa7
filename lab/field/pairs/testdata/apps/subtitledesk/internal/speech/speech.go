// Package speech asks the recogniser what is said in a scene.
package speech

import (
	"math"
	"strings"
	"time"

	"subtitledesk/internal/reel"
)

// Recogniser is the service that turns sound into words.
type Recogniser struct {
	Base    time.Duration
	Dialect time.Duration
}

var words = strings.Fields("and the night was long before they came home again with nothing but a lamp bread wine rain over hills")

// Words returns what is said.
func (r *Recogniser) Words(s reel.Scene) []string {
	e := features(s.Sound)
	time.Sleep(r.Base + time.Duration(s.Seconds)*150*time.Microsecond)
	if s.Dialect {
		time.Sleep(r.Dialect)
	}
	out := make([]string, 0, 3*s.Seconds)
	for i := range 3 * s.Seconds {
		out = append(out, words[(int(e)+i*i+s.No)%len(words)])
	}
	return out
}

func features(sound []byte) float64 {
	var re, im, e float64
	for i, b := range sound {
		x := (float64(b) - 112) / 128
		a := float64(i%160) * 2 * math.Pi / 160
		re += x * math.Cos(a)
		im += x * math.Sin(a)
		if i%160 == 159 {
			e += math.Hypot(re, im)
			re, im = 0, 0
		}
	}
	return e
}
