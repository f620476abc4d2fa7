package main

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"
)

// work lets size goroutines write and read files, and a few sit in reads that
// hold their threads until sysmon takes their Ps away.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	dir, err := os.MkdirTemp("", "corpus")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var wg sync.WaitGroup
	for i := 0; i < size; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			churn(dir, stop.Load)
		}()
	}
	for i := 0; i < 1+size/4; i++ {
		wg.Add(2)
		slowPipe(&wg, stop.Load)
	}
	wg.Wait()
}

func churn(dir string, stop func() bool) {
	f, err := os.CreateTemp(dir, "f")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	buf := make([]byte, 16<<10)
	for n := 0; !stop(); n++ {
		f.WriteAt(buf, 0)
		f.ReadAt(buf, 0)
		if n%64 == 0 {
			f.Sync()
		}
	}
}

// slowPipe reads from a descriptor that the poller does not know.
func slowPipe(wg *sync.WaitGroup, stop func() bool) {
	var fd [2]int
	if err := syscall.Pipe(fd[:]); err != nil {
		panic(err)
	}
	go func() {
		defer wg.Done()
		defer syscall.Close(fd[1])
		for !stop() {
			time.Sleep(2 * time.Millisecond)
			syscall.Write(fd[1], []byte{1})
		}
	}()
	go func() {
		defer wg.Done()
		defer syscall.Close(fd[0])
		b := make([]byte, 1)
		for {
			if n, _ := syscall.Read(fd[0], b); n <= 0 {
				return
			}
		}
	}()
}
