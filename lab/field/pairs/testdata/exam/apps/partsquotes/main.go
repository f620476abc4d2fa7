// Partsquotes quotes spare parts: prices that were worked out before lie in a shelf, a server
// of short values that is asked over TCP. Here dealers ask for quotes, so many a second.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"partsquotes/internal/pool"
	"partsquotes/internal/quotes"
	"partsquotes/internal/shelf"
)

func main() {
	rate := flag.Int("rate", 1600, "quotes a second")
	span := flag.Duration("for", 5*time.Second, "how long quotes are asked for")
	idle := flag.Int("idle", 32, "connections that are kept")
	recycle := flag.String("recycle", "strict", "connections that are used again: strict, those of calls without an error, or read, those whose answer was read to its end")
	flag.Parse()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go shelf.NewServer().Serve(l)

	conns := pool.New(l.Addr().String(), *idle)
	client, err := shelf.NewClient(conns, *recycle)
	if err != nil {
		log.Fatal(err)
	}
	desk := quotes.NewDesk(client)
	if err := desk.Prepare(); err != nil {
		log.Fatal(err)
	}
	sum, err := desk.Open(*rate, *span)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d quotes, %d from the shelf, %d worked out, %.2f on average\n",
		sum.Quotes, sum.Shelved, sum.Quotes-sum.Shelved, float64(sum.Cents)/float64(sum.Quotes)/100)
	fmt.Printf("operations: %d\n", sum.Quotes)
}
