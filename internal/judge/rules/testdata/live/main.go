// Command live is what the live tests of the rules record: programs with and
// without the illnesses that only the system's counters show.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	_ "github.com/gowhy/gowhy/agent"
)

var cases = map[string]func(){
	"lines":     func() { lines(false) },
	"buffered":  func() { lines(true) },
	"bytes":     readBytes,
	"reopen":    reopen,
	"kept":      kept,
	"broadcast": broadcast,
	"handover":  handOver,
	"locked":    locked,
	"web":       web,
	"leak":      leak,
	"growth":    growth,
	"mapped":    mapped,
	"burst":     func() { burst(false) },
	"copied":    func() { burst(true) },
	"pool":      pool,
	"compute":   func() { compute(4) },
	"single":    func() { compute(1) },
	"rest":      func() { select {} },
}

func main() {
	if len(os.Args) != 2 || cases[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "live CASE")
		os.Exit(2)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go http.Serve(l, nil)
	fmt.Printf("http://%s\n", l.Addr())
	cases[os.Args[1]]()
}

// temporary is a file of its own, which has no name any more.
func temporary() *os.File {
	f, err := os.CreateTemp("", "live")
	if err != nil {
		panic(err)
	}
	os.Remove(f.Name())
	return f
}

func lines(buffer bool) {
	f := temporary()
	var w io.Writer = f
	if buffer {
		w = bufio.NewWriterSize(f, 64<<10)
	}
	var line []byte
	for n := int64(0); ; n++ {
		line = strconv.AppendInt(append(line[:0], "line "...), n, 10)
		line = append(line, " of the log\n"...)
		w.Write(line)
		if n%100_000 == 0 {
			f.Seek(0, io.SeekStart) // or the disk fills
		}
	}
}

func readBytes() {
	f := temporary()
	f.Write(make([]byte, 1<<20))
	for b := make([]byte, 1); ; {
		if _, err := f.Read(b); err != nil {
			f.Seek(0, io.SeekStart)
		}
	}
}

func reopen() {
	for {
		os.ReadFile("/proc/self/stat")
	}
}

func kept() {
	f, err := os.Open("/proc/self/stat")
	if err != nil {
		panic(err)
	}
	for b := make([]byte, 4096); ; {
		n, _ := f.ReadAt(b, 0)
		for range 200 {
			for _, c := range b[:n] {
				seen = seen*31 + uint64(c)
			}
		}
	}
}

// seen is what kept makes of what it reads: a monitor that only read would be
// bound by system calls, rightly.
var seen uint64

// broadcast wakes hundreds by closing a channel, a thousand times a second and more.
func broadcast() {
	var mu sync.Mutex
	c := make(chan struct{})
	for range 900 {
		go func() {
			for {
				mu.Lock()
				c := c
				mu.Unlock()
				<-c
			}
		}()
	}
	for {
		mu.Lock()
		old := c
		c = make(chan struct{})
		mu.Unlock()
		close(old)
		time.Sleep(200 * time.Microsecond)
	}
}

func handOver() {
	c := make(chan int)
	for range 4 {
		go func() {
			for range c {
			}
		}()
	}
	for n := 0; ; n++ {
		c <- n
	}
}

// locked hands a number to and fro between goroutines that are bound to their threads.
func locked() {
	there, back := make(chan int), make(chan int)
	go func() {
		runtime.LockOSThread()
		for n := range there {
			back <- n
		}
	}()
	runtime.LockOSThread()
	for n := 0; ; n++ {
		there <- n
		<-back
	}
}

// web answers clients that think for a moment, each request with one small answer.
// web is asked by 64 clients that do not keep step: those that all wait as long
// come together, and then do stand in a queue for two processors.
func web() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "well\n") }))
	s.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	for range 64 {
		go func() {
			for {
				if r, err := s.Client().Get(s.URL); err == nil {
					io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
				time.Sleep(rand.N(20 * time.Millisecond))
			}
		}()
	}
	select {}
}

// leak asks somebody who answers too late, and has no room for the answer.
func leak() {
	for {
		answer := make(chan int)
		go func() {
			time.Sleep(5 * time.Millisecond)
			answer <- 42
		}()
		select {
		case <-answer:
		case <-time.After(2 * time.Millisecond):
		}
	}
}

var hub struct {
	sync.Mutex
	topics []chan string
}

// growth subscribes for each request, and nobody ends a subscription. The hub
// is global, so that nothing is proved to have leaked.
func growth() {
	for {
		topic := make(chan string)
		hub.Lock()
		hub.topics = append(hub.topics, topic)
		hub.Unlock()
		go func() {
			for range topic {
			}
		}()
		time.Sleep(2 * time.Millisecond)
	}
}

// pool starts its workers once and keeps them.
func pool() {
	work := make(chan int)
	for range 300 {
		go func() {
			for range work {
				time.Sleep(time.Millisecond)
			}
		}()
	}
	for n := 0; ; n++ {
		work <- n
		time.Sleep(50 * time.Microsecond)
	}
}

func compute(workers int) {
	for range workers {
		go func() {
			for x := uint64(1); ; {
				for range 100_000 {
					x = x*6364136223846793005 + 1442695040888963407
				}
				if x == 0 {
					os.Exit(3) // x is needed
				}
			}
		}()
	}
	select {}
}

// mapped takes memory of which the runtime knows nothing, and gives none back.
func mapped() {
	for {
		b, err := syscall.Mmap(-1, 0, 64<<10, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			panic(err)
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// An entry is of 96 bytes: 85 share a page of the heap.
type entry struct {
	_    *entry
	text [88]byte
}

var index []*entry

// burst makes many entries and keeps one of each page, or copies of them that lie together, and
// then works with what is of other sizes.
func burst(copies bool) {
	all := make([]*entry, 1_000_000)
	for i := range all {
		all[i] = new(entry)
	}
	var together []entry
	for i := 0; i < len(all); i += 85 {
		index = append(index, all[i])
		together = append(together, *all[i])
	}
	if copies {
		index = index[:0]
		for i := range together {
			index = append(index, &together[i])
		}
		clear(index[len(index):cap(index)])
	}
	clear(all)
	for range 3 {
		runtime.GC()
	}
	for n := 0; ; n++ {
		index[n%len(index)].text[n%88] = byte(len(fmt.Sprint(make([]byte, 700+n%7)[n%700 : n%700+1])))
		if n%200 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}
