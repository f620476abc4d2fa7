// Command claimletters writes letters about claims for many insurers.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"claimletters/internal/letters"
	"claimletters/internal/office"
	"claimletters/internal/tenant"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	n := flag.Int("insurers", 320, "number of insurers")
	v2 := flag.Bool("v2", true, "second version of the letters")
	flag.Parse()

	begin := time.Now()
	tenants := tenant.All(*n)
	set, err := letters.Open(tenants, *v2)
	if err != nil {
		log.Fatal(err)
	}
	ready := time.Since(begin)

	var day office.Day
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() { day.Clerk(set, tenants[:min(8, len(tenants))], uint64(i), begin.Add(*dur)) })
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", day.Letters)
	fmt.Printf("ready after %v; %d bytes, failed %d\n", ready.Round(time.Millisecond), day.Bytes, day.Failed)
}
