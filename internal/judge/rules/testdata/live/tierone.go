package main

import (
	"context"
	"maps"
	"math/rand"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Programs of loops: random numbers, strings, asking and trying again.

func init() {
	maps.Copy(cases, map[string]func(){
		"freshrand":  func() { draws(2, freshDraw) },
		"ownrand":    func() { draws(4, ownDraw()) },
		"sharedrand": func() { draws(2, func() int { return rand.Intn(100) }) },
		"concat":     func() { reversals(concatenated) },
		"appended":   func() { reversals(appended) },
		"polls":      polls,
		"closed":     closed,
		"asks":       asks,
		"refused":    func() { refused(0) },
		"patient":    func() { refused(10 * time.Millisecond) },
		"absent":     absent,
		"timeouts":   timeouts,
	})
}

var drawn, turned atomic.Uint64

// draws lets goroutines draw numbers and compute a little with each.
func draws(n int, draw func() int) {
	for range n {
		go func() {
			for x := uint64(1); ; {
				for range 100 {
					x = x*6364136223846793005 + uint64(draw())
				}
				drawn.Add(x)
			}
		}()
	}
	select {}
}

func freshDraw() int { return rand.New(rand.NewSource(time.Now().UnixNano())).Intn(100) }

func ownDraw() func() int {
	var mu sync.Mutex
	own := rand.New(rand.NewSource(1))
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return own.Intn(100)
	}
}

// reversals turns names round, as a server that looks zones up from the right does.
func reversals(turn func(name string) string) {
	names := []string{"www.example.com.", "a.b.c.d.example.org.", "mail.department.company.example.net."}
	for i := 0; ; i++ {
		turned.Add(uint64(len(turn(names[i%len(names)]))))
	}
}

//go:noinline
func concatenated(name string) string {
	out := ""
	for rest := strings.TrimSuffix(name, "."); rest != ""; {
		at := strings.LastIndexByte(rest, '.')
		out += rest[at+1:] + "."
		rest = rest[:max(at, 0)]
	}
	return out
}

var kept0 []byte

//go:noinline
func appended(name string) string {
	buf := kept0[:0]
	for rest := strings.TrimSuffix(name, "."); rest != ""; {
		at := strings.LastIndexByte(rest, '.')
		buf = append(append(buf, rest[at+1:]...), '.')
		rest = rest[:max(at, 0)]
	}
	kept0 = buf
	return name[:len(buf)]
}

// polls waits for jobs that seldom come by asking for them.
func polls() {
	jobs := make(chan int)
	go func() {
		for range time.Tick(50 * time.Millisecond) {
			jobs <- 1
		}
	}()
	for {
		select {
		case n := <-jobs:
			drawn.Add(uint64(n))
		default:
		}
	}
}

// closed goes on receiving from a channel that was closed.
func closed() {
	done, ticks := make(chan struct{}), time.Tick(50*time.Millisecond)
	close(done)
	for {
		select {
		case <-done: // meant to be looked at once
		case <-ticks:
			drawn.Add(1)
		}
	}
}

// asks looks between two pieces of work whether it should stop.
func asks() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for x := uint64(1); ; {
		select {
		case <-ctx.Done():
			return
		default:
		}
		for range 200 {
			x = x*6364136223846793005 + 1442695040888963407
		}
		drawn.Add(x)
	}
}

// refused connects to a port where nobody listens.
func refused(pause time.Duration) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	address := l.Addr().String()
	l.Close()
	for {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
		}
		time.Sleep(pause)
	}
}

// absent looks for a file that is not there.
func absent() {
	for {
		if f, err := os.Open("/nonexistent/of-the-live-tests"); err == nil {
			f.Close()
		}
	}
}

// timeouts gives each of its steps a timeout that is seldom needed.
func timeouts() {
	steps := make(chan uint64)
	go func() {
		for x := uint64(1); ; x++ {
			steps <- x
		}
	}()
	for {
		select {
		case x := <-steps:
			drawn.Add(x)
		case <-time.After(time.Minute):
			return
		}
	}
}
