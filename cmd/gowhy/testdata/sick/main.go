// Sick is a program whose modes are illnesses with a cure that can be
// measured. Each mode does a fixed work and ends, but for serve. Where the cure
// is a change of the code, a test makes code of the comment that begins with
// "cure: ".
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/agent"
)

var listen = flag.String("listen", "localhost:0", "address of the mode serve")

func main() {
	defer agent.Finish()
	n := flag.Int("n", 1000, "how much to do, in the mode serve for a request")
	workers := flag.Int("workers", 4, "workers of the mode pool")
	flag.Parse()
	modes := map[string]func(n, workers int){"relay": relay, "trees": trees, "deadlines": deadlines, "pool": pool, "objects": objects, "serve": serve}
	mode, ok := modes[flag.Arg(0)]
	if !ok {
		fmt.Fprintf(os.Stderr, "sick: no mode %q\n", flag.Arg(0))
		os.Exit(2)
	}
	mode(*n, *workers)
}

// relay hands each message through a row of goroutines and rests as long as it
// worked: less than one processor has something to do, and every step wakes
// the threads of the others.
func relay(n, _ int) {
	first := make(chan uint64)
	in := first
	for range 8 {
		out := make(chan uint64)
		go step(in, out)
		in = out
	}
	begin := time.Now()
	for i := range n {
		first <- uint64(i)
		sink += <-in
		if i%2000 == 0 {
			time.Sleep(time.Since(begin))
			begin = time.Now()
		}
	}
}

func step(in <-chan uint64, out chan<- uint64) {
	for x := range in {
		out <- compute(x, 200)
	}
}

// trees builds small trees and drops them at once; hardly anything lives.
func trees(n, _ int) {
	for i := range n {
		// cure: if i%2 == 1 { continue }
		kept[i%len(kept)] = tree(12)
	}
}

type node struct{ left, right *node }

var kept [8]*node

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{tree(depth - 1), tree(depth - 1)}
}

// deadlines does requests with a timeout that all end long before it,
// and never cancels one.
func deadlines(n, _ int) {
	for i := range n {
		request(uint64(i))
		if i%50 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

func request(x uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	if x = compute(x, 2000); ctx.Err() != nil {
		cancel()
	}
	sink = x
}

const patience = 100 * time.Millisecond

// pool gives small jobs to its workers, each of which keeps a buffer.
func pool(n, workers int) {
	jobs := make(chan int, n)
	for i := range n {
		jobs <- i
	}
	close(jobs)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() { work(jobs) })
	}
	wg.Wait()
}

func work(jobs <-chan int) {
	buffer := make([]byte, 128<<10)
	for i := range jobs {
		for j := range buffer {
			buffer[j] = byte(i + j)
		}
		results.Add(compute(uint64(buffer[i%len(buffer)]), 20_000))
	}
}

// objects makes so many of them.
func objects(n, _ int) {
	for i := range n {
		kept[i%len(kept)] = &node{}
	}
}

// serve answers requests, each with so much to compute, until it is ended.
func serve(n, _ int) {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, compute(1, n))
	})
	fmt.Fprintln(os.Stderr, "sick:", http.ListenAndServe(*listen, nil))
	os.Exit(1)
}

var (
	sink    uint64 // of modes with one goroutine that counts
	results atomic.Uint64
)

func compute(x uint64, n int) uint64 {
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}
