// Packageforge builds the packages of a distribution, each after those that it needs.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"packageforge/internal/forge"
	"packageforge/internal/graph"
	"packageforge/internal/toolchain"
)

func main() {
	layers := flag.Int("layers", 64, "how deep the distribution is")
	width := flag.Int("width", 5, "packages in each layer")
	workers := flag.Int("workers", 8, "packages built at once")
	dispatch := flag.String("dispatch", "queue", "how packages reach workers: queue or ready")
	farm := flag.Duration("farm", 62*time.Millisecond, "how long the farm takes for a package")
	flag.Parse()

	d := graph.Layered(*layers, *width)
	f, err := forge.New(toolchain.New(*farm), *workers, forge.Dispatch(*dispatch))
	if err != nil {
		log.Fatal(err)
	}
	start := time.Now()
	r, err := f.Build(context.Background(), d)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%d packages, %d bytes in %s, manifest %x", len(r.Artifacts), r.Bytes, time.Since(start).Round(time.Millisecond), r.Manifest())
	fmt.Printf("operations: %d\n", len(r.Artifacts))
}
