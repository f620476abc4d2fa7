// Command kinds is several programs, by the kind that its first argument names.
// Functions whose names begin with moves are never at rest; all others are from
// "ready" on.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var kinds = map[string]func(){
	"channels": channels, "mutexes": mutexes, "selects": selects, "timers": timers, "network": network, "files": files,
	"waits": waits, "collecting": collecting, "spinning": spinning, "pipelines": pipelines, "threads": threads,
	"names": names, "deep": deep, "churn": churn, "leaks": leaks, "nothing": func() {},
	"apart": apart, "cleaner": cleaner, "labels": labels,
}

// keep is what would be collected or closed otherwise.
var keep []any

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	keep = append(keep, v)
	return v
}

func channels() {
	c, full := make(chan int), make(chan int, 1)
	full <- 1
	for range 20 {
		go receives(c)
		go sendsInto(full, 2)
		go receives(nil)
		go sendsInto(nil, 1)
	}
	keep = append(keep, c, full)
}

func receives(c chan int) {
	for range c {
	}
}

func sendsInto(c chan int, v int) { c <- v }

func mutexes() {
	mu, rw, held := new(sync.Mutex), new(sync.RWMutex), new(sync.RWMutex)
	mu.Lock()
	rw.Lock()
	held.RLock()
	for range 20 {
		go locks(mu)
		go readLocks(rw)
	}
	go writeLocks(held)
}

func locks(mu *sync.Mutex)       { mu.Lock() }
func readLocks(mu *sync.RWMutex) { mu.RLock() }

func writeLocks(mu *sync.RWMutex) { mu.Lock() }

func selects() {
	a, b := make(chan int), make(chan int)
	for range 20 {
		go selectsTwo(a, b)
		go selectsNone()
		go selectsTime(a)
	}
	keep = append(keep, a, b)
}

func selectsTwo(a, b chan int) {
	select {
	case <-a:
	case b <- 1:
	}
}

func selectsNone() { select {} }

func selectsTime(a chan int) {
	select {
	case <-a:
	case <-time.After(time.Hour):
	}
}

func timers() {
	for range 20 {
		go sleeps()
		go func() { <-time.After(time.Hour) }()
	}
	for range 3 {
		go movesWithTicks()
		go movesWithSleep()
	}
}

func sleeps() { time.Sleep(time.Hour) }

func movesWithTicks() {
	for range time.Tick(100 * time.Microsecond) {
	}
}

func movesWithSleep() {
	for {
		time.Sleep(50 * time.Microsecond)
	}
}

func network() {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	u := must(net.ListenPacket("udp", "127.0.0.1:0"))
	dial := func() net.Conn { return must(net.Dial("tcp", l.Addr().String())) }
	accept := func() net.Conn { return must(l.Accept()) }
	for range 20 {
		keep = append(keep, dial())
		go reads(accept())
	}
	dial()
	go writes(accept())
	for range 3 {
		from := dial()
		go movesAsEcho(accept())
		go movesAsCaller(from)
	}
	go accepts(l)
	go packets(u)
}

func accepts(l net.Listener)   { l.Accept() }
func reads(r io.Reader)        { r.Read(make([]byte, 1)) }
func writes(w io.Writer)       { w.Write(make([]byte, 100<<20)) }
func packets(c net.PacketConn) { c.ReadFrom(make([]byte, 1)) }
func movesAsEcho(c net.Conn)   { io.Copy(c, c) }

func movesAsCaller(c net.Conn) {
	for b := make([]byte, 1); ; {
		c.Write(b)
		c.Read(b)
	}
}

func files() {
	for range 10 {
		r, w, err := os.Pipe()
		keep = append(keep, w)
		go reads(must(r, err))
		var fd [2]int
		if err := syscall.Pipe(fd[:]); err != nil {
			panic(err)
		}
		go readsBlocking(fd[0])
	}
	go movesThroughCalls()
}

func readsBlocking(fd int) { syscall.Read(fd, make([]byte, 1)) }

func movesThroughCalls() {
	for {
		syscall.Getppid()
		syscall.Nanosleep(&syscall.Timespec{Nsec: 1000}, nil)
	}
}

func waits() {
	var wg sync.WaitGroup
	wg.Add(1)
	cond := sync.NewCond(new(sync.Mutex))
	var once sync.Once
	for range 20 {
		go waitsForGroup(&wg)
		go waitsForCond(cond)
	}
	go once.Do(sleeps)
	time.Sleep(10 * time.Millisecond)
	go waitsForOnce(&once)
	keep = append(keep, &wg, cond, &once)
}

func waitsForGroup(wg *sync.WaitGroup) { wg.Wait() }
func waitsForOnce(once *sync.Once)     { once.Do(sleeps) }

func waitsForCond(c *sync.Cond) {
	c.L.Lock()
	c.Wait()
}

func collecting() {
	channels()
	for range 4 {
		go movesAndAllocates()
	}
}

func movesAndAllocates() {
	var list [100][]byte
	for i := 0; ; i++ {
		list[i%len(list)] = make([]byte, 10_000)
		if i%1000 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

func spinning() {
	for range 5 {
		go movesInALoop()
		go movesAndYields()
		go sleeps()
	}
}

func movesInALoop() {
	for n := 0; ; n++ {
	}
}

func movesAndYields() {
	for {
		runtime.Gosched()
	}
}

func pipelines() {
	for range 3 {
		c := make(chan int)
		go movesAsSource(c)
		for range 10 {
			next := make(chan int)
			go movesAsStage(c, next)
			c = next
		}
		go movesAsSink(c)
	}
	go sleeps()
}

func movesAsSource(c chan int) {
	for n := 0; ; n++ {
		c <- n
	}
}

func movesAsStage(from, to chan int) {
	for n := range from {
		to <- n
	}
}

func movesAsSink(c chan int) {
	for range c {
		time.Sleep(time.Microsecond)
	}
}

func threads() {
	c := make(chan int)
	for range 10 {
		go locked(func() { receives(c) })
		go locked(sleeps)
	}
	go locked(func() {
		var fd [2]int
		syscall.Pipe(fd[:])
		readsBlocking(fd[0])
	})
	for range 2 {
		go movesLocked()
	}
	keep = append(keep, c)
}

func locked(f func()) {
	runtime.LockOSThread()
	f()
}

func movesLocked() {
	runtime.LockOSThread()
	for {
		time.Sleep(50 * time.Microsecond)
	}
}

type T[E any] struct{ c chan E }

func (t *T[E]) receives()             { <-t.c }
func (t T[E]) sends(e E)              { t.c <- e }
func generic[E any](c chan E, e ...E) { c <- e[0] }

type reader interface{ receives() }

func names() {
	i := &T[int]{make(chan int)}
	s, u := &T[string]{make(chan string)}, &T[string]{make(chan string)}
	var r reader = i
	for range 5 {
		go i.receives()
		go r.receives()
		go s.sends("s")
		go generic(make(chan [3]int), [3]int{})
		go generic(make(chan string), "a", "b")
		go func() { func() { <-i.c }() }()
		f := u.receives
		go f()
		defer func() { go func() { <-i.c }() }()
	}
	next, _ := iter.Pull(func(yield func(int) bool) {
		for yield(1) {
		}
	})
	next()
	time.AfterFunc(time.Millisecond, func() { <-i.c })
	keep = append(keep, next, i, s, u)
}

func deep() {
	c := make(chan int)
	for n := range 20 {
		go recurses(n*20, c)
	}
	keep = append(keep, c)
}

func recurses(n int, c chan int) {
	if n == 0 {
		<-c
		return
	}
	recurses(n-1, c)
	runtime.KeepAlive(c)
}

var started atomic.Int64

// churn starts goroutines of three kinds, which all take the structures of those
// that ended.
func churn() {
	a, b, none := make(chan int), make(chan int), make(chan int)
	go movesAndStarts(func(wg *sync.WaitGroup) { go movesOnceReceiving(a, wg) }, a)
	go movesAndStarts(func(wg *sync.WaitGroup) { go movesOnceSelecting(b, none, wg) }, b)
	go movesAndStarts(func(wg *sync.WaitGroup) { go movesOnceSleeping(wg) }, nil)
	channels()
}

func movesOnceReceiving(c chan int, wg *sync.WaitGroup) {
	<-c
	wg.Done()
}

func movesOnceSelecting(a, b chan int, wg *sync.WaitGroup) {
	select {
	case <-a:
	case <-b:
	}
	wg.Done()
}

func movesOnceSleeping(wg *sync.WaitGroup) {
	time.Sleep(time.Microsecond)
	wg.Done()
}

func movesAndStarts(start func(*sync.WaitGroup), c chan int) {
	for {
		var wg sync.WaitGroup
		wg.Add(100)
		for range 100 {
			start(&wg)
		}
		if c != nil {
			for range 100 {
				c <- 1
			}
		}
		wg.Wait()
		started.Add(100)
	}
}

func leaks() {
	for range 10 {
		go receives(make(chan int))
		go locks(lockedForEver())
	}
	go sleeps()
}

func lockedForEver() *sync.Mutex {
	mu := new(sync.Mutex)
	mu.Lock()
	return mu
}

var held sync.Mutex

//go:noinline
func one() { held.Lock(); held.Unlock() }

//go:noinline
func two() { held.Lock(); held.Unlock() }

//go:noinline
func large() {
	var a [200]byte
	fmt.Fprint(os.Stderr, string(a[:0]))
	held.Lock()
	held.Unlock()
	fmt.Fprint(os.Stderr, string(a[:0]))
}

func begins(f func()) { go func() { f() }() }

// apart has goroutines of one go statement that wait for locks at several lines: of
// functions of one size, and of one with more on its stack.
func apart() {
	held.Lock()
	for range 3 {
		begins(one)
	}
	begins(two)
	for range 20 {
		begins(large)
	}
}

type handle struct{ number [64]byte }

//go:noinline
func closing(c chan *handle, h *handle) { c <- h }

// cleaner has a finalizer that waits.
func cleaner() {
	c := make(chan *handle)
	runtime.SetFinalizer(new(handle), func(h *handle) { closing(c, h) })
	for range 3 {
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
	}
}

func labelled(c chan int, n int, keys ...string) {
	pprof.Do(context.Background(), pprof.Labels(keys...), func(context.Context) {
		for range n {
			go receives(c)
		}
	})
}

// labels has goroutines with labels and without.
func labels() {
	c := make(chan int)
	labelled(c, 30, "route", "/orders", "zone", "b")
	labelled(c, 20, "route", "/users")
	labelled(c, 1, "route", "/users")
	for range 6 {
		go receives(c)
	}
	labelled(c, 2, "query", "SELECT\n\t1", "empty", "")
	labelled(c, 2, "long", strings.Repeat("é", 1000))
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("k%02d", i), "v")
	}
	labelled(c, 3, many...)
	var wg sync.WaitGroup
	for i := range 100 {
		ctx := pprof.WithLabels(context.Background(), pprof.Labels("request", fmt.Sprint(i)))
		wg.Add(1)
		go func() {
			pprof.SetGoroutineLabels(ctx)
			wg.Done()
			locks(lockedForEver())
		}()
	}
	wg.Wait()
	keep = append(keep, c)
}

func main() {
	kinds[os.Args[1]]()
	time.Sleep(50 * time.Millisecond)
	runtime.GC()
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch command, rest, _ := strings.Cut(in.Text(), " "); command {
		case "count":
			fmt.Println(runtime.NumGoroutine())
		case "started":
			fmt.Println(started.Load())
		case "stacks":
			pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
			fmt.Println("end of stacks")
		case "leaks":
			if p := pprof.Lookup("goroutineleak"); p != nil {
				p.WriteTo(io.Discard, 1)
			}
			fmt.Println("looked for")
		case "metrics":
			for _, d := range metrics.All() {
				if name, ok := strings.CutPrefix(d.Name, "/sched/goroutines"); ok {
					s := []metrics.Sample{{Name: d.Name}}
					metrics.Read(s)
					fmt.Println(name, s[0].Value.Uint64())
				}
			}
			fmt.Println("end of metrics")
		case "become":
			args := strings.Fields(rest)
			panic(syscall.Exec(args[0], args, os.Environ()))
		case "end":
			return
		}
	}
}
