// Command subtitledesk makes the subtitles of films.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"subtitledesk/internal/desk"
	"subtitledesk/internal/reel"
	"subtitledesk/internal/speech"
	"subtitledesk/internal/track"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to work")
	ahead := flag.Int("ahead", 128, "scenes ahead")
	workers := flag.Int("workers", 8, "scenes recognised at the same time")
	flag.Parse()

	d := &desk.Desk{
		Recogniser: &speech.Recogniser{Base: 4 * time.Millisecond, Dialect: 45 * time.Millisecond},
		Workers:    *workers,
		Ahead:      *ahead,
	}
	rng := rand.New(rand.NewPCG(12, 24))
	films := make([][]reel.Scene, 4)
	for i := range films {
		films[i] = reel.Film(rng, i, i*3000, 900)
	}
	end := time.Now().Add(*dur)
	cues, shown := 0, 0
	var last []byte
	for time.Now().Before(end) {
		w := track.New()
		d.Run(films[shown%len(films)], w, end)
		var n int
		n, last = w.Cues()
		cues += n
		shown++
	}
	fmt.Printf("operations: %d\n", d.Scenes)
	fmt.Printf("%d films begun, %d cues, last track %x\n", shown, cues, last[:6])
}
