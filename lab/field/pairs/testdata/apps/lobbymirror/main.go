// Command lobbymirror mirrors the sessions of game lobbies to a second site.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"sync"
	"time"

	"lobbymirror/internal/lobby"
	"lobbymirror/internal/replica"
	"lobbymirror/internal/wire"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	linked := flag.Bool("linked", true, "use the codec of links")
	flag.Parse()

	codec := wire.Single
	if *linked {
		codec = wire.Stream
	}
	mirror := replica.New()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	regions := []string{"nord", "sued"}
	var followers sync.WaitGroup
	followers.Add(len(regions))
	go func() {
		for range regions {
			c, err := ln.Accept()
			if err != nil {
				log.Fatal(err)
			}
			go func() {
				defer followers.Done()
				defer c.Close()
				if err := mirror.Follow(wire.NewLink(c, codec())); err != nil {
					log.Print(err)
				}
			}()
		}
	}()

	stop := time.Now().Add(*length)
	var wg sync.WaitGroup
	for i, r := range regions {
		wg.Go(func() {
			c, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				log.Fatal(err)
			}
			defer c.Close()
			link := wire.NewLink(c, codec())
			lob := lobby.New(r, 500, uint64(i))
			for time.Now().Before(stop) {
				for range 16 {
					if err := lob.Play(link); err != nil {
						log.Fatal(err)
					}
				}
				link.Flush()
			}
		})
	}
	wg.Wait()
	followers.Wait()

	applied, differ, n := mirror.Counts()
	fmt.Printf("operations: %d\n", applied)
	fmt.Printf("sessions %d, refused %d\n", n, differ)
}
