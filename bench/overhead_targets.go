package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof" // what most programs are recorded through
	"os"
	"strings"
	"sync/atomic"
	"time"

	_ "github.com/gowhy/gowhy/agent" // rates, metrics and everything else
)

// A target is a program that is recorded: it does one thing without pause.
type target struct {
	name, doc string
	work      func(ctx context.Context, ops *atomic.Int64) error
}

// targets are the programs, by what they give a recorder to see.
var targets = []target{
	{"compute", "Hashes 4 KiB blocks and keeps a few: hardly an event.", compute},
	{"allocate", "Builds small maps and strings and drops them: the collector works.", allocate},
	{"channels", "Pairs of goroutines hand values to each other over unbuffered channels: four events of the scheduler an " +
		"operation. Each pair has a timer, as programs have.", channels},
	{"syscalls", "Reads 64 bytes of a file at a time: one system call an operation.", syscalls},
	{"http", "A net/http server and its own clients over loopback.", requests},
	{"cache", "Replaces entries of a full cache of 64 MiB: what it costs to have a heap read.", replaceEntries},
	{"crowd", "Hashes as compute does, beside 10,000 goroutines that wait: what it costs to be watched with many.", crowd},
}

func targetNames() string {
	var names []string
	for _, t := range targets {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

// beTarget returns the measured process: it works until it is ended, and tells its
// address in its first line of output.
func beTarget(ctx context.Context, name string, stdout io.Writer) error {
	for _, t := range targets {
		if t.name == name {
			return serveTarget(ctx, t, stdout)
		}
	}
	return fmt.Errorf("no program is called %q; there are %s", name, targetNames())
}

func serveTarget(ctx context.Context, t target, stdout io.Writer) error {
	var ops atomic.Int64
	begin := time.Now()
	http.HandleFunc("/count", func(w http.ResponseWriter, _ *http.Request) {
		cpu, err := ownCPU()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		// The client is gone if this fails.
		_ = json.NewEncoder(w).Encode(tally{ops.Load(), cpu.Seconds(), time.Since(begin).Seconds()})
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(l, nil)
	fmt.Fprintf(stdout, "http://%s\n", l.Addr())
	return t.work(ctx, &ops)
}

// crowd computes beside goroutines that wait for its end.
func crowd(ctx context.Context, ops *atomic.Int64) error {
	for range 10_000 {
		go func() { <-ctx.Done() }()
	}
	return compute(ctx, ops)
}

func compute(ctx context.Context, ops *atomic.Int64) error {
	block := make([]byte, 4<<10)
	for ctx.Err() == nil {
		sum := sha256.Sum256(block)
		copy(block, sum[:])
		ops.Add(1)
	}
	return nil
}

func allocate(ctx context.Context, ops *atomic.Int64) error {
	var kept [1 << 12]map[int]string
	for i := 0; ctx.Err() == nil; i++ {
		m := make(map[int]string, 8)
		for k := range 8 {
			m[k] = fmt.Sprint(i, k)
		}
		kept[i%len(kept)] = m
		ops.Add(1)
	}
	return nil
}

// replaceEntries is a cache of 2^16 entries of a KiB each, of which one is replaced at a time.
func replaceEntries(ctx context.Context, ops *atomic.Int64) error {
	type entry struct {
		key  string
		body []byte
	}
	const entries = 1 << 16
	cache := make(map[int]*entry, entries)
	for i := 0; ctx.Err() == nil; i++ {
		at := i * 40_503 % entries // all, one far from the other
		cache[at] = &entry{fmt.Sprint("key-", i), make([]byte, 1<<10)}
		ops.Add(1)
	}
	return nil
}

// A program without any timer pays for its first one on each P: the scheduler
// then reads the clock for every goroutine that it picks, which is 5 to 9 % of
// such a program. Nearly all have some, and so has this one; but tickers stay
// on the P that made them, and the other Ps are still without.
func channels(ctx context.Context, ops *atomic.Int64) error {
	for range 8 {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		there, back := make(chan int), make(chan int)
		go func() {
			for v := range there {
				back <- v + 1
			}
		}()
		go func() {
			defer close(there)
			for ctx.Err() == nil {
				there <- 1
				<-back
				ops.Add(1)
			}
		}()
	}
	<-ctx.Done()
	return nil
}

func syscalls(ctx context.Context, ops *atomic.Int64) error {
	f, err := os.CreateTemp("", "gowhy-overhead-")
	if err != nil {
		return err
	}
	defer f.Close()
	defer os.Remove(f.Name())
	buf := make([]byte, 64)
	if _, err := f.Write(buf); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if _, err := f.ReadAt(buf, 0); err != nil {
			return err
		}
		ops.Add(1)
	}
	return nil
}

func requests(ctx context.Context, ops *atomic.Int64) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello, %s\n", r.URL.Path)
	}))
	url := fmt.Sprintf("http://%s/world", l.Addr())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	for range 8 {
		go func() {
			for ctx.Err() == nil {
				resp, err := client.Get(url)
				if err != nil {
					continue
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				ops.Add(1)
			}
		}()
	}
	<-ctx.Done()
	return nil
}
