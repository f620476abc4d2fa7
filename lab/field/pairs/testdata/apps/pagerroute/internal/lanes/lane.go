package lanes

import (
	"sync"
	"sync/atomic"

	"pagerroute/internal/alert"
)

type lane struct {
	cfg  Config
	ch   chan alert.Alert
	wg   sync.WaitGroup
	sent atomic.Int64

	mu     sync.Mutex
	parked map[string]alert.Alert
}

func newLane(c Config) *lane {
	l := &lane{cfg: c, ch: make(chan alert.Alert, c.Depth), parked: map[string]alert.Alert{}}
	for range c.Workers {
		l.wg.Go(l.work)
	}
	return l
}

func (l *lane) work() {
	for a := range l.ch {
		if l.cfg.Gateway.Deliver(a.Text()) == nil {
			l.sent.Add(1)
		}
		for {
			b, ok := l.unpark()
			if !ok {
				break
			}
			if l.cfg.Gateway.Deliver(b.Text()) == nil {
				l.sent.Add(1)
			}
		}
	}
}

// park queues an alert; with a full queue it is joined with the one of the
// same print that is already there.
func (l *lane) park(a alert.Alert) {
	select {
	case l.ch <- a:
		return
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := l.parked[a.Print]; ok {
		a.Count += old.Count
	}
	l.parked[a.Print] = a
}

func (l *lane) unpark() (alert.Alert, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, a := range l.parked {
		delete(l.parked, k)
		return a, true
	}
	return alert.Alert{}, false
}

func (l *lane) close() {
	close(l.ch)
	l.wg.Wait()
}
