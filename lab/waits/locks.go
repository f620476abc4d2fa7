package main

import (
	"sync"
	"time"
)

var locks = []program{
	{"mutex-stuck", "one waits with the lock for an answer that never comes", func() error {
		l := &ledger{settled: make(chan struct{})}
		go l.settle()
		crowd(40, l.book)
		return nil
	}},
	{"mutex-slow", "each sleeps with the lock", func() error {
		crowd(40, new(ledger).bookSlowly)
		return nil
	}},
	{"mutex-fine", "each takes the lock for a moment, a hundred times a second", func() error {
		l := new(ledger)
		for range 40 {
			go every(10*time.Millisecond, l.book)
		}
		return nil
	}},
	{"once-stuck", "who sets up waits for a server that never tells its settings", func() error {
		s := &settings{told: make(chan string)}
		crowd(30, s.use)
		return nil
	}},
	{"once-fine", "it was set up long ago", func() error {
		s := &settings{told: make(chan string, 1)}
		s.told <- "all"
		for range 30 {
			go every(20*time.Millisecond, s.use)
		}
		return nil
	}},
	{"embedded-stuck", "who flushes has the lock that the disk's watcher needs to say that there is room", func() error {
		s := &spool{room: sync.NewCond(new(sync.Mutex))}
		go s.flush()
		crowd(20, s.put)
		go s.watch()
		return nil
	}},
}

// A ledger adds up under a lock.
type ledger struct {
	mu      sync.Mutex
	sum     int
	settled chan struct{}
}

func (l *ledger) book() {
	l.mu.Lock() // want cause mutex-stuck
	defer l.mu.Unlock()
	l.sum++
}

// settle waits for a clerk who is not there.
func (l *ledger) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	<-l.settled // want holder mutex-stuck
	l.sum = 0
}

func (l *ledger) bookSlowly() {
	l.mu.Lock() // want cause mutex-slow
	defer l.mu.Unlock()
	l.sum++
	time.Sleep(50 * time.Millisecond) // want holder mutex-slow
}

// settings are asked for once.
type settings struct {
	once sync.Once
	told chan string
	text string
}

func (s *settings) use() {
	s.once.Do(s.load) // want cause once-stuck
	_ = s.text
}

func (s *settings) load() {
	s.text = <-s.told // want holder once-stuck
}

// A spool has its lock embedded, and a condition with a lock of its own.
type spool struct {
	sync.Mutex
	lines int
	room  *sync.Cond
}

func (s *spool) put() {
	s.Lock() // want cause embedded-stuck
	s.lines++
	s.Unlock()
}

func (s *spool) flush() {
	s.Lock()
	s.awaitRoom() // want holder embedded-stuck
	s.lines = 0
	s.Unlock()
}

func (s *spool) awaitRoom() {
	s.room.L.Lock()
	defer s.room.L.Unlock()
	s.room.Wait() // want holder embedded-stuck
}

func (s *spool) watch() {
	time.Sleep(100 * time.Millisecond)
	s.Lock() // want cause embedded-stuck
	defer s.Unlock()
	s.room.Broadcast()
}
