// Command memory has memory of one kind, which its argument names, and then waits; works ends
// after 2.5 seconds of allocating, and late is a server after one.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

const mib = 1 << 20

var kept [][]byte

// touched is memory that is resident.
func touched(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 512 {
		b[i] = 1
	}
	return b
}

// mapped is memory that the runtime knows nothing of.
func mapped(n, flags int) {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|flags)
	if err != nil {
		panic(err)
	}
	for i := 0; i < n; i += 512 {
		b[i] = 1
	}
}

// deep takes a stack of so many frames of a kilobyte each.
func deep(n int) byte {
	var frame [1024]byte
	frame[n%1024] = 1
	if n == 0 {
		time.Sleep(time.Hour)
		return frame[0]
	}
	return deep(n-1) + frame[1]
}

// fill keeps 20 MB more each second, on a busy machine too: that drops ticks.
func fill() {
	const size = 10_000
	began, kilobytes := time.Now(), 0
	for range time.Tick(10 * time.Millisecond) {
		for due := int(time.Since(began).Milliseconds()) * 20; kilobytes < due; kilobytes += size / 1000 {
			kept = append(kept, touched(size))
		}
	}
}

func main() {
	if len(os.Args) > 2 { // how long it runs
		d, err := time.ParseDuration(os.Args[2])
		if err != nil {
			panic(err)
		}
		time.AfterFunc(d, func() { os.Exit(0) })
	}
	switch os.Args[1] {
	case "live":
		for range 60 {
			kept = append(kept, touched(mib))
		}
		runtime.GC()
	case "garbage": // of which no collection ever saw anything alive
		debug.SetGCPercent(-1)
		for range 60 {
			kept = [][]byte{touched(mib)}
		}
		kept = nil
	case "idle":
		for range 60 {
			kept = append(kept, touched(mib))
		}
		kept = nil
		runtime.GC()
	case "fragmented":
		for range 60 * mib / 1024 {
			kept = append(kept, touched(1024))
		}
		for i := range kept {
			if i%8 != 0 {
				kept[i] = nil
			}
		}
		runtime.GC()
		runtime.GC()
	case "filling":
		for range 100 {
			kept = append(kept, touched(mib))
		}
		go func() {
			time.Sleep(time.Second) // until somebody looks
			fill()
		}()
	case "untouched":
		kept = append(kept, make([]byte, 300*mib))
		runtime.GC()
	case "native":
		mapped(60*mib, syscall.MAP_PRIVATE)
	case "shared":
		mapped(60*mib, syscall.MAP_SHARED)
	case "file":
		f, err := os.CreateTemp("", "")
		if err != nil {
			panic(err)
		}
		os.Remove(f.Name())
		f.Write(touched(60 * mib))
		if _, err := syscall.Mmap(int(f.Fd()), 0, 60*mib, syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE); err != nil {
			panic(err)
		}
	case "stacks":
		for range 1000 {
			go deep(50)
		}
		time.Sleep(300 * time.Millisecond)
	case "works":
		for begin := time.Now(); time.Since(begin) < 2500*time.Millisecond; time.Sleep(time.Millisecond) {
			kept = append(kept, touched(100_000))
		}
		return
	case "late":
		time.Sleep(time.Second)
		fallthrough
	case "server":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		go http.Serve(l, nil)
		kept = append(kept, touched(30*mib))
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
