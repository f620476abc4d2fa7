package main

import (
	"context"
	"sync"
	"time"
)

// timers are programs that do something later.
var timers = []program{
	{"afterfunc-stuck", "functions of timers wait for a lock whose holder waits for ever", func() error {
		c := &cache{refreshed: make(chan bool)}
		go c.refresh()
		go forEachTick(20*time.Millisecond, func() { time.AfterFunc(10*time.Millisecond, c.expire) })
		return nil
	}},
	{"afterfunc-fine", "functions of timers that end at once", func() error {
		c := new(cache)
		go forEachTick(20*time.Millisecond, func() { time.AfterFunc(10*time.Millisecond, c.expire) })
		return nil
	}},
	{"context-stuck", "each request leaves one behind who waits for the end of a context that nobody cancels", func() error {
		go every(5*time.Millisecond, func() { request(func(context.CancelFunc) {}) })
		return nil
	}},
	{"context-fine", "who waits for the end of a request's context sees it", func() error {
		go every(5*time.Millisecond, func() { request(func(cancel context.CancelFunc) { cancel() }) })
		return nil
	}},
	{"ticker-fine", "50 do something small each 200 ms", func() error {
		for range 50 {
			go every(200*time.Millisecond, func() {})
		}
		return nil
	}},
}

// A cache forgets what is old.
type cache struct {
	mu        sync.Mutex
	entries   int
	refreshed chan bool
}

func (c *cache) expire() {
	c.mu.Lock() // want cause afterfunc-stuck
	defer c.mu.Unlock()
	c.entries = 0
	steps.Add(1)
}

// refresh waits for somebody who does not know of it.
func (c *cache) refresh() {
	c.mu.Lock()
	<-c.refreshed // want holder afterfunc-stuck
	c.mu.Unlock()
}

// request leaves one behind who cleans up when its context ends.
func request(end func(context.CancelFunc)) {
	ctx, cancel := context.WithTimeout(context.Background(), 24*time.Hour)
	done := make(chan struct{})
	go watch(ctx, done)
	time.Sleep(time.Millisecond)
	end(cancel)
}

func watch(ctx context.Context, done chan struct{}) {
	defer close(done)
	<-ctx.Done() // want cause context-stuck
}
