// Command genealogies finds the relations of people in parish registers.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"genealogies/internal/lookup"
	"genealogies/internal/memory"
	"genealogies/internal/parish"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	budget := flag.Int64("memory", 256, "memory of the program in MB")
	workers := flag.Int("workers", 4, "workers")
	shared := flag.Bool("shared", true, "use the shared budget")
	people := flag.Int("people", 240000, "people in the register")
	flag.Parse()

	b := memory.Budget{Total: *budget << 20, Workers: *workers, Shared: *shared}
	all, err := parish.Read(parish.Register(1, *people))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	b.Apply()
	r := lookup.Run(all, b, *d)
	fmt.Printf("operations: %d\n", r.Lists)
	fmt.Printf("related: %d, answers: %d KB\n", r.Related, r.Bytes>>10)
}
