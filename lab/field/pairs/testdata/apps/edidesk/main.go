// Command edidesk takes the purchase orders of a night.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"edidesk/internal/archive"
	"edidesk/internal/edifact"
	"edidesk/internal/inbox"
	"edidesk/internal/orders"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	room := flag.Int("room", 256<<10, "room of a reader, in bytes")
	flag.Parse()

	letters := inbox.Fill(3000)
	arch := archive.New()
	var next, done, bad, bytes atomic.Int64
	stop := time.Now().Add(*length)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			rd := edifact.NewReader(*room)
			for time.Now().Before(stop) {
				msg, err := rd.Read(strings.NewReader(letters[int(next.Add(1))%len(letters)]))
				if err != nil {
					log.Fatal(err)
				}
				o, err := orders.From(msg)
				if err != nil {
					bad.Add(1)
					continue
				}
				n, err := arch.Put(o)
				if err != nil {
					log.Fatal(err)
				}
				bytes.Add(int64(n))
				done.Add(1)
			}
		})
	}
	wg.Wait()
	known, buyers := arch.Size()
	fmt.Printf("operations: %d\n", done.Load())
	fmt.Printf("orders %d of %d buyers, refused %d, %d kB filed\n", known, buyers, bad.Load(), bytes.Load()>>10)
}
