// Command patentwatch follows the bulletins of patent offices and indexes new filings.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"patentwatch/internal/bulletin"
	"patentwatch/internal/index"
	"patentwatch/internal/office"
	"patentwatch/internal/watch"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	offices := flag.Int("offices", 6, "number of offices")
	workers := flag.Int("workers", 4, "number of pollers")
	kept := flag.Bool("kept", true, "alternative reader")
	flag.Parse()

	var urls []string
	for i := range *offices {
		o := office.Start(i)
		defer o.Close()
		urls = append(urls, o.URL())
	}
	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()

	ix := index.New()
	src := bulletin.NewSource(office.Roots(), *workers, *kept)
	w := watch.New(src, ix, urls)
	w.Run(ctx, *workers)

	fmt.Printf("operations: %d\n", w.Polls.Load())
	fmt.Printf("filings %d, terms %d, errors %d\n", w.Filings.Load(), ix.Terms(), w.Errors.Load())
}
