package main

import (
	"context"
	"time"
)

var channels = []program{
	{"unread-stuck", "who receives has given up after an error, and 30 send", func() error {
		results := make(chan int)
		go receiveTo(results, 3)
		crowd(30, func() { report(results) })
		return nil
	}},
	{"unread-slow", "one receives what 30 send, and takes its time", func() error {
		results := make(chan int)
		go store(results)
		crowd(30, func() { report(results) })
		return nil
	}},
	{"unsent-stuck", "20 ask and wait for an answer from one who has ended", func() error {
		d := &dispatcher{questions: make(chan question, 100)}
		go d.answer(3)
		crowd(20, d.ask)
		return nil
	}},
	{"unsent-fine", "20 workers wait for work that comes now and then", func() error {
		jobs := make(chan int)
		for range 20 {
			go work(jobs)
		}
		go every(300*time.Millisecond, func() { jobs <- 1 })
		return nil
	}},
	{"full-stuck", "a buffer is full, and who empties it waits for an answer", func() error {
		b := &buffer{lines: make(chan string, 100), acknowledged: make(chan bool)}
		go b.ship()
		crowd(20, b.write)
		return nil
	}},
	{"full-slow", "a buffer is full, because who empties it is slow", func() error {
		b := &buffer{lines: make(chan string, 100)}
		go b.shipSlowly()
		crowd(20, b.write)
		return nil
	}},
	{"full-fine", "a buffer that is nearly empty", func() error {
		b := &buffer{lines: make(chan string, 100)}
		go b.shipAtOnce()
		for range 20 {
			go every(20*time.Millisecond, b.write)
		}
		return nil
	}},
	{"select-stuck", "20 wait for an answer or the end of a context, and neither comes", func() error {
		answers := make(chan int)
		crowd(20, func() { await(context.Background(), answers) })
		return nil
	}},
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
	{"select-fine", "20 wait for news or the end, and now and then there are news", func() error {
		ctx, news := context.Background(), make(chan int)
		for range 20 {
			go follow(ctx, news)
		}
		go every(200*time.Millisecond, func() { news <- 1 })
		return nil
	}},
}

func report(results chan<- int) {
	results <- 1 // want cause unread-stuck unread-slow
}

func receiveTo(results <-chan int, n int) {
	for range n {
		<-results
	}
}

func store(results <-chan int) {
	for range results {
		time.Sleep(40 * time.Millisecond) // want holder unread-slow
	}
}

// A question has a channel for its answer.
type question struct{ reply chan int }

type dispatcher struct{ questions chan question }

func (d *dispatcher) ask() {
	q := question{make(chan int)}
	d.questions <- q
	<-q.reply // want cause unsent-stuck
}

// answer ends after some answers.
func (d *dispatcher) answer(n int) {
	for range n {
		q := <-d.questions
		q.reply <- 1
	}
}

func work(jobs <-chan int) {
	for range jobs {
		steps.Add(1)
	}
}

// A buffer has lines that are to be shipped.
type buffer struct {
	lines        chan string
	acknowledged chan bool
}

func (b *buffer) write() {
	b.lines <- "a line" // want cause full-stuck full-slow
}

func (b *buffer) ship() {
	for range b.lines {
		<-b.acknowledged // want holder full-stuck
	}
}

func (b *buffer) shipSlowly() {
	for range b.lines {
		time.Sleep(30 * time.Millisecond) // want holder full-slow
	}
}

func (b *buffer) shipAtOnce() {
	for range b.lines {
	}
}

func await(ctx context.Context, answers <-chan int) {
	select { // want cause select-stuck
	case <-answers:
	case <-ctx.Done():
	}
}

// A petition has a channel for its outcome.
type petition struct{ result chan int }

// A desk deals with petitions until it is closed.
type desk struct {
	petitions chan petition
	closed   chan bool
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

func follow(ctx context.Context, news <-chan int) {
	for {
		select {
		case <-news:
			steps.Add(1)
		case <-ctx.Done():
			return
		}
	}
}
