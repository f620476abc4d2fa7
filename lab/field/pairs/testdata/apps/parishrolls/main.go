// Parishrolls serves the registers of parishes to visitors.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"parishrolls/internal/reading"
	"parishrolls/internal/roll"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "length of the run")
	v2 := flag.Bool("v2", true, "second revision of the reading room")
	flag.Parse()

	var regs []*roll.Register
	for n := range 20 {
		regs = append(regs, roll.Make(n, 1600))
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, reading.New(regs, *v2).Handler())
	base := "http://" + ln.Addr().String() + "/registers/"

	var ops, missing atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*length)
	for v := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(v), 4))
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for time.Now().Before(end) {
				<-tick.C
				ok, err := visit(base, regs, rnd)
				if err != nil {
					log.Print(err)
					continue
				}
				ops.Add(1)
				if !ok {
					missing.Add(1)
				}
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("not found %d, goroutines %d\n", missing.Load(), runtime.NumGoroutine())
}

func visit(base string, regs []*roll.Register, rnd *rand.Rand) (bool, error) {
	n := rnd.IntN(len(regs))
	u := fmt.Sprintf("%s%d/years", base, n)
	if rnd.IntN(3) > 0 {
		e := regs[n].Entries[rnd.IntN(len(regs[n].Entries))]
		u = fmt.Sprintf("%s%d/find?name=%s&kind=%s", base, n, url.QueryEscape(e.Name), e.Kind)
	}
	resp, err := http.Get(u)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode == http.StatusOK, err
}
