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
