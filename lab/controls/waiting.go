package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// idlewake returns a daemon at night: three goroutines look now and then whether
// there is something to do.
func idlewake(ctx context.Context) (int64, string, error) {
	var looked atomic.Int64
	periods := []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond}
	side(len(periods), func(i int) {
		for ctx.Err() == nil {
			time.Sleep(periods[i])
			looked.Add(1)
		}
	})
	return looked.Load(), "nothing to do", nil
}

// A session lives until nobody has used it for a while.
type session struct {
	mu   sync.Mutex
	idle *time.Timer // nil when the session has expired
	uses int
}

const (
	sessionCount = 10_000
	sessionIdle  = time.Second
)

// sessions keeps a timer for each session and puts it off at each use. Most
// uses are of a tenth of the sessions; of the others some expire and come back.
func sessions(ctx context.Context) (int64, string, error) {
	all := make([]session, sessionCount)
	var expired atomic.Int64
	random := rand.New(rand.NewPCG(3, 4))
	n := arrivals(ctx, 5000, func(int64) {
		at := random.IntN(sessionCount / 10)
		if random.IntN(4) == 0 {
			at = random.IntN(sessionCount)
		}
		all[at].use(&expired)
	})
	for i := range all {
		all[i].end()
	}
	return n, fmt.Sprintf("%d sessions expired", expired.Load()), nil
}

func (s *session) use(expired *atomic.Int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses++
	if s.idle != nil && s.idle.Reset(sessionIdle) {
		return
	}
	var t *time.Timer
	t = time.AfterFunc(sessionIdle, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.idle == t {
			s.idle = nil
			expired.Add(1)
		}
	})
	s.idle = t
}

func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil {
		s.idle.Stop()
	}
}

// timeouts calls a service that is sometimes too slow. Each call has a
// deadline, waits for it when it must, and gives it back.
func timeouts(ctx context.Context) (int64, string, error) {
	const callers = 50
	var calls, late atomic.Int64
	side(callers, func(i int) {
		random := rand.New(rand.NewPCG(5, uint64(i)))
		for ctx.Err() == nil {
			if err := call(ctx, random); errors.Is(err, context.DeadlineExceeded) {
				late.Add(1)
			}
			calls.Add(1)
		}
	})
	return calls.Load(), fmt.Sprintf("%d calls were too late", late.Load()), nil
}

// call waits for an answer that takes 5 to 45 ms, for 30 ms at most.
func call(ctx context.Context, random *rand.Rand) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	answer := make(chan struct{})
	timer := time.AfterFunc(time.Duration(5+random.IntN(41))*time.Millisecond, func() { close(answer) })
	defer timer.Stop()
	select {
	case <-answer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retry tries to reach a server that is down, and waits twice as long after
// each failure, up to a fifth of a second.
func retry(ctx context.Context) (tries int64, _ string, _ error) {
	address, err := closedPort()
	if err != nil {
		return 0, "", err
	}
	dialer := net.Dialer{Timeout: time.Second}
	for wait := time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 200*time.Millisecond) {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			conn.Close()
			return tries, "", fmt.Errorf("somebody listens at %s", address)
		}
		tries++
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return tries, "nobody answered", nil
}

// closedPort returns a loopback address that nobody listens at.
func closedPort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
