package main

import (
	"sync"
	"time"
)

// orders are programs that take one lock after the other.
var orders = []program{
	{"abba-stuck", "two take two locks, each in its own order", func() error {
		b := newBank()
		crowd(1, b.pay)
		crowd(1, b.refund)
		crowd(10, b.balance)
		return nil
	}},
	{"abba-fine", "the same two locks, always in one order", func() error {
		b := newBank()
		for range 10 {
			go every(200*time.Millisecond, b.pay)
			go every(20*time.Millisecond, b.balance)
		}
		return nil
	}},
	{"cycle-stuck", "three take three locks, each the next one's", func() error {
		t := new(table)
		crowd(1, t.first)
		crowd(1, t.second)
		crowd(1, t.third)
		return nil
	}},
	{"self-stuck", "one takes the lock that it has", func() error {
		c := &counts{by: map[string]int{}}
		go c.reset()
		time.Sleep(50 * time.Millisecond)
		crowd(10, c.add)
		return nil
	}},
}

// An account of a bank.
type account struct {
	mu    sync.Mutex
	money int
}

type bank struct{ ours, theirs *account }

func newBank() *bank { return &bank{new(account), new(account)} }

func (b *bank) pay() {
	b.ours.mu.Lock()
	defer b.ours.mu.Unlock()
	time.Sleep(time.Millisecond) // who else is there comes, too
	b.theirs.mu.Lock()           // want cycle abba-stuck
	defer b.theirs.mu.Unlock()
	b.ours.money--
	b.theirs.money++
}

func (b *bank) refund() {
	b.theirs.mu.Lock()
	defer b.theirs.mu.Unlock()
	time.Sleep(time.Millisecond)
	b.ours.mu.Lock() // want cycle abba-stuck
	defer b.ours.mu.Unlock()
	b.theirs.money--
	b.ours.money++
}

func (b *bank) balance() {
	b.ours.mu.Lock()
	defer b.ours.mu.Unlock()
	_ = b.ours.money
}

// A table has a fork between every two who eat there.
type table struct{ a, b, c sync.Mutex }

func (t *table) first() {
	t.a.Lock()
	time.Sleep(50 * time.Millisecond)
	t.b.Lock() // want cycle cycle-stuck
	t.b.Unlock()
	t.a.Unlock()
}

func (t *table) second() {
	t.b.Lock()
	time.Sleep(50 * time.Millisecond)
	t.c.Lock() // want cycle cycle-stuck
	t.c.Unlock()
	t.b.Unlock()
}

func (t *table) third() {
	t.c.Lock()
	time.Sleep(50 * time.Millisecond)
	t.a.Lock() // want cycle cycle-stuck
	t.a.Unlock()
	t.c.Unlock()
}

// counts are by name.
type counts struct {
	mu sync.Mutex
	by map[string]int
}

func (c *counts) add() {
	c.mu.Lock() // want cause self-stuck
	defer c.mu.Unlock()
	c.by["a"]++
}

func (c *counts) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = map[string]int{}
	c.add() // want holder self-stuck
}
