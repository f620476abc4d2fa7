// Camerawall watches the cameras of a site and puts together the picture of a guard's wall.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"camerawall/internal/camera"
	"camerawall/internal/frame"
	"camerawall/internal/wall"
)

func main() {
	cameras := flag.Int("cameras", 24, "cameras of the site")
	rate := flag.Int("rate", 60, "pictures that each camera takes in a second")
	last := flag.Duration("for", 6*time.Second, "how long to watch")
	spare := flag.Int("spare", 32, "spare buffers of each size")
	surplus := flag.String("surplus", "queue", "what becomes of a buffer when there are enough spare ones: queue or discard")
	flag.Parse()

	policy, err := frame.ParsePolicy(*surplus)
	if err != nil {
		fmt.Fprintln(os.Stderr, "camerawall:", err)
		os.Exit(2)
	}
	store := frame.NewStore(*spare, policy)
	site := camera.NewSite(*cameras, camera.Day)
	w := wall.New(store, *cameras)

	begin := time.Now()
	every := time.Second / time.Duration(*rate)
	tick := time.NewTicker(every)
	defer tick.Stop()
	dusk := begin.Add(*last / 5)
	for now := range tick.C {
		if now.Sub(begin) > *last {
			break
		}
		if now.After(dusk) && site.Mode() == camera.Day {
			site.Switch(camera.Night)
		}
		for c := range *cameras {
			w.Show(site.Take(c, store))
		}
		w.Compose()
	}
	fmt.Println("alarms:", w.Alarms())
	fmt.Printf("operations: %d\n", w.Shown())
}
