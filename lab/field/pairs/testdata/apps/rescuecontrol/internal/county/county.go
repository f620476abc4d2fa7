// Package county has the crews on the road and the people who call.
package county

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"rescuecontrol/internal/control"
	"rescuecontrol/internal/roads"
)

// Result is what the county saw.
type Result struct {
	mu      sync.Mutex
	Times   []time.Duration
	Sent    atomic.Int64
	None    atomic.Int64
	Seconds float64
}

func (r *Result) took(d time.Duration) {
	r.mu.Lock()
	r.Times = append(r.Times, d)
	r.mu.Unlock()
}

// at calls f in a goroutine of its own, rate times per second on average.
func at(wg *sync.WaitGroup, rate float64, end time.Time, seed uint64, f func(p roads.Point, n int)) {
	wg.Go(func() {
		rnd := rand.New(rand.NewPCG(seed, 2))
		for t := time.Now(); t.Before(end); t = t.Add(time.Duration(rnd.ExpFloat64() * float64(time.Second) / rate)) {
			time.Sleep(time.Until(t))
			p, n := roads.Point{X: rnd.Float64() * 40000, Y: rnd.Float64() * 40000}, rnd.IntN(1<<30)
			wg.Go(func() { f(p, n) })
		}
	})
}

// Live lets the county live until end; positions and views are operations.
func Live(room *control.Room, crews int, end time.Time) *Result {
	res := new(Result)
	var wg sync.WaitGroup
	at(&wg, 1500, end, 1, func(p roads.Point, n int) {
		start := time.Now()
		room.Position(n%crews, p)
		res.took(time.Since(start))
	})
	at(&wg, 250, end, 2, func(p roads.Point, n int) {
		start := time.Now()
		room.Around(p)
		res.took(time.Since(start))
	})
	at(&wg, 90, end, 3, func(p roads.Point, n int) {
		a := room.Send(p)
		if a.Err != nil {
			res.None.Add(1)
			return
		}
		res.Sent.Add(1)
		res.mu.Lock()
		res.Seconds += a.Seconds
		res.mu.Unlock()
		time.Sleep(time.Duration(200+n%300) * time.Millisecond)
		room.Free(a.Crew)
	})
	wg.Wait()
	return res
}
