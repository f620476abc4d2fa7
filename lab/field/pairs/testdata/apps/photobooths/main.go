// Command photobooths prints the pictures of photo booths at a fair.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"

	"photobooths/internal/booth"
	"photobooths/internal/press"
	"photobooths/internal/spool"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 420, "pictures a second")
	v2 := flag.Bool("v2", true, "second version of the spool")
	flag.Parse()

	limit := 0
	if *v2 {
		limit = 12
	}
	s := spool.New(limit)
	presses := make([]*press.Press, 4)
	var wg sync.WaitGroup
	for i := range presses {
		presses[i] = &press.Press{Feed: 14 * time.Millisecond}
		wg.Go(func() { presses[i].Run(s) })
	}
	fair := &booth.Fair{Spool: s, Patience: 400 * time.Millisecond}
	fair.Hold(*dur, *rate)
	taken := s.Close()
	wg.Wait()
	n := len(fair.Took)
	fmt.Printf("operations: %d\n", fair.Prints)
	fmt.Printf("guests %d: busy %d, late %d, jobs %d, p50 %v p99 %v\n", n, fair.Busy, fair.Late, taken, fair.Took[n/2], fair.Took[n*99/100])
}
