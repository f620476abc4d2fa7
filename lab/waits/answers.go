package main

import (
	"context"
	"sync"
	"time"
)

// answers are programs that are well although it is hard to see who will end their waits:
// a timer's function, a loop that knows whom to answer, whoever cancels a context.
var answers = []program{
	{"batch-fine", "20 ask, and a timer's function answers all of them", func() error {
		b := new(batch)
		crowd(20, b.ask)
		return nil
	}},
	{"reply-fine", "20 ask over one connection, whose reader answers them one by one", func() error {
		w := &wire{asked: make(chan *inquiry, 20)}
		go w.read()
		crowd(20, w.ask)
		return nil
	}},
	{"watch-fine", "who watches 50 contexts has nothing to do, and now and then one ends", func() error {
		for range 50 {
			go every(300*time.Millisecond, serveOne)
		}
		return nil
	}},
	{"generator-fine", "two stages that make numbers, and who takes one does so now and then", func() error {
		n := &numbers{plain: make(chan int), even: make(chan int)}
		go n.count()
		go n.double()
		go every(100*time.Millisecond, func() { <-n.even })
		return nil
	}},
	{"counted-fine", "a WaitGroup is given to workers, which wait for work", func() error {
		jobs := make(chan int)
		go func() {
			var working sync.WaitGroup
			for range 5 {
				working.Add(1)
				go workFor(&working, jobs)
			}
			working.Wait()
		}()
		go every(300*time.Millisecond, func() { jobs <- 1 })
		return nil
	}},
}

// A batch is asked for one by one and answers all at once.
type batch struct {
	mu    sync.Mutex
	asked []*inquiry
}

// An inquiry has a channel for its outcome.
type inquiry struct{ outcome chan int }

func (b *batch) ask() {
	r := &inquiry{outcome: make(chan int, 1)}
	b.mu.Lock()
	b.asked = append(b.asked, r)
	if len(b.asked) == 1 {
		time.AfterFunc(300*time.Millisecond, b.flush)
	}
	b.mu.Unlock()
	<-r.outcome
}

func (b *batch) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.asked {
		r.outcome <- 1
	}
	b.asked = nil
}

// A wire has one reader, who answers each request after a while.
type wire struct{ asked chan *inquiry }

func (w *wire) ask() {
	r := &inquiry{outcome: make(chan int)}
	w.asked <- r
	<-r.outcome
}

func (w *wire) read() {
	for r := range w.asked {
		time.Sleep(10 * time.Millisecond)
		r.outcome <- 1
	}
}

// serveOne serves a request whose end somebody watches, to close its connection.
func serveOne() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan bool)
	go watchOver(ctx, done)
	time.Sleep(100 * time.Millisecond)
	close(done)
}

func watchOver(ctx context.Context, done <-chan bool) {
	select {
	case <-ctx.Done():
	case <-done:
	}
}

// numbers are made before somebody wants them.
type numbers struct{ plain, even chan int }

func (n *numbers) count() {
	for i := 0; ; i++ {
		n.plain <- i
	}
}

func (n *numbers) double() {
	for i := range n.plain {
		n.even <- 2 * i
	}
}

func workFor(working *sync.WaitGroup, jobs <-chan int) {
	defer working.Done()
	work(jobs)
}
