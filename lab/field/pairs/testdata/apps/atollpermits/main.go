// Command atollpermits checks the fishing permits of islands.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"atollpermits/internal/audit"
	"atollpermits/internal/policy"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	indexed := flag.Bool("indexed", true, "use the second reader")
	flag.Parse()

	var files []string
	for i := range 10 {
		files = append(files, audit.File(uint64(i), 120+i*70))
	}
	end := time.Now().Add(*d)
	ops, permits := 0, 0
	var last [32]byte
	for time.Now().Before(end) {
		ps, err := policy.Read(files[ops%len(files)], *indexed)
		if err == nil {
			last, err = audit.Digest(ps)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		permits += len(ps)
		ops++
	}
	fmt.Printf("operations: %d\n", ops)
	fmt.Printf("permits checked: %d, last digest %x\n", permits, last[:6])
}
