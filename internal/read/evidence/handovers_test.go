package evidence

import (
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A subscribed goroutine takes messages, and does something with each that takes a time.
type subscribed struct {
	messages chan int
	takes    time.Duration
}

func (s *subscribed) run(wg *sync.WaitGroup) {
	defer wg.Done()
	for range s.messages {
		if s.takes > 0 {
			time.Sleep(s.takes)
		}
	}
}

// publish gives each all messages.
func publish(to []*subscribed, turns int) {
	for i := range turns {
		for _, s := range to {
			s.messages <- i
		}
	}
}

// toFirst gives all messages to one of them.
func toFirst(to []*subscribed, turns int) {
	for i := range turns {
		to[0].messages <- i
	}
}

// handoverIn returns the handover in a function of the test while it runs.
func handoverIn(t *testing.T, function string, takes [4]time.Duration, run func([]*subscribed, int), before bool) model.Handover {
	t.Helper()
	var wg sync.WaitGroup
	var to []*subscribed
	begin := func() {
		for _, d := range takes {
			s := &subscribed{make(chan int), d}
			to = append(to, s)
			wg.Add(1)
			go s.run(&wg)
		}
	}
	if before {
		begin()
		time.Sleep(5 * time.Millisecond) // so that they wait
	}
	recorded := traceHere(t)
	if !before {
		begin()
	}
	done := make(chan bool)
	go func() {
		run(to, 40)
		close(done)
	}()
	<-done
	path := recorded()
	for _, s := range to {
		close(s.messages)
	}
	wg.Wait()
	m := load(t, Options{}, path)
	for _, h := range m.Sched.Handovers {
		for _, f := range m.Stacks.Frames(h.Stack) {
			if f.Func == "github.com/gowhy/gowhy/internal/read/evidence."+function {
				return h
			}
		}
	}
	t.Fatalf("the handovers are %+v, want one in %s", m.Sched.Handovers, function)
	return model.Handover{}
}

// TestHandovers tells the one whom all wait for from those who stand by.
func TestHandovers(t *testing.T) {
	const slow = 2 * time.Millisecond
	for name, c := range map[string]struct {
		takes    [4]time.Duration
		function string
		run      func([]*subscribed, int)
		given    int64 // at least, to the others
		before   bool  // they wait when the trace begins
	}{
		"a slow subscriber":       {[4]time.Duration{0, 0, slow, 0}, "publish", publish, 60, false},
		"one has it all":          {[4]time.Duration{slow, slow, slow, slow}, "toFirst", toFirst, 0, false},
		"all stand by since long": {[4]time.Duration{slow, slow, slow, slow}, "toFirst", toFirst, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := handoverIn(t, c.function, c.takes, c.run, c.before)
			if h.Taker.Func != "github.com/gowhy/gowhy/internal/read/evidence.(*subscribed).run" || h.Peers != 3 {
				t.Errorf("taken by %s and %d more, want the subscribers", h.Taker.Func, h.Peers)
			}
			if h.Taken < 30 || h.TakenTime < h.Waited*3/4 {
				t.Errorf("it takes %d of %d, %v of %v, want nearly all", h.Taken, h.Waits, h.TakenTime, h.Waited)
			}
			if h.Idle > h.Lived/2 || h.PeersIdle < h.PeersLived/2 {
				t.Errorf("it waits for %v of %v and the others for %v of %v, want the others to", h.Idle, h.Lived, h.PeersIdle, h.PeersLived)
			}
			if h.PeersWaits < c.given || c.given == 0 && h.PeersWaits > 6 {
				t.Errorf("the others were given something %d times, want %d or more, and nothing where one has it all", h.PeersWaits, c.given)
			}
		})
	}
	t.Run("all are alike", func(t *testing.T) {
		h := handoverIn(t, "publish", [4]time.Duration{slow, slow, slow, slow}, publish, false)
		if h.Peers != 3 || h.PeersIdle > h.PeersLived/2 { // though the first is the one that is waited for
			t.Errorf("the %d others wait for more %v of %v, want less than half", h.Peers, h.PeersIdle, h.PeersLived)
		}
	})
}

// hasty gives up a message after a time.
func hasty(to []*subscribed, turns int) {
	for i := range turns {
		select {
		case to[0].messages <- i:
		case <-time.After(time.Millisecond):
		}
	}
}

// TestHandoversGivenUp counts the sends that the clock ended, of which the source says that they are sends.
func TestHandoversGivenUp(t *testing.T) {
	h := handoverIn(t, "hasty", [4]time.Duration{20 * time.Millisecond, 0, 0, 0}, hasty, false)
	if !h.Sends || h.GaveUp < 20 || h.GaveUpTime < 20*time.Millisecond || h.Waits+h.GaveUp > 40 {
		t.Errorf("%+v, want a select that sends and gave up 20 times or more of 40", h)
	}
}
