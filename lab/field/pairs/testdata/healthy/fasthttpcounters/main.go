// Fasthttpcounters counts events by name, with valyala/fasthttp as its server, and reports the counts as JSON.
package main

import (
	"context"
	"flag"
	"fmt"
	"hash/maphash"
	"log"
	"net"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

const shards = 16

type shard struct {
	mu     sync.Mutex
	counts map[string]int64
}

type counters struct {
	seed   maphash.Seed
	shards [shards]shard
}

func newCounters() *counters {
	c := &counters{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].counts = map[string]int64{}
	}
	for i := range 1000 {
		c.add([]byte("event" + strconv.Itoa(i)))
	}
	return c
}

func (c *counters) add(name []byte) int64 {
	s := &c.shards[maphash.Bytes(c.seed, name)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.counts[string(name)]
	if !ok {
		s.counts[string(name)] = 1
		return 1
	}
	s.counts[string(name)] = n + 1
	return n + 1
}

// report appends all counts as JSON.
func (c *counters) report(out []byte) []byte {
	out = append(out, '{')
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for name, n := range s.counts {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = strconv.AppendQuote(out, name)
			out = append(out, ':')
			out = strconv.AppendInt(out, n, 10)
		}
		s.mu.Unlock()
	}
	return append(out, '}')
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

func (c *counters) handle(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case "/count":
		name := ctx.QueryArgs().Peek("name")
		if len(name) == 0 || len(name) > 64 {
			ctx.Error("a name has 1 to 64 bytes", fasthttp.StatusBadRequest)
			return
		}
		ctx.SetContentType("text/plain")
		ctx.SetBody(strconv.AppendInt(nil, c.add(name), 10))
	case "/report":
		ctx.SetContentType("application/json")
		b := buffers.Get().(*[]byte)
		*b = c.report((*b)[:0])
		ctx.SetBody(*b)
		buffers.Put(b)
	default:
		ctx.Error("not found", fasthttp.StatusNotFound)
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	server := &fasthttp.Server{Handler: newCounters().handle, ReadTimeout: 30 * time.Second, CloseOnShutdown: true}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.ShutdownWithContext(end)
	}()
	fmt.Println("listening")
	if err := server.Serve(l); err != nil {
		log.Fatal(err)
	}
}
