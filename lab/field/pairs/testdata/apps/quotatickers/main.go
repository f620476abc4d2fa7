// Quotatickers gives the clients of a printing service their share, page by page.
package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"quotatickers/internal/quota"
	"quotatickers/internal/service"
)

func main() {
	clients := flag.Int("clients", 3000, "clients with a quota")
	seconds := flag.Int("seconds", 5, "how long it works")
	tick := flag.Bool("tick", false, "give shares as time goes by")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(*seconds)*time.Second)
	defer cancel()
	var make func() service.Quota
	if *tick {
		make = func() service.Quota { return quota.NewTicking(ctx, 40, 10) }
	} else {
		make = func() service.Quota { return quota.NewCounting(40, 10) }
	}
	s := service.New(*clients, make)
	n, refused := s.Work(ctx, 2000)
	fmt.Println("refused:", refused)
	fmt.Printf("operations: %d\n", n)
}
