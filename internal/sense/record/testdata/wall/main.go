// Command wall has goroutines that sleep for most of the time and compute in the rest, as long as
// its argument says, and prints at its end which part they slept.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

//go:noinline
func sleeps() time.Duration {
	began := time.Now()
	time.Sleep(16 * time.Millisecond)
	return time.Since(began)
}

//go:noinline
func computes() time.Duration {
	began := time.Now()
	for time.Since(began) < 4*time.Millisecond {
	}
	return time.Since(began)
}

func main() {
	var mu sync.Mutex
	var slept, computed time.Duration
	var wg sync.WaitGroup
	length, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	end := time.Now().Add(length)
	work := func() {
		defer wg.Done()
		for time.Now().Before(end) {
			s, c := sleeps(), computes()
			mu.Lock()
			slept, computed = slept+s, computed+c
			mu.Unlock()
		}
	}
	wg.Add(4)
	for range 4 {
		go work()
	}
	wg.Wait()
	fmt.Println(slept.Seconds() / (slept + computed).Seconds())
}
