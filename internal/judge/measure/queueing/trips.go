package queueing

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// serialHelper is the part of a wait for another goroutine that this one
// must be in the network for, in the function that ends the wait: asking and
// taking turns are the rest.
const serialHelper = 0.5

// A RoundTrips is the waits of a stage for answers from outside.
type RoundTrips struct {
	Total, Count fact.Fact
	Stacks       []model.Stack // the longest total first
	Via          []string      // groups that wait for the answers on its behalf
}

// Trips adds up what the stage waits for outside: in the network itself, or
// for a goroutine that spends that time there on its behalf. Waits for those
// who bring work do not count, be they the queue's goroutines or the clients whose next
// request a server of the standard library reads with no code of the program's, nor
// waits for time.
func Trips(p *diagnosis.Pass, s *Stage) (r RoundTrips) {
	m := p.Model
	asked, by := map[*model.Wait]bool{}, map[model.Stack]time.Duration{}
	wakers := answerers(m, s)
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Kind != model.Net && w.Kind != model.Sync || !s.has(m, w.Stack) {
			continue
		}
		if _, asks := p.UserPlace(w.Stack); w.Kind == model.Net && !asks {
			continue
		}
		if w.Kind == model.Sync {
			waker, ok := wakers[w.Stack]
			if !ok || float64(networkThrough(m, waker)) < serialHelper*float64(w.Total) {
				continue
			}
			if name := code.Root(m, waker); !slices.Contains(r.Via, name) {
				r.Via = append(r.Via, name)
			}
		}
		asked[w] = true
		by[w.Stack] += w.Total
	}
	r.Stacks = statistics.Largest(by)
	has := func(w *model.Wait) bool { return asked[w] }
	r.Total = fact.SumOf("time waiting for answers", fact.Seconds,
		p.Waits("time waiting for the network", model.Net, has),
		p.Waits("time waiting for who asks on its behalf", model.Sync, has))
	r.Count = fact.SumOf("answers", fact.Count,
		p.WaitCount("waits for the network", model.Net, has),
		p.WaitCount("waits for who asks on its behalf", model.Sync, has))
	return r
}

// answerers returns the code of other goroutines that most often ends a wait of the
// stage; those who bring its work are left out.
func answerers(m *model.Model, s *Stage) map[model.Stack]model.Stack {
	most, out := map[model.Stack]int64{}, map[model.Stack]model.Stack{}
	for _, w := range m.Sched.Wakes {
		if w.Waker == 0 || w.Count <= most[w.Woken] || !s.has(m, w.Woken) || s.has(m, w.Waker) || slices.Contains(s.Queue.Groups, code.Root(m, w.Waker)) {
			continue
		}
		most[w.Woken], out[w.Woken] = w.Count, w.Waker
	}
	return out
}

// networkThrough returns the time that goroutines wait for the network in the
// function that a waker's stack is in.
func networkThrough(m *model.Model, waker model.Stack) (d time.Duration) {
	f, _ := code.Caller(m.Stacks.Frames(waker))
	for i := range m.Sched.Waits {
		if w := &m.Sched.Waits[i]; w.Kind == model.Net && w.Group == code.Root(m, waker) && code.ContainsAny(m.Stacks.Frames(w.Stack), []string{f.Func}) {
			d += w.Total
		}
	}
	return d
}
