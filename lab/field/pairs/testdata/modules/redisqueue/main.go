// Redisqueue serves a page whose parts are looked up in a cache that is down; what
// cannot be looked up is made.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

type page struct {
	cache *redis.Client
	made  atomic.Int64
}

// part looks a part up, or makes it.
func (p *page) part(ctx context.Context, key string) string {
	text, err := p.cache.Get(ctx, key).Result()
	if err == nil {
		return text
	}
	p.made.Add(1)
	return strings.Repeat(key+" ", 20)
}

// down is the cache's network, which gives no connection.
func down(context.Context, string, string) (net.Conn, error) {
	time.Sleep(time.Millisecond)
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("no route to host")}
}

func main() {
	length := flag.Duration("length", 7*time.Second, "how long pages are asked for")
	flag.Parse()
	p := &page{cache: redis.NewClient(&redis.Options{
		Dialer: down, PoolSize: 1000, MaxRetries: -1, DialerRetries: 1,
	})}
	ctx, stop := context.WithTimeout(context.Background(), *length)
	defer stop()
	var n atomic.Int64
	var readers sync.WaitGroup
	for reader := range 40 {
		readers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				p.part(ctx, fmt.Sprintf("part%d-%d", reader, i%100))
				n.Add(1)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	readers.Wait()
	fmt.Println("made:", p.made.Load())
	fmt.Println("operations:", n.Load())
}
