// Command bondticks publishes the books of bonds when they change.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"bondticks/internal/frames"
	"bondticks/internal/market"
	"bondticks/internal/publish"
	"bondticks/internal/sink"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	push := flag.Bool("push", true, "push books")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		c, err := ln.Accept()
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, c)
	}()
	line, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	out := sink.New(line)
	rack := frames.NewRack()

	var ticks, same, sent atomic.Int64
	stop := time.Now().Add(*length)
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			m := market.New(400, uint64(i+1))
			p := publish.New(rack, out)
			offer := p.Offer
			if *push {
				offer = p.Push
			}
			n := int64(0)
			for time.Now().Before(stop) {
				for range 64 {
					offer(m.Tick())
				}
				n += 64
			}
			ticks.Add(n)
			same.Add(p.Same)
			sent.Add(p.Sent)
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ticks.Load())
	fmt.Printf("sent %d, unchanged %d, %d kB\n", sent.Load(), same.Load(), out.Bytes()>>10)
}
