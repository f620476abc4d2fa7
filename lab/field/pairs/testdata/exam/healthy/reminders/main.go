// Reminders signs reminders of appointments when they are due: they wait in a heap, with one
// timer for the first of them.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"hash"
	"log"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// grain is how late a reminder may be, so that several are handed out at once.
const grain = 20 * time.Millisecond

// A reminder is due some time after the start.
type reminder struct {
	due      time.Duration
	customer uint32
}

// A calendar hands reminders out when they are due.
type calendar struct {
	start time.Time
	out   chan []reminder
	spare chan []reminder
	wake  chan struct{}

	mu   sync.Mutex
	heap []reminder
}

func newCalendar(workers int) *calendar {
	c := &calendar{start: time.Now(), out: make(chan []reminder, workers), spare: make(chan []reminder, 2*workers+1), wake: make(chan struct{}, 1),
		heap: make([]reminder, 0, 1<<16)}
	for range cap(c.spare) {
		c.spare <- make([]reminder, 0, 256)
	}
	return c
}

// add adds a reminder, and wakes the calendar if it is the first that is due.
func (c *calendar) add(r reminder) {
	c.mu.Lock()
	c.heap = append(c.heap, r)
	i := len(c.heap) - 1
	for up := (i - 1) / 2; i > 0 && r.due < c.heap[up].due; i, up = up, (up-1)/2 {
		c.heap[i] = c.heap[up]
	}
	c.heap[i] = r
	c.mu.Unlock()
	if i == 0 {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// pop takes the first reminder out of the heap.
func (c *calendar) pop() reminder {
	first, last := c.heap[0], len(c.heap)-1
	r := c.heap[last]
	c.heap = c.heap[:last]
	i := 0
	for down := 1; down < last; down = 2*i + 1 {
		if down+1 < last && c.heap[down+1].due < c.heap[down].due {
			down++
		}
		if r.due <= c.heap[down].due {
			break
		}
		c.heap[i] = c.heap[down]
		i = down
	}
	if last > 0 {
		c.heap[i] = r
	}
	return first
}

// due moves what is due to list, as much as it holds, and says when to look again.
func (c *calendar) due(list []reminder) ([]reminder, time.Duration) {
	now := time.Since(c.start)
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.heap) > 0 && c.heap[0].due <= now {
		if len(list) == cap(list) {
			return list, 0
		}
		list = append(list, c.pop())
	}
	if len(c.heap) == 0 {
		return list, time.Hour
	}
	return list, max(c.heap[0].due-now, grain)
}

func (c *calendar) run(ctx context.Context) {
	defer close(c.out)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for list := <-c.spare; ; {
		var pause time.Duration
		if list, pause = c.due(list); len(list) > 0 {
			c.out <- list
			list = (<-c.spare)[:0]
		}
		if pause == 0 {
			continue
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-timer.C:
		}
	}
}

// sign signs what it gets, and returns how many there were and the worst delay.
func (c *calendar) sign(mac hash.Hash) (n int, worst time.Duration) {
	text, sum := make([]byte, 0, 64), make([]byte, 0, sha256.Size)
	for list := range c.out {
		now := time.Since(c.start)
		for _, r := range list {
			text = strconv.AppendUint(append(text[:0], "customer "...), uint64(r.customer), 10)
			text = strconv.AppendInt(append(text, " at "...), r.due.Milliseconds(), 10)
			mac.Reset()
			mac.Write(text)
			if sum = mac.Sum(sum[:0]); binary.LittleEndian.Uint64(sum) == 0 {
				log.Print("a rare signature")
			}
			worst = max(worst, now-r.due)
		}
		n += len(list)
		c.spare <- list
	}
	return n, worst
}

func main() {
	flag.Parse()
	workers := runtime.GOMAXPROCS(0)
	c := newCalendar(workers)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { c.run(ctx) })
	for range workers {
		running.Go(func() {
			n, worst := c.sign(hmac.New(sha256.New, []byte("reminders")))
			log.Printf("%d were signed, %v late at worst", n, worst.Round(time.Millisecond))
		})
	}
	pace(1, func(_ context.Context, _, n int) error {
		c.add(reminder{time.Since(c.start) + time.Duration(50+n*37%1500)*time.Millisecond, uint32(n)})
		return nil
	})
	cancel()
	running.Wait()
}
