package demo

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// sink keeps results, so that computing them cannot be left out.
var sink atomic.Uint64

// compute spends some time on a processor and none elsewhere.
func compute(x uint64, n int) uint64 {
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

const (
	mutexWorkers = 64
	priceSpins   = 100_000 // about 100 µs
	orderSpins   = 1_000
)

// hotMutex has all workers compute inside one critical section.
func hotMutex(ctx context.Context, p *program) error {
	var wg sync.WaitGroup
	prices := &priceMap{sums: map[uint64]uint64{}}
	add := prices.addComputing
	if p.Fixed {
		add = prices.add
	}
	for range mutexWorkers {
		wg.Add(1)
		go pricer(ctx, &wg, p, add)
	}
	wg.Wait()
	return nil
}

func pricer(ctx context.Context, wg *sync.WaitGroup, p *program, add func(order uint64)) {
	defer wg.Done()
	for n, ok := p.next(ctx); ok; n, ok = p.next(ctx) {
		add(compute(uint64(n), orderSpins))
	}
}

type priceMap struct {
	mu   sync.Mutex
	sums map[uint64]uint64
}

// addComputing has the problem: nothing of price needs the mutex.
func (m *priceMap) addComputing(order uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sums[order%1024] += price(order)
}

func (m *priceMap) add(order uint64) {
	sum := price(order)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sums[order%1024] += sum
}

func price(order uint64) uint64 { return compute(order, priceSpins) }

const (
	requestTimeout = time.Second // far above what a request takes
	requestRate    = 8           // requests in each millisecond
	requestSpins   = 50_000      // about 50 µs
	requestBody    = 16 << 10
)

// leakedTimers starts requests at a steady rate; the context of each lives
// until its timeout, though the request was over long before.
func leakedTimers(ctx context.Context, p *program) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var wg sync.WaitGroup
	for n, ok := p.next(ctx); ok; n, ok = p.next(ctx) {
		if n%requestRate == 0 {
			<-tick.C
		}
		wg.Add(1)
		go request(&wg, uint64(n), p.Fixed)
	}
	wg.Wait()
	return nil
}

// bodyKey is that of a request's body in its context.
type bodyKey struct{}

func request(wg *sync.WaitGroup, n uint64, fixed bool) {
	defer wg.Done()
	body := context.WithValue(context.Background(), bodyKey{}, make([]byte, requestBody))
	ctx, cancel := context.WithTimeout(body, requestTimeout)
	sum := compute(n, requestSpins)
	// The problem: the cancel function is kept for an error that never comes.
	if fixed || ctx.Err() != nil {
		cancel()
	}
	sink.Store(sum)
	leakedCancels(cancel)
}

// leakedCancels takes a cancel function and never calls it.
func leakedCancels(context.CancelFunc) {}

const (
	producers    = 400
	producePause = 2 * time.Millisecond
	messageSpins = 60_000 // about 30 µs: 400 producers offer far more than one goroutine takes
)

// funnel sends everything through one goroutine.
func funnel(ctx context.Context, p *program) error {
	messages := make(chan uint64)
	var sending, taking sync.WaitGroup
	for range producers {
		sending.Add(1)
		go producer(ctx, &sending, p, messages)
	}
	consumers := 1
	if p.Fixed {
		consumers = runtime.GOMAXPROCS(0)
	}
	for range consumers {
		taking.Add(1)
		go consumer(&taking, messages)
	}
	sending.Wait()
	close(messages)
	taking.Wait()
	return nil
}

func producer(ctx context.Context, wg *sync.WaitGroup, p *program, messages chan<- uint64) {
	defer wg.Done()
	for n, ok := p.next(ctx); ok; n, ok = p.next(ctx) {
		messages <- compute(uint64(n), orderSpins)
		time.Sleep(producePause)
	}
}

func consumer(wg *sync.WaitGroup, messages <-chan uint64) {
	defer wg.Done()
	for m := range messages {
		sink.Store(compute(m, messageSpins))
	}
}
