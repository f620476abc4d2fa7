// Command terrainline plans radio links over terrain.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"terrainline/internal/survey"
	"terrainline/internal/tiles"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the service")
	flag.Parse()

	dir, err := os.MkdirTemp("", "terrainline")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	end := time.Now().Add(*run)
	const n = 8
	if err := tiles.Generate(dir, n); err != nil {
		log.Fatal(err)
	}
	var sum survey.Report
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rep, err := survey.Run(tiles.NewSet(dir, 12, *v2), n, uint64(w), end)
			if err != nil {
				log.Print(err)
			}
			mu.Lock()
			defer mu.Unlock()
			sum.Areas += rep.Areas
			sum.Links += rep.Links
			sum.Clear += rep.Clear
			sum.Loss += rep.Loss
		}()
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", sum.Links)
	fmt.Printf("%d areas, %d links clear, mean loss %.1f dB\n", sum.Areas, sum.Clear, sum.Loss/float64(max(sum.Links, 1)))
}
