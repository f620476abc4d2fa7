package main

import (
	"errors"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A limiter gives each network of clients a rate, so that one cannot take the
// server from the others, nor use it to flood a victim whose address it forged.
type limiter struct {
	rate        float64 // queries a second of one network; 0 is no limit
	burst       float64
	allow, deny prefixes

	mu      sync.Mutex
	buckets map[netip.Prefix]*bucket
	limited atomic.Int64
}

// A bucket has what a network may still ask.
type bucket struct {
	tokens  float64
	at      time.Time
	dropped int
}

// A ruling is what becomes of a query.
type ruling int

const (
	answered ruling = iota
	refused         // by the list
	slipped         // answered empty and truncated: a real client then asks over TCP
	dropped
)

const (
	// Clients of one site share an address or a network of this many bits, and
	// whoever has a network can take any address in it.
	limitBits4, limitBits6 = 24, 56
	// maxBuckets bounds the memory under a flood from forged addresses.
	maxBuckets = 1 << 16
	// slip is one of how many limited queries is answered truncated rather
	// than dropped, so that a client behind a forged flood still gets through.
	slip = 2
)

func newLimiter(rate float64, burst int, allow, deny prefixes) *limiter {
	return &limiter{rate: rate, burst: float64(burst), allow: allow, deny: deny, buckets: map[netip.Prefix]*bucket{}}
}

func (l *limiter) rule(client netip.Addr, now time.Time) ruling {
	switch {
	case l.deny.contain(client):
		return refused
	case l.rate == 0, l.allow.contain(client):
		return answered
	}
	bits := limitBits4
	if client.Is6() {
		bits = limitBits6
	}
	network, err := client.Prefix(bits)
	if err != nil {
		return refused
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(network, now)
	b.tokens = min(l.burst, b.tokens+l.rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.tokens >= 1 {
		b.tokens--
		return answered
	}
	l.limited.Add(1)
	b.dropped++
	if b.dropped%slip == 0 {
		return slipped
	}
	return dropped
}

// bucket finds the network's, making room for it when there are too many.
func (l *limiter) bucket(network netip.Prefix, now time.Time) *bucket {
	b := l.buckets[network]
	if b == nil {
		if len(l.buckets) >= maxBuckets {
			l.forget(now)
		}
		b = &bucket{tokens: l.burst, at: now}
		l.buckets[network] = b
	}
	return b
}

// forget drops buckets that are full again, which are as good as none, and
// when that is too few any of those it meets first.
func (l *limiter) forget(now time.Time) {
	for network, b := range l.buckets {
		if b.tokens+l.rate*now.Sub(b.at).Seconds() >= l.burst {
			delete(l.buckets, network)
		}
	}
	for network := range l.buckets {
		if len(l.buckets) < maxBuckets*7/8 {
			return
		}
		delete(l.buckets, network)
	}
}

// Prefixes are networks that can be set as 192.0.2.0/24,2001:db8::1.
type prefixes []netip.Prefix

func (p *prefixes) String() string {
	var text []string
	for _, one := range *p {
		text = append(text, one.String())
	}
	return strings.Join(text, ",")
}

// Set implements [flag.Value].
func (p *prefixes) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		prefix, err := netip.ParsePrefix(one)
		if addr, bad := netip.ParseAddr(one); bad == nil && addr.Zone() == "" {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return errors.New("want networks or addresses, like 192.0.2.0/24,2001:db8::1")
		}
		*p = append(*p, prefix.Masked())
	}
	return nil
}

func (p prefixes) contain(addr netip.Addr) bool {
	for _, one := range p {
		if one.Contains(addr) {
			return true
		}
	}
	return false
}
