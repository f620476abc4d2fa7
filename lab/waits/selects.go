package main

import (
	"context"
	"time"
)

var selects = []program{
	{"select-reply-stuck", "20 ask and wait for an answer or the end, and who brings both has given up", func() error {
		d := newDesk()
		go d.deal(3)
		crowd(20, d.ask)
		return nil
	}},
	{"select-reply-fine", "20 ask now and then and have their answer at once", func() error {
		d := newDesk()
		go d.deal(1 << 40)
		for range 20 {
			go every(100*time.Millisecond, d.ask)
		}
		return nil
	}},
	{"select-send-stuck", "20 send or wait for the end of a context, and who receives has ended", func() error {
		b := newBelt()
		go b.pack(3, 0)
		crowd(20, b.put)
		return nil
	}},
	{"select-send-slow", "20 send or wait for the end of a context, and who receives takes its time", func() error {
		b := newBelt()
		go b.pack(1<<40, 40*time.Millisecond)
		crowd(20, b.put)
		return nil
	}},
	{"select-send-fine", "20 send now and then what is taken at once", func() error {
		b := newBelt()
		go b.pack(1<<40, 0)
		for range 20 {
			go every(100*time.Millisecond, b.put)
		}
		return nil
	}},
	{"select-idle-fine", "20 workers wait for work or the end, and what there was is done", func() error {
		jobs, ended := make(chan int), make(chan bool)
		for range 20 {
			go workUntil(jobs, ended)
		}
		go giveOnce(jobs, ended)
		go every(100*time.Millisecond, func() { steps.Add(1) })
		return nil
	}},
}

// A petition has a channel for its outcome.
type petition struct{ result chan int }

// A desk deals with petitions until it is closed.
type desk struct {
	petitions chan petition
	closed    chan bool
}

func newDesk() *desk {
	return &desk{petitions: make(chan petition, 100), closed: make(chan bool)}
}

func (d *desk) ask() {
	r := petition{make(chan int)}
	d.petitions <- r
	select { // want cause select-reply-stuck
	case <-r.result:
	case <-d.closed:
	}
}

// deal gives up after some petitions, and closes the desk when there are none any more.
func (d *desk) deal(n int) {
	for r := range d.petitions {
		if n--; n < 0 {
			return
		}
		r.result <- 1
	}
	close(d.closed)
}

// A belt has parts that are to be packed.
type belt struct{ parts chan int }

func newBelt() *belt { return &belt{parts: make(chan int)} }

func (b *belt) put() { b.putUntil(context.Background()) }

func (b *belt) putUntil(ctx context.Context) {
	select { // want cause select-send-stuck select-send-slow
	case b.parts <- 1:
	case <-ctx.Done():
	}
}

func (b *belt) pack(n int, takes time.Duration) {
	for range n {
		<-b.parts
		time.Sleep(takes) // want holder select-send-slow
	}
}

// workUntil works until the end.
func workUntil(jobs <-chan int, ended <-chan bool) {
	for {
		select {
		case <-jobs:
			steps.Add(1)
		case <-ended:
			return
		}
	}
}

// giveOnce gives some work, and keeps the workers for more.
func giveOnce(jobs chan<- int, ended chan<- bool) {
	for i := range 100 {
		jobs <- i
	}
	if steps.Load() < 0 {
		close(ended)
	}
}
