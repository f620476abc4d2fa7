// Arenaserver runs an arena of a game at a steady number of frames a second.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"arenaserver/internal/loop"
	"arenaserver/internal/system"
	"arenaserver/internal/world"
)

func main() {
	fighters := flag.Int("fighters", 80, "fighters in the arena")
	fps := flag.Int("fps", 100, "frames a second")
	pin := flag.Bool("pin-systems", false, "give each system a thread")
	match := flag.Duration("match", 6*time.Second, "how long a match lasts")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), *match)
	defer cancel()
	w := world.New(*fighters, 17)
	systems := []*system.System{
		system.New("movement", system.Movement(w), *pin),
		system.New("sight", system.Sight(w), *pin),
		system.New("combat", system.Combat(w), *pin),
	}
	l := loop.New(w, systems, *fps)
	frames, late := l.Run(ctx)
	for _, s := range systems {
		s.Stop()
	}
	log.Printf("%d frames, %d late, standing %x", frames, late, w.Digest())
	fmt.Printf("operations: %d\n", frames)
}
