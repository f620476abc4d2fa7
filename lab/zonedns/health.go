package main

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// A check is how the health of an address is found out.
type check struct {
	protocol string // http or tcp
	addr     netip.AddrPort
	path     string
}

// A target is a checked address. One that was never checked counts as up.
type target struct {
	check
	down     atomic.Bool
	failures int       // in a row, guarded by the checker's rounds
	wanted   time.Time // when records last named it, guarded by the checker
}

// A checker asks all targets again and again.
type checker struct {
	every   time.Duration
	public  bool // ask other machines too
	client  *http.Client
	rounds  sync.Mutex // one at a time: failures in a row are counted by rounds
	mu      sync.Mutex
	targets map[check]*target
}

const (
	// downAfter is how many checks in a row fail before an address is left
	// out: one lost packet should not move all clients.
	downAfter = 2
	// checkPatience is how long an address may take to say that it is well.
	checkPatience = time.Second
	// checksAtOnce bounds how many are asked at the same time, maxTargets how
	// many are known, and forgetAfter how long after no record names them.
	checksAtOnce = 8
	maxTargets   = 4096
	forgetAfter  = time.Hour
)

func newChecker(every time.Duration) *checker {
	return &checker{
		every: every, targets: map[check]*target{},
		client: &http.Client{
			Timeout:       checkPatience,
			Transport:     &http.Transport{DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// target returns the one for a check, nil when it is not checked. A program of
// the lab asks nobody outside this machine, whatever its records say; with
// -public it still does not ask addresses that mean something on this link only,
// such as those of a cloud's metadata.
func (c *checker) target(k check) *target {
	ip := k.addr.Addr()
	if !ip.IsLoopback() && !(c.public && ip.IsGlobalUnicast()) || k.addr.Port() == 0 || k.protocol != "http" && k.protocol != "tcp" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.targets[k]
	if t == nil && len(c.targets) < maxTargets {
		t = &target{check: k}
		c.targets[k] = t
	}
	if t != nil {
		t.wanted = time.Now()
	}
	return t
}

// run checks until the context ends.
func (c *checker) run(ctx context.Context) {
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for {
		c.round(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// round checks each target once.
func (c *checker) round(ctx context.Context) {
	c.rounds.Lock()
	defer c.rounds.Unlock()
	var (
		asked sync.WaitGroup
		slots = make(chan struct{}, checksAtOnce)
	)
	for _, t := range c.wanted(time.Now()) {
		slots <- struct{}{}
		asked.Go(func() {
			t.learn(c.ask(ctx, t.check))
			<-slots
		})
	}
	asked.Wait()
}

func (c *checker) wanted(now time.Time) (all []*target) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, t := range c.targets {
		if now.Sub(t.wanted) > forgetAfter {
			delete(c.targets, k)
			continue
		}
		all = append(all, t)
	}
	return all
}

func (t *target) learn(well bool) {
	if well {
		t.failures = 0
		t.down.Store(false)
		return
	}
	if t.failures++; t.failures >= downAfter {
		t.down.Store(true)
	}
}

func (c *checker) ask(ctx context.Context, k check) bool {
	if k.protocol == "tcp" {
		d := net.Dialer{Timeout: checkPatience}
		conn, err := d.DialContext(ctx, "tcp", k.addr.String())
		if err != nil {
			return false
		}
		conn.Close()
		return true
	}
	path := k.path
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+k.addr.String()+path, nil)
	if err != nil {
		return false
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode >= 200 && resp.StatusCode < 400
}
