// Librarystatements looks up which books a reader has, in a database.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"sync"
	"time"

	"librarystatements/internal/loans"
	"librarystatements/internal/records"
)

func serve(readers int) string {
	s := &records.Server{Think: 100 * time.Microsecond, Tables: map[string]records.Table{"loans": {}}}
	for i := range readers {
		for k := range 1 + i%5 {
			key := fmt.Sprintf("r%d", i)
			s.Tables["loans"][key] = append(s.Tables["loans"][key], fmt.Sprintf("book %d", i*7+k))
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(l)
	return l.Addr().String()
}

func main() {
	readers := flag.Int("readers", 400, "readers of the library")
	desks := flag.Int("desks", 4, "desks that ask at once")
	asks := flag.Int("asks", 2500, "questions of each desk")
	once := flag.Bool("once", false, "prepare statements once")
	flag.Parse()
	db := records.Open(serve(*readers))
	db.SetMaxIdleConns(*desks)
	db.SetMaxOpenConns(*desks)
	repository, err := loans.NewRepository(context.Background(), db, *once)
	if err != nil {
		log.Fatal(err)
	}
	var wg sync.WaitGroup
	for d := range *desks {
		wg.Go(func() {
			for i := range *asks {
				if _, err := repository.Of(context.Background(), fmt.Sprintf("r%d", (i*31+d)%*readers)); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", *desks**asks)
}
