// Command patientnotes takes notes about patients over into the replicated record.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"patientnotes/internal/cluster"
	"patientnotes/internal/replica"
	"patientnotes/internal/ward"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to work")
	need := flag.Int("need", 3, "replicas that must have a note")
	clerks := flag.Int("clerks", 6, "number of clerks")
	flag.Parse()

	var addrs []string
	var servers []*replica.Server
	for range 5 {
		s, err := replica.Serve()
		if err != nil {
			log.Fatal(err)
		}
		servers = append(servers, s)
		addrs = append(addrs, s.Addr)
	}
	cl := cluster.New(addrs, *need)
	consent := &ward.Consent{Latency: 2 * time.Millisecond}
	all := make([]ward.Clerk, *clerks)
	end := time.Now().Add(*dur)
	var wg sync.WaitGroup
	for i := range all {
		all[i] = ward.Clerk{No: uint64(i), Cluster: cl, Consent: consent}
		wg.Go(func() { all[i].Run(end) })
	}
	wg.Wait()
	notes, refused, failed := 0, 0, 0
	for i := range all {
		notes += all[i].Notes
		refused += all[i].Refused
		failed += all[i].Failed
	}
	fmt.Printf("operations: %d\n", notes)
	fmt.Printf("%d refused, %d failed; stored", refused, failed)
	for _, s := range servers {
		fmt.Printf(" %d", s.Stored.Load())
	}
	fmt.Println()
}
