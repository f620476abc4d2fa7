// Clearings carries out the transfers between banks that four desks take in.
package main

import (
	"flag"
	"fmt"
	"log"
	"path/filepath"
	"time"

	"clearings/internal/book"
	"clearings/internal/desk"
	"clearings/internal/wal"
)

func main() {
	dir := flag.String("dir", ".", "where the log is kept")
	gather := flag.Duration("gather", 12*time.Millisecond, "how long a batch of the log is open")
	batch := flag.Int("batch", 64, "records of a batch")
	desks := flag.Int("desks", 4, "desks that take in transfers")
	each := flag.Int("transfers", 480, "transfers of each desk")
	pause := flag.Duration("pause", 5*time.Millisecond, "time from one transfer of a desk to the next")
	flag.Parse()
	path := filepath.Join(*dir, "clearing.log")
	l, err := wal.Create(path, wal.Options{Batch: *batch, Gather: *gather, Sync: true})
	if err != nil {
		log.Fatal(err)
	}
	const banks, balance = 3000, 10_000_00
	b := book.New(l, banks, balance)
	done, refused, err := desk.Run(b, *desks, banks, *each, *pause)
	if err != nil {
		log.Fatal(err)
	}
	if err := l.Close(); err != nil {
		log.Fatal(err)
	}
	sums := make([]int64, banks)
	if err := book.Replay(path, sums); err != nil {
		log.Fatal(err)
	}
	for i, s := range b.Balances() {
		if s != balance+sums[i] {
			log.Fatalf("bank %d has %d, and its log says %d", i, s, balance+sums[i])
		}
	}
	fmt.Println("refused:", refused)
	fmt.Println("operations:", done)
}
