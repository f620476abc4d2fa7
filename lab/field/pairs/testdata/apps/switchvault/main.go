// Command switchvault backs up the configurations of a company's switches over
// their consoles, two at a time, round after round.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"switchvault/internal/backup"
	"switchvault/internal/device"
	"switchvault/internal/vault"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "use the second kind of session")
	flag.Parse()

	var rack []*device.Switch
	for i := range 30 {
		rack = append(rack, device.New(fmt.Sprintf("sw-%02d.floor%d", i, i%6), 48+36*(i%4), uint64(i)))
	}
	v := vault.New(6)

	var done, changed, lines, read, turn atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*dur)
	for range 2 {
		wg.Go(func() {
			for time.Now().Before(end) {
				sw := rack[int(turn.Add(1))%len(rack)]
				r, err := backup.Run(sw, v, *v2)
				if err != nil {
					log.Print(err)
					continue
				}
				done.Add(1)
				lines.Add(int64(r.Lines))
				changed.Add(int64(r.Changed))
				read.Add(r.Read)
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", done.Load())
	fmt.Printf("%d lines filed, %d changed, %d kB read\n", lines.Load(), changed.Load(), read.Load()/1024)
}
