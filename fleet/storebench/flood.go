package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/server"
	"github.com/gowhy/gowhy/fleet/store/embedded"
)

const (
	// floodMemory is the server's --memory, its default.
	floodMemory = 256 << 20
	// floodPushes each client sends, floodTries times at most.
	floodPushes, floodTries = 6, 4
	// A push is a megabyte, packed, of stacks that nobody sent before.
	floodStacks, floodFunctions, floodDepth = 60_000, 2000, 12
	// Or it is few stacks, of functions whose names are long.
	namedStacks, namedFunctions = 6000, 1500
)

// flood has a number of clients push as much as they can to a whole server, which is the
// measured process; the clients are another. Others ask questions meanwhile. A name is the
// length of the functions' names in bytes; where it is 0 they push many stacks.
func flood(clients, name int) func(ctx context.Context, dir string) ([]Figure, error) {
	return func(ctx context.Context, dir string) ([]Figure, error) {
		s, err := embedded.Open(filepath.Join(dir, "data"), embedded.Options{Memory: server.TableBytes(floodMemory)})
		if err != nil {
			return nil, err
		}
		debug.SetMemoryLimit(floodMemory)
		served, stop := context.WithCancel(ctx)
		defer stop()
		address, ended := make(chan string, 1), make(chan error, 1)
		go func() {
			ended <- server.Serve(served, s, server.Options{Listen: "127.0.0.1:0", Memory: floodMemory, Ready: func(a string) { address <- a }})
		}()
		var f flooded
		select {
		case err = <-ended:
		case a := <-address:
			idle := peakMemory()
			f, err = floodFrom(ctx, clients, name, "http://"+a)
			f.Idle = idle
			stop()
			err = errors.Join(err, <-ended)
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return nil, err
		}
		return f.figures(clients, name), nil
	}
}

// flooded is what the clients saw.
type flooded struct {
	Idle                   float64 // the server's peak before
	Kept, Refused, Retried int     // pushes
	Asked, Large           int     // questions answered, and answered that they need too much
	Unanswered             int
	Slowest                float64 // seconds
}

func (f *flooded) figures(clients, name int) []Figure {
	of := fmt.Sprintf(" %d clients of %d pushes of 60,000 new stacks", clients, floodPushes)
	if name > 0 {
		of = fmt.Sprintf(" %d clients of %d pushes of 1,500 names of %d bytes", clients, floodPushes, name)
	}
	return []Figure{
		{Name: "peak memory of the server with" + of, Unit: "MB", Value: peakMemory() / (1 << 20), Bar: floodMemory>>20 + floodConstant},
		{Name: "peak memory of the server before" + of, Unit: "MB", Value: f.Idle / (1 << 20)},
		{Name: "pushes kept of" + of, Unit: "pushes", Value: float64(f.Kept)},
		{Name: "pushes refused in the end of" + of, Unit: "pushes", Value: float64(f.Refused)},
		{Name: "answers of 429 to" + of, Unit: "answers", Value: float64(f.Retried)},
		{Name: "questions answered beside" + of, Unit: "questions", Value: float64(f.Asked)},
		{Name: "questions too large for the memory beside" + of, Unit: "questions", Value: float64(f.Large)},
		{Name: "questions not answered beside" + of, Unit: "questions", Value: float64(f.Unanswered)},
		{Name: "slowest answer beside" + of, Unit: "s", Value: f.Slowest},
	}
}

// floodConstant is what a process has beside what --memory bounds: the pages of its
// executable and what SQLite allocates, in MB.
const floodConstant = 64

// floodFrom starts the process of the clients.
func floodFrom(ctx context.Context, clients, name int, url string) (f flooded, err error) {
	program, err := os.Executable()
	if err != nil {
		return f, err
	}
	child := exec.CommandContext(ctx, program, "-flood", strconv.Itoa(clients), "-name", strconv.Itoa(name), "-to", url)
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err == nil {
		err = json.Unmarshal(out, &f)
	}
	return f, err
}

// floodClients returns the process of the clients.
func floodClients(ctx context.Context, clients, name int, url string, stdout io.Writer) error {
	f := &flooding{url: url, name: name}
	done := make(chan struct{})
	var asking, pushing sync.WaitGroup
	asking.Go(func() { f.ask(done) })
	for client := range clients {
		pushing.Go(func() {
			for i := range floodPushes {
				f.push(ctx, uint64(client*floodPushes+i))
			}
		})
	}
	pushing.Wait()
	close(done)
	asking.Wait()
	return json.NewEncoder(stdout).Encode(f.flooded)
}

type flooding struct {
	url    string
	name   int        // bytes of names, 0 for many stacks
	making sync.Mutex // a body at a time: the clients are not what is measured
	mu     sync.Mutex
	flooded
}

// push sends a body until it is kept, or often enough.
func (f *flooding) push(ctx context.Context, seed uint64) {
	f.making.Lock()
	body := floodBody(seed, f.name)
	f.making.Unlock()
	for range floodTries {
		now := time.Now()
		url := fmt.Sprintf("%s/ingest?name=flood%d{pod=p%d}&from=%d&until=%d", f.url, seed%10, seed, now.Unix()-15, now.Unix())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			break
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		io.Copy(io.Discard, a.Body) //nolint:errcheck // its status counts
		a.Body.Close()
		f.mu.Lock()
		if a.StatusCode == http.StatusOK {
			f.Kept++
		} else {
			f.Retried++
		}
		f.mu.Unlock()
		if a.StatusCode == http.StatusOK {
			return
		}
		wait, _ := strconv.Atoi(a.Header.Get("Retry-After"))
		time.Sleep(time.Duration(min(max(wait, 1), 5)) * time.Second)
	}
	f.mu.Lock()
	f.Refused++
	f.mu.Unlock()
}

// ask asks again and again.
func (f *flooding) ask(done chan struct{}) {
	for {
		for _, path := range []string{"/api/v1/services?from=now-1h", "/api/v1/flame?from=now-1h&service=flood0&type=cpu"} {
			begin := time.Now()
			a, err := http.Get(f.url + path)
			if err == nil {
				io.Copy(io.Discard, a.Body) //nolint:errcheck // its status counts
				a.Body.Close()
			}
			f.mu.Lock()
			switch {
			case err != nil:
				f.Unanswered++
			case a.StatusCode == http.StatusUnprocessableEntity:
				f.Large++
			case a.StatusCode == http.StatusOK, a.StatusCode == http.StatusNotFound: // which there is at the begin
				f.Asked++
				f.Slowest = max(f.Slowest, time.Since(begin).Seconds())
			default:
				f.Unanswered++
			}
			f.mu.Unlock()
		}
		select {
		case <-done:
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// floodBody returns a profile of CPU whose stacks and names depend on the seed. Names that are to
// have a number of bytes are words again and again, which gzip makes small.
func floodBody(seed uint64, name int) []byte {
	stacks, functions := floodStacks, uint64(floodFunctions)
	if name > 0 {
		stacks, functions = namedStacks, namedFunctions
	}
	random := rand.New(rand.NewPCG(seed, 1))
	var p, m []byte
	message := func(number protowire.Number, body []byte) {
		p = protowire.AppendBytes(protowire.AppendTag(p, number, protowire.BytesType), body)
	}
	field := func(number protowire.Number, v uint64) {
		m = protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), v)
	}
	const first = 3 // the number of the first function's name
	message(1, []byte{1 << 3, 1, 2 << 3, 2})
	message(11, []byte{1 << 3, 1, 2 << 3, 2})
	for _, text := range []string{"", "cpu", "nanoseconds"} {
		message(6, []byte(text))
	}
	for i := range functions {
		text := fmt.Appendf(nil, "shop/seed%d.function%d", seed, i)
		for len(text) < name {
			text = append(text, text[:min(len(text), name-len(text))]...)
		}
		message(6, text)
		m = m[:0]
		field(1, i+1)
		field(2, first+i)
		message(5, m)
		m = protowire.AppendBytes(protowire.AppendTag(m[:0], 4, protowire.BytesType), protowire.AppendVarint([]byte{1 << 3}, i+1))
		field(1, i+1)
		message(4, m)
	}
	for range stacks {
		var ids []byte
		for range floodDepth {
			ids = protowire.AppendVarint(ids, 1+random.Uint64N(functions))
		}
		m = protowire.AppendBytes(protowire.AppendTag(m[:0], 1, protowire.BytesType), ids)
		field(2, 10_000_000)
		message(2, m)
	}
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // a level that there is
	z.Write(p)                                        //nolint:errcheck // to memory
	z.Close()
	return out.Bytes()
}
