// Command lighthouselogs records the reports of lighthouse keepers.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"lighthouselogs/internal/chart"
	"lighthouselogs/internal/dispatch"
	"lighthouselogs/internal/registry"
	"lighthouselogs/internal/report"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	whole := flag.Bool("whole", true, "use the whole name of a light")
	workers := flag.Int("workers", 12, "workers")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go registry.Serve(ln, 1500*time.Microsecond)
	c := chart.New()
	disp, err := dispatch.Start(*workers, ln.Addr().String(), c, *whole)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	end := time.Now().Add(*d)
	bad := 0
	for day := uint64(0); time.Now().Before(end); day++ {
		for i, line := range report.Lines(day, 1000) {
			r, err := report.Parse(line)
			if err != nil {
				bad++
				continue
			}
			r.Seq = int(day)*1000 + i
			disp.Submit(r)
			if time.Now().After(end) {
				break
			}
		}
	}
	fmt.Printf("operations: %d\n", disp.Wait())
	lights, late := c.Size()
	fmt.Printf("lights: %d, late reports: %d, bad lines: %d\n", lights, late, bad)
}
