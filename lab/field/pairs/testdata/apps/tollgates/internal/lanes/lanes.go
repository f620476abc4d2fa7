// Package lanes simulates lane controllers.
package lanes

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tollgates/internal/wire"
)

var classes = [...]string{"moto", "car", "car", "van", "coach", "truck"}

type Stats struct{ Passages, Cents, Links, Pushes atomic.Int64 }

type Plaza struct {
	addr  string
	count int
	stats Stats
}

func New(addr string, count int) *Plaza { return &Plaza{addr: addr, count: count} }

// Run drives all lanes until ctx is over.
func (p *Plaza) Run(ctx context.Context) *Stats {
	var wg sync.WaitGroup
	for i := range p.count {
		wg.Go(func() { p.lane(ctx, fmt.Sprintf("lane-%03d", i)) })
	}
	wg.Wait()
	return &p.stats
}

func (p *Plaza) lane(ctx context.Context, id string) {
	rng := rand.New(rand.NewPCG(uint64(len(id)), uint64(id[5])<<16|uint64(id[6])<<8|uint64(id[7])))
	var stale net.Conn
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", p.addr)
		if err != nil {
			return
		}
		p.stats.Links.Add(1)
		w := bufio.NewWriter(conn)
		wire.Write(w, wire.Frame{Kind: wire.Hello, Body: []byte(id)})
		w.Flush()
		p.work(ctx, rng, conn, w, 12+rng.IntN(20))
		if stale != nil {
			stale.Close()
		}
		stale = conn // the modem drops; the old socket lingers
		if rng.IntN(4) == 0 {
			wire.Write(w, wire.Frame{Kind: wire.Bye})
			w.Flush()
		}
	}
}

func (p *Plaza) work(ctx context.Context, rng *rand.Rand, conn net.Conn, w *bufio.Writer, n int) {
	r := bufio.NewReader(conn)
	for i := 0; i < n && ctx.Err() == nil; i++ {
		time.Sleep(time.Duration(4+rng.IntN(12)) * time.Millisecond)
		body := fmt.Sprintf("%c%c-%04d;%s;%d", 'A'+rng.IntN(26), 'A'+rng.IntN(26), rng.IntN(10000), classes[rng.IntN(6)], 2+rng.IntN(4))
		if wire.Write(w, wire.Frame{Kind: wire.Passage, Body: []byte(body)}) != nil || w.Flush() != nil {
			return
		}
		for {
			f, err := wire.Read(r)
			if err != nil {
				return
			}
			if f.Kind == wire.Push {
				p.stats.Pushes.Add(1)
				continue
			}
			cents, _ := strconv.Atoi(string(f.Body))
			p.stats.Cents.Add(int64(cents))
			p.stats.Passages.Add(1)
			break
		}
	}
}
