// Command cored has a queue before a lock and 32 MiB that it holds, and waits or dies.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

var (
	mu   sync.Mutex
	kept [][]byte
)

func holds(c chan int) {
	mu.Lock()
	defer mu.Unlock()
	<-c
}

func wants() {
	mu.Lock()
	defer mu.Unlock()
}

func assigns(m map[string]int) { m["x"] = 1 }

func main() {
	for range 32 {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = 1
		}
		kept = append(kept, b)
	}
	go holds(make(chan int))
	time.Sleep(50 * time.Millisecond)
	for range 40 {
		pprof.Do(context.Background(), pprof.Labels("route", "/orders"), func(context.Context) { go wants() })
	}
	runtime.GC()
	time.Sleep(50 * time.Millisecond)
	fmt.Println("ready")
	if len(os.Args) > 1 {
		pprof.WriteHeapProfile(os.Stdout) // so that the runtime keeps one
		assigns(nil)
	}
	time.Sleep(time.Hour)
	runtime.KeepAlive(kept)
}
