package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

type server struct {
	mu    sync.Mutex
	zones map[string][]string
}

func deep(n int) int {
	var a [64]int
	a[n%64] = n
	if n == 0 {
		return a[0]
	}
	return deep(n-1) + a[n%64]
}

func (s *server) lookup(q string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for i := range 200 {
		out = append(out, fmt.Sprintf("%s-%d", q, i))
	}
	s.zones[q] = out
	return strings.Join(out, ",")
}

func (s *server) handle(c net.PacketConn, to net.Addr) {
	_ = deep(60)
	c.WriteTo([]byte(s.lookup("example.org")), to)
}

func main() {
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	runtime.MemProfileRate = 4096
	f, _ := os.Create("cpu.pb.gz")
	pprof.StartCPUProfile(f)
	c, _ := net.ListenPacket("udp", "127.0.0.1:0")
	s := &server{zones: map[string][]string{}}
	var wg sync.WaitGroup
	end := time.Now().Add(2 * time.Second)
	for time.Now().Before(end) {
		for range 50 {
			wg.Add(1)
			go func() { defer wg.Done(); s.handle(c, c.LocalAddr()) }()
		}
		time.Sleep(time.Millisecond * 5)
	}
	for _, k := range []string{"goroutine", "block", "mutex", "heap", "allocs"} {
		g, _ := os.Create(k + ".pb.gz")
		pprof.Lookup(k).WriteTo(g, 0)
		g.Close()
	}
	pprof.StopCPUProfile()
	f.Close()
}
