// Command program has goroutines of many kinds, as many as it is told, and says
// on each line that it reads which ones it has.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"sync"
	"time"
)

func receives(c chan int) {
	for range c {
	}
}

func sends(c chan int) { c <- 1 }

func sleeps() { time.Sleep(time.Hour) }

func locks(mu *sync.Mutex) { mu.Lock() }

func waits(wg *sync.WaitGroup) { wg.Wait() }

func selects(a, b chan int) {
	select {
	case <-a:
	case <-b:
	}
}

func accepts(l net.Listener) {
	c, err := l.Accept()
	fmt.Println(c, err)
}

func reads(f *os.File) { f.Read(make([]byte, 1)) }

// spins runs as long as the program does.
func spins() {
	for n := 0; ; n++ {
	}
}

// comesAndGoes starts goroutines that end at once.
func comesAndGoes() {
	for {
		var wg sync.WaitGroup
		for range 100 {
			wg.Add(1)
			go func() { defer wg.Done(); runtime.Gosched() }()
		}
		wg.Wait()
	}
}

// counters are those of runtime/metrics of now, in the order that the test has.
func counters() (values []int64) {
	samples := []metrics.Sample{
		{Name: "/sched/gomaxprocs:threads"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"},
		{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}, {Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/cycles/forced:gc-cycles"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		values = append(values, int64(s.Value.Uint64()))
	}
	return values
}

// usage is what the runtime says of its memory, in the order that the test has, and where
// an object is.
func usage() {
	var s runtime.MemStats
	object := new([64]byte)
	runtime.ReadMemStats(&s)
	fmt.Println(s.HeapAlloc, s.HeapInuse-s.HeapAlloc, s.HeapIdle-s.HeapReleased, s.StackInuse,
		s.MSpanSys, s.MCacheSys, s.BuckHashSys, s.GCSys)
	fmt.Printf("%p\n", object)
	runtime.KeepAlive(object)
}

var kept [][]byte

//go:noinline
func keeps(n int) {
	for i := 0; i < n; i++ {
		kept = append(kept, make([]byte, 4096))
	}
}

// heap keeps some memory, lets go of half of it, and says what the memory profile has:
// by line an object's size, how many were allocated and freed, and the stack.
func heap() {
	keeps(5000)
	for i := range kept[:2500] {
		kept[i] = nil
	}
	records := make([]runtime.MemProfileRecord, 1<<16)
	runtime.GC() // what is told is of the collection before
	runtime.GC()
	n, _ := runtime.MemProfile(records, true)
	for i := range records[:n] {
		if r := &records[i]; r.AllocObjects > 0 {
			fmt.Println(r.AllocBytes/r.AllocObjects, r.AllocObjects, r.FreeObjects, r.Stack())
		}
	}
}

func main() {
	each := flag.Int("each", 0, "goroutines of each kind")
	spinning := flag.Int("spin", 0, "goroutines that run")
	churn := flag.Int("churn", 0, "goroutines that start others")
	flag.Parse()
	var mu sync.Mutex
	mu.Lock()
	var wg sync.WaitGroup
	wg.Add(1)
	a, b := make(chan int), make(chan int)
	for range *each {
		go receives(a)
		go sends(nil)
		go sleeps()
		go locks(&mu)
		go waits(&wg)
		go selects(b, b)
		go func() { <-b }()
	}
	if *each > 0 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		go accepts(l)
		r, w, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		defer w.Close() // not by a collection, which would end what reads
		go reads(r)
	}
	for range *spinning {
		go spins()
	}
	for range *churn {
		go comesAndGoes()
	}
	time.Sleep(100 * time.Millisecond) // all wait then, on a machine that others use too
	runtime.GC()                       // the garbage collector's own workers are there from now on
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "count":
			fmt.Println(runtime.NumGoroutine())
		case "counters":
			fmt.Println(counters())
			fmt.Println("end of counters")
		case "usage":
			usage()
			fmt.Println("end of usage")
		case "heap":
			heap()
			fmt.Println("end of heap")
		case "collect":
			runtime.GC()
			fmt.Println("collected")
		case "stacks":
			pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
			fmt.Println("end of stacks")
		}
	}
}
