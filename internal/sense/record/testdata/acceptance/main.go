// Command acceptance is what the acceptance tests of package record record:
// programs of known behaviour that write their own CPU time beside it.
//
//	acceptance KIND FILE
//
// FILE gets a line "wall-ns cpu-ns" a hundred times a second. Without the build
// tag "agent" the program has nothing that a recorder could ask but what the
// kind itself serves.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

var kinds = map[string]func(){
	"server": server,
	"worker": worker,
	"files":  files,
	"wake":   wake,
}

func main() {
	if len(os.Args) != 3 || kinds[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "acceptance KIND FILE")
		os.Exit(2)
	}
	log, err := os.Create(os.Args[2])
	check(err)
	go tell(log)
	kinds[os.Args[1]]()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tell writes what getrusage says of this process, to its end.
func tell(log *os.File) {
	var line []byte
	for {
		var u syscall.Rusage
		check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		line = fmt.Appendf(line[:0], "%d %d\n", time.Now().UnixNano(), u.Utime.Nano()+u.Stime.Nano())
		_, err := log.Write(line)
		check(err)
		time.Sleep(10 * time.Millisecond)
	}
}

// An order is what the server answers with, and the worker makes of bytes.
type order struct {
	ID    int
	Name  string
	Items []string
}

func newOrder(id int) order {
	o := order{ID: id, Name: fmt.Sprint("order ", id)}
	for i := range 20 {
		o.Items = append(o.Items, fmt.Sprint("item ", id, i))
	}
	slices.Sort(o.Items)
	return o
}

// server serves orders and net/http/pprof, and has clients of its own.
func server() {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/order", func(w http.ResponseWriter, _ *http.Request) {
		check(json.NewEncoder(w).Encode(newOrder(7)))
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	url := "http://" + l.Addr().String()
	for range 2 {
		go client(url + "/order")
	}
	fmt.Println(url)
	check(http.Serve(l, mux))
}

func client(url string) {
	c := &http.Client{Transport: &http.Transport{}}
	for {
		resp, err := c.Get(url)
		check(err)
		_, err = io.Copy(io.Discard, resp.Body)
		check(err)
		resp.Body.Close()
	}
}

// worker computes, allocates, passes on and writes what it made.
func worker() {
	fmt.Println("ready")
	orders := make(chan order)
	go func() {
		for i := 0; ; i++ {
			orders <- newOrder(i)
		}
	}()
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	check(err)
	for o := range orders {
		check(json.NewEncoder(out).Encode(o))
	}
}

// files opens a file, reads and writes it in pieces and closes it, again and again.
func files() {
	const pieces, size = 16, 16 << 10
	name := os.Args[2] + ".data"
	check(os.WriteFile(name, make([]byte, pieces*size), 0o600))
	fmt.Println("ready")
	buf := make([]byte, size)
	for {
		readAndWrite(name, buf, pieces)
	}
}

func readAndWrite(name string, buf []byte, pieces int) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	check(err)
	for i := range pieces {
		_, err := f.ReadAt(buf, int64(i*len(buf)))
		check(err)
		if i%4 == 0 {
			_, err = f.Write(buf[:4096])
			check(err)
		}
	}
	check(f.Close())
}

// wake does next to nothing, often, and each time on another thread.
func wake() {
	for range 64 {
		go func() {
			runtime.LockOSThread()
			for range time.Tick(time.Millisecond) {
			}
		}()
	}
	fmt.Println("ready")
	select {}
}
