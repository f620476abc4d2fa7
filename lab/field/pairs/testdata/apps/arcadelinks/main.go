// Command arcadelinks is the hub of a chain of arcades; its cabinets stand idle
// most of the time and report a game now and then.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"arcadelinks/internal/cabinet"
	"arcadelinks/internal/hub"
	"arcadelinks/internal/scores"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	next := flag.Bool("next", true, "serve links the next way")
	count := flag.Int("cabinets", 600, "how many cabinets there are")
	flag.Parse()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	h := &hub.Hub{Table: scores.NewTable(), Next: *next, Grace: 12 * time.Millisecond}
	served := make(chan struct{})
	go func() {
		h.Serve(ctx, l)
		close(served)
	}()

	var played, took atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*dur)
	for i := range *count {
		c, err := cabinet.Link(l.Addr().String(), i)
		if err != nil {
			log.Fatal(err)
		}
		wg.Go(func() {
			defer c.Close()
			for pause := rand.N(time.Second); time.Now().Add(pause).Before(end); pause = 500*time.Millisecond + rand.N(time.Second) {
				time.Sleep(pause)
				d, err := c.Play()
				if err != nil {
					log.Print(err)
					return
				}
				played.Add(1)
				took.Add(int64(d))
			}
			time.Sleep(time.Until(end))
		})
	}
	wg.Wait()
	stop()
	<-served

	fmt.Printf("operations: %d\n", played.Load())
	fmt.Printf("%d games reported, %d refused, %v on average\n", h.Reports.Load(), h.Refused.Load(),
		time.Duration(took.Load()/max(1, played.Load())).Round(time.Microsecond))
}
