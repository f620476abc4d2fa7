package main

import (
	"sync"
	"time"
)

// readers are programs with reader-writer locks.
var readers = []program{
	{"rw-stuck", "a reader never ends, a writer waits for it, and all readers for the writer", func() error {
		r := newRegistry()
		go r.stream()
		go func() { time.Sleep(50 * time.Millisecond); r.set("b", 2) }()
		crowd(40, r.get)
		return nil
	}},
	{"rw-slow", "a reader takes long, again and again, with writers between", func() error {
		r := newRegistry()
		go every(time.Millisecond, r.export)
		go every(20*time.Millisecond, func() { r.set("b", 2) })
		crowd(40, r.get)
		return nil
	}},
	{"rw-fine", "read most of the time, written now and then", func() error {
		r := newRegistry()
		go every(time.Second, func() { r.set("b", 2) })
		for range 40 {
			go every(10*time.Millisecond, r.get)
		}
		return nil
	}},
	{"rlock-again-stuck", "a reader takes the lock again, with a writer between", func() error {
		r := newRegistry()
		go r.awaitValue("c")
		go func() { time.Sleep(50 * time.Millisecond); r.put("c", 3) }()
		crowd(20, r.read)
		return nil
	}},
}

// A registry is read by many.
type registry struct {
	mu     sync.RWMutex
	values map[string]int
	client chan int
}

func newRegistry() *registry {
	return &registry{values: map[string]int{"a": 1, "b": 2}, client: make(chan int)}
}

func (r *registry) get() {
	r.mu.RLock() // want cause rw-stuck rw-slow
	_ = r.values["a"]
	r.mu.RUnlock()
}

func (r *registry) set(name string, v int) {
	r.mu.Lock() // want cause rw-stuck rw-slow
	defer r.mu.Unlock()
	r.values[name] = v
}

// stream writes all values to a client who does not read.
func (r *registry) stream() {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, v := range r.values {
		r.client <- v // want holder rw-stuck
	}
}

// export writes all values to a slow disk.
func (r *registry) export() {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for range r.values {
		time.Sleep(100 * time.Millisecond) // want holder rw-slow
	}
}

// awaitValue reads with the lock, again and again, what takes the lock.
func (r *registry) awaitValue(name string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for r.lookUp(name) == 0 { // want holder rlock-again-stuck
		time.Sleep(time.Millisecond)
	}
}

func (r *registry) lookUp(name string) int {
	r.mu.RLock() // want holder rlock-again-stuck
	defer r.mu.RUnlock()
	return r.values[name]
}

func (r *registry) put(name string, v int) {
	r.mu.Lock() // want cause rlock-again-stuck
	r.values[name] = v
	r.mu.Unlock()
}

func (r *registry) read() {
	r.mu.RLock() // want cause rlock-again-stuck
	defer r.mu.RUnlock()
	_ = r.values["a"]
}
