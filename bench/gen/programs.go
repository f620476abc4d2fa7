package gen

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/trace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// channels: 32 pipelines of a producer, a stage that selects and a consumer;
// each eight share a mutex.
func channels(full func() bool) error {
	const pipelines = 32
	var (
		wg    sync.WaitGroup
		locks [pipelines / 8]sync.Mutex
		sums  [pipelines / 8]uint64
	)
	for p := range pipelines {
		in, out, quit := make(chan uint64), make(chan uint64, 4), make(chan struct{})
		wg.Go(func() { // producer
			for i := uint64(0); !full(); i++ {
				in <- i
			}
			close(quit)
		})
		wg.Go(func() { // stage
			defer close(out)
			for {
				select {
				case v := <-in:
					out <- compute(v, 200)
				case <-quit:
					return
				}
			}
		})
		wg.Go(func() { // consumer
			for v := range out {
				locks[p/8].Lock()
				sums[p/8] += compute(v, 100)
				locks[p/8].Unlock()
			}
		})
	}
	wg.Wait()
	return nil
}

func serveHTTP(full func() bool) error {
	var served atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := served.Add(1)
		fmt.Fprintf(w, "%s is request %d: %d\n", r.URL.Path, n, compute(uint64(n), 1000))
	}))
	defer server.Close()
	const clients = 32
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()

	failures := make(chan error, clients)
	for c := range clients {
		go func() { failures <- requests(client, server.URL+"/"+strconv.Itoa(c), full) }()
	}
	var first error
	for range clients {
		if err := <-failures; first == nil {
			first = err
		}
	}
	return first
}

func requests(client *http.Client, url string, full func() bool) error {
	for !full() {
		resp, err := client.Get(url)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// spawn: four goroutines that start a thousand others each and wait for them.
func spawn(full func() bool) error {
	var spawners sync.WaitGroup
	for s := range uint64(4) {
		spawners.Go(func() {
			var sum atomic.Uint64
			for !full() {
				var batch sync.WaitGroup
				for i := range uint64(1000) {
					batch.Go(func() { sum.Add(compute(s*1000+i, 100)) })
				}
				batch.Wait()
			}
		})
	}
	spawners.Wait()
	return nil
}

// pool: 2 million tasks of 20 ms, each in a goroutine of its own, at most
// 100,000 at a time.
func pool(func() bool) error {
	const (
		all   = 2_000_000
		alive = 100_000
	)
	var (
		tokens = make(chan struct{}, alive)
		wg     sync.WaitGroup
	)
	for range all {
		tokens <- struct{}{}
		wg.Go(func() {
			time.Sleep(20 * time.Millisecond)
			<-tokens
		})
	}
	wg.Wait()
	return nil
}

type tree struct {
	left, right *tree
	_           [4]uint64
}

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{left: grow(depth - 1), right: grow(depth - 1)}
}

// collect: eight goroutines that build trees, keep the last few and hand one
// now and then to a neighbour.
func collect(full func() bool) error {
	const gardeners = 8
	var (
		wg   sync.WaitGroup
		swap = make(chan *tree, 1)
	)
	for range gardeners {
		wg.Go(func() {
			var kept [16]*tree
			for i := 0; !full(); i++ {
				t := grow(10)
				select {
				case swap <- t:
				case t = <-swap:
				}
				kept[i%len(kept)] = t
			}
		})
	}
	wg.Wait()
	return nil
}

func files(full func() bool) error {
	dir, err := os.MkdirTemp("", "gowhy-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const workers = 64
	failures := make(chan error, workers)
	for w := range workers {
		go func() {
			name := filepath.Join(dir, strconv.Itoa(w))
			data := make([]byte, 4096)
			for !full() {
				if err := writeReadRemove(name, data); err != nil {
					failures <- err
					return
				}
			}
			failures <- nil
		}()
	}
	var first error
	for range workers {
		if err := <-failures; first == nil {
			first = err
		}
	}
	return first
}

func writeReadRemove(name string, data []byte) error {
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return err
	}
	if _, err := os.ReadFile(name); err != nil {
		return err
	}
	return os.Remove(name)
}

// tasks: eight goroutines whose user tasks hold two regions, a log and a
// hand-over to another goroutine.
func tasks(full func() bool) error {
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := 0; !full(); i++ {
				ctx, task := trace.NewTask(context.Background(), "order"+strconv.Itoa(w))
				trace.WithRegion(ctx, "prepare", func() { compute(uint64(i), 300) })
				done := make(chan struct{})
				go trace.WithRegion(ctx, "deliver", func() {
					trace.Logf(ctx, "item", "number %d", i)
					compute(uint64(i), 300)
					close(done)
				})
				<-done
				task.End()
			}
		})
	}
	wg.Wait()
	return nil
}

// coroutines: eight goroutines that each pull from two sequences in turn.
func coroutines(full func() bool) error {
	count := func(yield func(uint64) bool) {
		for i := uint64(0); yield(compute(i, 50)); i++ {
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			a, stopA := iter.Pull(count)
			defer stopA()
			b, stopB := iter.Pull(count)
			defer stopB()
			for !full() {
				a()
				b()
			}
		})
	}
	wg.Wait()
	return nil
}

// compute keeps a CPU busy for some nanoseconds a round.
//
//go:noinline
func compute(seed uint64, rounds int) uint64 {
	x := seed | 1
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
