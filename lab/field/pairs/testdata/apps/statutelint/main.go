// Command statutelint reviews the drafts of statutes.
package main

import (
	"crypto/sha512"
	"flag"
	"fmt"
	"io"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"statutelint/internal/check"
	"statutelint/internal/corpus"
	"statutelint/internal/report"
	"statutelint/internal/source"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	lines := flag.Bool("lines", true, "open texts with their lines")
	flag.Parse()

	texts := corpus.Draft(160)
	end := time.Now().Add(*span)
	var texted, found, size atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			w := report.NewWriter(io.Discard)
			defer w.Close()
			for time.Now().Before(end) {
				n := texted.Add(1)
				t := source.Open(fmt.Sprintf("draft-%03d.txt", n%160), texts[n%160], *lines)
				fs := check.Run(t)
				sum := sha512.Sum512([]byte(t.Body))
				if err := w.Write(t, sum[:], fs); err != nil {
					log.Print(err)
				}
				found.Add(int64(len(fs)))
				size.Add(int64(len(t.Body)))
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", texted.Load())
	fmt.Printf("%d findings in %d bytes\n", found.Load(), size.Load())
}
