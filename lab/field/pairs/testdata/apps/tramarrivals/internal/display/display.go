// Package display drives the panels at the stops, which hang on a radio link.
package display

import (
	"fmt"
	"math/rand/v2"
	"time"

	"tramarrivals/internal/live"
)

// Panel shows the trams of one line.
type Panel struct {
	Shown int
	Bytes int
}

// Run shows what arrives until the channel of the listener is closed.
func (p *Panel) Run(l *live.Listener, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	for pos := range l.C {
		text := fmt.Sprintf("%2d  %3d  %+3d'", pos.Line, pos.Tram, pos.Delay/60)
		p.Bytes += len(text)
		p.Shown++
		air := 900 * time.Microsecond
		if rng.IntN(160) == 0 { // the link is lost and set up again
			air = 60 * time.Millisecond
		}
		time.Sleep(air)
	}
}
