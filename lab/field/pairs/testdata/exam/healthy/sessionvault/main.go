// Sessionvault keeps the sessions of half a million visitors in memory, in shards.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"log"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

const shardCount = 1 << 6

// A session is a visitor's; its cart is rewritten in its place.
type session struct {
	seen int64
	hits uint32
	cart []byte
}

type shard struct {
	mu       sync.Mutex
	sessions map[uint64]*session
	_        [48]byte // a line of the cache for each
}

type vault struct {
	shards [shardCount]shard
}

func newVault(n int) *vault {
	v := new(vault)
	for i := range v.shards {
		v.shards[i].sessions = make(map[uint64]*session, n/shardCount+n/shardCount/16)
	}
	return v
}

func (v *vault) shard(id uint64) *shard {
	return &v.shards[id*0x9e3779b97f4a7c15>>58] // Fibonacci hashing
}

var errUnknown = errors.New("no such session")

// cart appends the session's cart to out.
func (v *vault) cart(id uint64, now int64, out []byte) ([]byte, error) {
	sh := v.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s, ok := sh.sessions[id]
	if !ok {
		return out, errUnknown
	}
	s.seen = now
	s.hits++
	return append(out, s.cart...), nil
}

func (v *vault) put(id uint64, now int64, cart []byte) {
	sh := v.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s, ok := sh.sessions[id]
	if !ok {
		s = new(session)
		sh.sessions[id] = s
	}
	s.seen = now
	s.cart = append(s.cart[:0], cart...)
}

// total adds up the prices in a cart.
func total(cart []byte) (sum uint64) {
	for ; len(cart) >= 8; cart = cart[8:] {
		sum += uint64(binary.LittleEndian.Uint32(cart)) * uint64(binary.LittleEndian.Uint32(cart[4:]))
	}
	return sum
}

func main() {
	visitors := flag.Int("visitors", 500_000, "how many there are")
	flag.Parse()
	v := newVault(*visitors)
	start, blank := time.Now(), make([]byte, 256)
	for id := range *visitors {
		binary.LittleEndian.PutUint32(blank, uint32(id))
		v.put(uint64(id), 0, blank[:128+id%17*8])
	}
	log.Printf("%d sessions after %v", *visitors, time.Since(start).Round(time.Millisecond))

	type clerk struct {
		rnd  *rand.Rand
		cart []byte
	}
	clerks := make([]*clerk, runtime.GOMAXPROCS(0))
	for i := range clerks {
		clerks[i] = &clerk{rand.New(rand.NewPCG(uint64(i), 11)), make([]byte, 0, 512)}
	}
	pace(len(clerks), func(_ context.Context, w, n int) (err error) {
		c := clerks[w]
		id, now := c.rnd.Uint64N(uint64(*visitors)), int64(n)
		if c.cart, err = v.cart(id, now, c.cart[:0]); err != nil {
			return err
		}
		if sum := total(c.cart); n%10 == 0 { // something was bought
			binary.LittleEndian.PutUint32(c.cart[8:], uint32(sum%9000))
			binary.LittleEndian.PutUint32(c.cart[12:], 1)
			v.put(id, now, c.cart)
		}
		return nil
	})
}
