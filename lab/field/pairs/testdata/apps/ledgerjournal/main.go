// Ledgerjournal keeps the bookings of several tellers in a journal on disk.
package main

import (
	"flag"
	"fmt"
	"log"
	"path/filepath"
	"sync"
	"time"

	"ledgerjournal/internal/journal"
	"ledgerjournal/internal/teller"
)

func main() {
	dir := flag.String("dir", ".", "where the journal is")
	tellers := flag.Int("tellers", 24, "how many tellers book")
	bookings := flag.Int("bookings", 150, "bookings of each")
	group := flag.Duration("group", 0, "how long the journal collects before it syncs")
	flag.Parse()
	j, err := journal.Open(filepath.Join(*dir, "journal.log"), journal.Options{Group: *group})
	if err != nil {
		log.Fatal(err)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for i := range *tellers {
		t := teller.New(i, j)
		wg.Go(func() {
			if err := t.Work(*bookings); err != nil {
				log.Fatal(err)
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("took", time.Since(start).Round(time.Millisecond))
	fmt.Printf("operations: %d\n", *tellers**bookings)
}
