package demo

import (
	"context"
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
	requestTimeout = time.Second // far above what a request takes
	requestRate    = 8           // requests in each millisecond
	requestSpins   = 100_000     // some 50 µs
)

// leakedTimers starts requests at a steady rate; the context of each lives
// until its timeout, though the request was over long before.
func leakedTimers(ctx context.Context, _ string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	var wg sync.WaitGroup
	for n := uint64(0); ctx.Err() == nil; {
		<-tick.C
		for range requestRate {
			n++
			wg.Add(1)
			go request(&wg, n)
		}
	}
	wg.Wait()
	return nil
}

func request(wg *sync.WaitGroup, n uint64) {
	defer wg.Done()
	// The illness: the cancel function is kept for an error that never comes.
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	sum := compute(n, requestSpins)
	if ctx.Err() != nil {
		cancel()
	}
	sink.Store(sum)
	leakedCancels(cancel)
}

// leakedCancels takes a cancel function and never calls it.
func leakedCancels(context.CancelFunc) {}

const (
	mutexWorkers = 64
	heldSpins    = 10_000
	freeSpins    = 1_000
)

// hotMutex has all workers compute inside one critical section.
func hotMutex(ctx context.Context, _ string) error {
	var wg sync.WaitGroup
	results := &resultMap{sums: map[uint64]uint64{}}
	for i := range mutexWorkers {
		wg.Add(1)
		go mutexWorker(ctx, &wg, results, uint64(i))
	}
	wg.Wait()
	return nil
}

type resultMap struct {
	mu   sync.Mutex
	sums map[uint64]uint64
}

func mutexWorker(ctx context.Context, wg *sync.WaitGroup, results *resultMap, x uint64) {
	defer wg.Done()
	for ctx.Err() == nil {
		x = compute(x, freeSpins)
		results.add(x % 1024)
	}
}

func (m *resultMap) add(key uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sums[key] = compute(m.sums[key]+key, heldSpins)
}

const (
	producers    = 400
	producePause = 10 * time.Millisecond
	consumeSpins = 60_000 // some 30 µs: 400 producers offer a little more than one goroutine takes
)

// funnel sends everything through one goroutine.
func funnel(ctx context.Context, _ string) error {
	messages := make(chan uint64)
	var wg sync.WaitGroup
	for i := range producers {
		wg.Add(1)
		go producer(ctx, &wg, messages, uint64(i))
	}
	go func() {
		wg.Wait()
		close(messages)
	}()
	consumer(messages)
	return nil
}

func producer(ctx context.Context, wg *sync.WaitGroup, messages chan<- uint64, x uint64) {
	defer wg.Done()
	for ctx.Err() == nil {
		messages <- compute(x, freeSpins)
		time.Sleep(producePause)
	}
}

func consumer(messages <-chan uint64) {
	for m := range messages {
		sink.Store(compute(m, consumeSpins))
	}
}
