package main

import "time"

// stages are pools and pipelines.
var stages = []program{
	{"pool-stuck", "workers of a pool wait for room in its queue, which they alone empty", func() error {
		p := newPool(4, 8)
		crowd(2, func() { p.submit(p.branch) })
		return nil
	}},
	{"pool-fine", "a pool at rest", func() error {
		p := newPool(16, 8)
		for range 100 {
			p.submit(func() { steps.Add(1) })
		}
		return nil
	}},
	{"pipeline-stuck", "the last of three stages has died", func() error {
		p := newPipeline()
		go p.write(5)
		return nil
	}},
	{"pipeline-slow", "the last of three stages is slow", func() error {
		p := newPipeline()
		go p.writeSlowly()
		return nil
	}},
	{"pipeline-fine", "three stages, and the first gets something now and then", func() error {
		p := &pipeline{read: make(chan int), parsed: make(chan int)}
		go p.parse()
		go p.write(1 << 40)
		go every(20*time.Millisecond, func() { p.read <- 1 })
		return nil
	}},
}

// A pool has workers and a queue.
type pool struct{ queue chan func() }

func newPool(workers, room int) *pool {
	p := &pool{make(chan func(), room)}
	for range workers {
		go p.work()
	}
	return p
}

func (p *pool) work() {
	for job := range p.queue {
		job()
	}
}

func (p *pool) submit(job func()) {
	p.queue <- job // want cause pool-stuck; holder pool-stuck
}

// branch makes two of one.
func (p *pool) branch() {
	steps.Add(1)
	p.submit(p.branch) // want holder pool-stuck
	p.submit(p.branch) // want holder pool-stuck
}

// A pipeline reads, parses and writes.
type pipeline struct{ read, parsed chan int }

func newPipeline() *pipeline {
	p := &pipeline{read: make(chan int, 4), parsed: make(chan int, 4)}
	crowd(1, p.scan)
	go p.parse()
	return p
}

func (p *pipeline) scan() {
	p.read <- 1
}

func (p *pipeline) parse() {
	for v := range p.read {
		p.parsed <- v // want cause pipeline-stuck pipeline-slow
	}
}

// write ends after some values.
func (p *pipeline) write(n int) {
	for range n {
		<-p.parsed
	}
}

func (p *pipeline) writeSlowly() {
	for range p.parsed {
		time.Sleep(50 * time.Millisecond) // want holder pipeline-slow
	}
}
