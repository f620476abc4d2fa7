// Command reefcameras takes sightings from reef cameras and stores them.
package main

import (
	"flag"
	"fmt"
	"time"

	"reefcameras/internal/diver"
	"reefcameras/internal/enrich"
	"reefcameras/internal/event"
	"reefcameras/internal/sink"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	edit := flag.Bool("edit", true, "use the edit form of the chain")
	flag.Parse()

	chain := enrich.NewChain([]string{"north wall", "lagoon", "wreck", "outer slope"}, *edit)
	store := sink.New()
	n, failed := diver.Run(20, 100*time.Millisecond, *d, func(m *event.Message) error {
		if err := chain.Apply(m); err != nil {
			return err
		}
		return store.Put(m)
	})
	in, out := store.Close()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("failed: %d, stored: %d KB as %d KB\n", failed, in>>10, out>>10)
}
