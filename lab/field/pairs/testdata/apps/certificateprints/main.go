// Certificateprints lays certificates out for the schools that print them, most of one
// page, some of thousands.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"

	"certificateprints/internal/layout"
	"certificateprints/internal/scratch"
)

func main() {
	jobs := flag.Int("jobs", 6000, "certificates to lay out")
	schools := flag.Int("schools", 250, "schools that print")
	printers := flag.Int("printers", 4, "how many are laid out at once")
	limit := flag.Int("keep", 64<<10, "the largest buffer that a school keeps, in bytes; 0 keeps all")
	flag.Parse()
	pads := scratch.NewPads(*limit)
	queue := make(chan layout.Job)
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range *printers {
		wg.Go(func() {
			for job := range queue {
				n, err := layout.Certificate(pads, job)
				if err != nil {
					log.Fatal(err)
				}
				mu.Lock()
				total += n
				mu.Unlock()
			}
		})
	}
	for i := range *jobs {
		queue <- layout.Job{Number: i, School: i % *schools, Yearbook: i*31%23 == 0}
	}
	close(queue)
	wg.Wait()
	fmt.Println("bytes:", total)
	fmt.Printf("operations: %d\n", *jobs)
}
