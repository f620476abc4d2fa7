// Command liftsafety takes the reports of lift inspections.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"liftsafety/internal/guard"
	"liftsafety/internal/reports"
	"liftsafety/internal/rpc"
)

const secret = "shaft-and-cabin"

func frame(i int) []byte {
	user := fmt.Sprintf("inspector-%02d", i%40)
	r := reports.Report{Lift: fmt.Sprintf("L-%05d", i)}
	for c := range 8 {
		r.Checks = append(r.Checks, reports.Check{Point: fmt.Sprintf("P%d", c), Value: float64((i*7 + c*13) % 100), Limit: 95})
	}
	body, _ := json.Marshal(r)
	return fmt.Appendf(nil, "reports.submit\nauthorization: %s\nx-user: %s\nx-tenant: city-%02d\nx-client-version: 12\n"+
		"accept-language: %s\nx-trace-id: %016x\ncontent-type: application/json\nuser-agent: tablet/4.1\n"+
		"x-forwarded-for: 10.1.2.%d\nx-device: T%04d\nx-region: north\nx-span-id: %08x\n\n%s",
		guard.Token(secret, user), user, i%25, []string{"de", "fr", ""}[i%3], i*977, i%250, i, i*31, body)
}

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "variant of the calls")
	workers := flag.Int("workers", 4, "callers")
	flag.Parse()

	var usage guard.Usage
	var desk reports.Desk
	srv := rpc.NewServer(*v2, guard.Auth(secret), guard.Version(9), usage.Count)
	srv.Register("reports.submit", desk.Submit)
	frames := make([][]byte, 500)
	for i := range frames {
		frames[i] = frame(i)
	}
	var ops, failed atomic.Int64
	var wg sync.WaitGroup
	ctx := context.Background()
	stop := time.Now().Add(*dur)
	for w := range *workers {
		wg.Go(func() {
			for i := w; time.Now().Before(stop); i++ {
				if _, err := srv.Call(ctx, frames[i%len(frames)]); err != nil {
					failed.Add(1)
				}
				ops.Add(1)
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("tenants: %d defects: %d failed: %d\n", usage.Tenants(), desk.Defects(), failed.Load())
}
