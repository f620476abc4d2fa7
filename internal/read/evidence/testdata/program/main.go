// The program that the fixtures beside this folder are of: goroutines that
// allocate, wait for a lock, a channel and each other, for half a second. It
// is old Go, so that old toolchains can run it.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

var (
	mu   sync.Mutex
	kept [64][]byte
	done = make(chan bool)
)

func allocate(n int) {
	for i := 0; ; i++ {
		select {
		case <-done:
			return
		default:
		}
		b := make([]byte, 64<<10)
		mu.Lock()
		kept[(i+n)%len(kept)] = b
		time.Sleep(50 * time.Microsecond)
		mu.Unlock()
	}
}

func wait(c chan int) {
	for v := range c {
		fmt.Fprintln(os.Stderr, "request", v, "done")
	}
}

func profile(name string, debug int) {
	f, err := os.Create(name + ".txt")
	if err != nil {
		panic(err)
	}
	if name == "dump" {
		name = "goroutine"
	}
	if err := pprof.Lookup(name).WriteTo(f, debug); err != nil {
		panic(err)
	}
	f.Close()
}

func main() {
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	c := make(chan int)
	for i := 0; i < 3; i++ {
		go allocate(i)
	}
	go wait(c)
	for i := 0; i < 5; i++ {
		time.Sleep(100 * time.Millisecond)
		c <- i
	}
	runtime.GC()
	if len(os.Args) > 1 {
		for _, name := range []string{"heap", "block", "mutex", "goroutine", "threadcreate"} {
			profile(name, 1)
		}
		profile("dump", 2)
	}
	close(done)
}
