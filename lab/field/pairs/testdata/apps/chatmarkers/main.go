// Command chatmarkers keeps the read marks of a game's chat and makes notices
// of what its members have not read.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"chatmarkers/internal/markers"
	"chatmarkers/internal/notify"
	"chatmarkers/internal/town"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "use the second store")
	flag.Parse()

	const members = 900_000
	store := markers.New(members, *v2)
	town.Settle(store, members)
	talk := town.Talk(4000, members)

	var done, sent, size atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*dur)
	for w := range 2 {
		wg.Go(func() {
			desk := notify.NewDesk(store)
			n := 0
			for i := w; time.Now().Before(end); i += 2 {
				if err := desk.Handle(talk[i%len(talk)]); err != nil {
					log.Fatal(err)
				}
				n++
			}
			done.Add(int64(n))
			sent.Add(int64(desk.Sent))
			size.Add(int64(desk.Bytes))
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", done.Load())
	fmt.Printf("%d notices, %d kB sent, %d marks\n", sent.Load(), size.Load()/1024, store.Len())
}
