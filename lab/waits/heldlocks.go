package main

import (
	"crypto/sha256"
	"log"
	"os"
	"sync"
	"time"
)

// heldLocks are held over what takes long.
var heldLocks = []program{
	{"send-stuck", "one sends with the lock, and nobody receives any more", func() error {
		a := newAuction(1)
		go a.announceTo(3)
		crowd(30, a.bid)
		return nil
	}},
	{"send-slow", "each sends with the lock to one who is slow", func() error {
		a := newAuction(1)
		go a.announceSlowly()
		crowd(30, a.bid)
		return nil
	}},
	{"send-fine", "each sends with the lock, and there is always room", func() error {
		a := newAuction(1000)
		go a.announceTo(1 << 40)
		for range 10 {
			go every(10*time.Millisecond, a.bid)
		}
		return nil
	}},
	{"file-slow", "each writes a file to the disk with the lock", func() error {
		dir, err := os.MkdirTemp("", "waits-")
		if err != nil {
			return err
		}
		crowd(20, (&archive{name: dir + "/archive", page: make([]byte, 8<<20)}).save)
		return nil
	}},
	{"cpu-slow", "each computes with the lock", func() error {
		crowd(20, (&catalogue{text: make([]byte, 16<<20)}).sign)
		return nil
	}},
	{"logger-stuck", "who reads the log has stopped, and its pipe is full", func() error {
		return logTo(nil, func(l *log.Logger) { crowd(20, func() { audit(l) }) })
	}},
	{"logger-slow", "who reads the log is slow, and its pipe is full", func() error {
		return logTo(readSlowly, func(l *log.Logger) { crowd(20, func() { audit(l) }) })
	}},
	{"logger-fine", "some lines a second, and somebody reads them", func() error {
		return logTo(readAtOnce, func(l *log.Logger) {
			for range 20 {
				go every(50*time.Millisecond, func() { audit(l) })
			}
		})
	}},
	{"syncmap-fine", "all Ps store into one sync.Map: work, and nobody waits long", func() error {
		m := new(sync.Map)
		crowd(4, func() { remember(m) })
		return nil
	}},
}

// An auction announces each bid.
type auction struct {
	mu    sync.Mutex
	price int
	news  chan int
}

func newAuction(room int) *auction { return &auction{news: make(chan int, room)} }

func (a *auction) bid() {
	a.mu.Lock() // want cause send-stuck send-slow
	a.price++
	a.news <- a.price // want holder send-stuck send-slow
	a.mu.Unlock()
}

// announceTo goes home after n bids.
func (a *auction) announceTo(n int) {
	for range n {
		<-a.news
	}
}

func (a *auction) announceSlowly() {
	for range a.news {
		time.Sleep(30 * time.Millisecond) // want holder send-slow
	}
}

// An archive is a file that is written anew each time.
type archive struct {
	mu   sync.Mutex
	name string
	page []byte
}

func (a *archive) save() {
	a.mu.Lock() // want cause file-slow
	defer a.mu.Unlock()
	a.write() // want holder file-slow
}

func (a *archive) write() {
	f, err := os.Create(a.name) // want holder file-slow
	if err != nil {
		panic(err)
	}
	f.Write(a.page) // want holder file-slow
	f.Sync()        // want holder file-slow
	f.Close()
}

// A catalogue is signed as a whole.
type catalogue struct {
	mu   sync.Mutex
	text []byte
	sum  [sha256.Size]byte
}

func (c *catalogue) sign() {
	c.mu.Lock() // want cause cpu-slow
	c.text[0]++
	c.sum = sha256.Sum256(c.text) // want holder cpu-slow
	c.mu.Unlock()
}

// logTo starts programs that log into a pipe.
func logTo(read func(*os.File), start func(*log.Logger)) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if read != nil {
		go read(r)
	}
	start(log.New(w, "", log.LstdFlags))
	kept = append(kept, r) // a pipe without a reader is an error
	return nil
}

// kept are files that must not be closed when nobody knows them any more.
var kept []*os.File

func audit(l *log.Logger) {
	l.Printf("somebody did something, and this is the line that says so: %060d", steps.Load()) // want cause logger-stuck logger-slow; holder logger-stuck logger-slow
}

func readSlowly(f *os.File) {
	for b := make([]byte, 4096); ; time.Sleep(20 * time.Millisecond) {
		f.Read(b)
	}
}

func readAtOnce(f *os.File) {
	for b := make([]byte, 4096); ; {
		f.Read(b)
	}
}

func remember(m *sync.Map) {
	for i := range 1000 {
		m.Store(i, steps.Load())
	}
}
