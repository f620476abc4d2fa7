// Command arenarooms is the server of short arena fights: fighters come at a
// rate, arenas are opened for them, and a scraper reads the gauges.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"arenarooms/internal/lobby"
	"arenarooms/internal/metrics"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	kept := flag.Bool("kept", true, "keep the handles of an arena's gauges")
	rate := flag.Int("rate", 400, "arenas opened in a second")
	flag.Parse()

	reg := new(metrics.Registry)
	l := lobby.New(reg, *kept)
	var wg sync.WaitGroup
	var played, scraped atomic.Int64
	stop := make(chan struct{})
	go func() {
		var page bytes.Buffer
		every := time.NewTicker(200 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-stop:
				return
			case <-every.C:
			}
			n, err := reg.Expose(&page)
			if err != nil {
				log.Print(err)
			}
			scraped.Add(int64(n))
			page.Reset()
		}
	}()

	begin := time.Now()
	for i := 0; time.Since(begin) < *dur; i++ {
		if d := time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(*rate))); d > 0 {
			time.Sleep(d)
		}
		wg.Go(func() {
			if err := l.Play(16 + i%9); err != nil {
				log.Print(err)
				return
			}
			played.Add(1)
		})
	}
	wg.Wait()
	close(stop)

	fmt.Printf("operations: %d\n", played.Load())
	fmt.Printf("%d rounds, %d kB of replays, %d samples scraped\n", l.Rounds.Value(), l.Bytes.Value()/1024, scraped.Load())
}
