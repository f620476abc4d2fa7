package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/gowhy/gowhy/agent"
)

// A planted program does a fixed number of operations and ends. It is compared
// with itself, or with itself and more work.

// plantedOps is how many operations a run has: some 50 ms of CPU, of which the
// start of a process is a small part.
const plantedOps = 4000

// plantedWork is an operation's work in blocks hashed.
const plantedWork = 200

// plantedWord is the argument that makes this program the planted one.
const plantedWord = "planted"

// bePlanted returns the measured process. -as only tells the arms apart.
func bePlanted(args []string, stdout io.Writer) error {
	defer agent.Finish()
	f := flag.NewFlagSet("planted", flag.ContinueOnError)
	_ = f.String("as", "", "a name")
	effect := f.Float64("effect", 0, "this much more work, 0.05 is 5 %")
	allocs := f.Float64("allocs", 0, "this much more allocations")
	if err := f.Parse(args); err != nil {
		return err
	}
	ops := int(plantedOps * (1 + *effect))
	sums := make([]byte, 2)
	var working sync.WaitGroup
	for half := range sums {
		working.Go(func() { sums[half] = planted(ops/len(sums), plantedWork, *allocs) })
	}
	working.Wait()
	_, err := fmt.Fprintf(stdout, "%d operations: %x\n", plantedOps, sums)
	return err
}

// planted does operations, each of which hashes and allocates a hundred times.
func planted(ops, blocks int, more float64) (mark byte) {
	var sum [sha256.Size]byte
	for range ops {
		for range blocks {
			sum = sha256.Sum256(sum[:16])
		}
		for range 100 + int(100*more) {
			keep := new([32]byte)
			keep[0] = sum[0]
			runtime.KeepAlive(keep)
			plantedKept = keep
		}
	}
	return sum[0]
}

// plantedKept makes each allocation one of the heap.
//
//lint:ignore U1000 it is written only
var plantedKept *[32]byte
