package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var errNoMatch = errors.New("an address does not match")

// followPipes follows a hundred pipes that the runtime cannot poll.
func followPipes(ctx context.Context, healed bool, count *atomic.Int64) error {
	var ends []int
	follow := func(fd int) { // want threadgrowth
		var b [1]byte
		for {
			n, err := syscall.Read(fd, b[:])
			if n <= 0 || err != nil {
				return
			}
			count.Add(1)
		}
	}
	for range 100 {
		if healed {
			r, w, err := os.Pipe() // non-blocking: the runtime polls it
			if err != nil {
				return err
			}
			defer r.Close()
			defer w.Close()
			go io.Copy(counter{count}, r)
			ends = append(ends, int(w.Fd()))
			continue
		}
		var p [2]int
		if err := syscall.Pipe(p[:]); err != nil {
			return err
		}
		go follow(p[0])
		defer syscall.Close(p[1])
		ends = append(ends, p[1])
	}
	for ctx.Err() == nil {
		for _, fd := range ends {
			if _, err := syscall.Write(fd, []byte{1}); err != nil {
				return err
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// A counter counts what is written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) { c.n.Add(int64(len(b))); return len(b), nil }

// dialAgain asks a web server on loopback with connections that are not kept.
func dialAgain(ctx context.Context, healed bool, count *atomic.Int64) error {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	const clients = 4
	transport := &http.Transport{DisableKeepAlives: !healed, MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	errs := make(chan error, clients)
	for range clients {
		go func() { errs <- fetch(ctx, client, server.URL, count) }()
	}
	var err error
	for range clients {
		err = errors.Join(err, <-errs)
	}
	return err
}

func fetch(ctx context.Context, client *http.Client, url string, count *atomic.Int64) error {
	for ctx.Err() == nil {
		r, err := client.Get(url) // want connectionchurn
		if err != nil {
			return err
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
		count.Add(1)
		time.Sleep(500 * time.Microsecond)
	}
	return nil
}

// logLocked has eight workers that write a line for each item, through one lock,
// to a file.
func logLocked(ctx context.Context, healed bool, count *atomic.Int64) error {
	file, err := os.CreateTemp("", "habits")
	if err != nil {
		return err
	}
	defer file.Close()
	os.Remove(file.Name()) // nobody else opens it, and one that is killed leaves no gigabyte behind
	logger := log.New(file, "item ", log.LstdFlags)
	var working sync.WaitGroup
	for worker := range 8 {
		working.Go(func() {
			for sum := worker; ctx.Err() == nil; count.Add(1) {
				for i := range 200 {
					sum = sum*31 + i
				}
				if !healed || sum == 0 {
					logger.Println("worker", worker, "got", sum) // want loggerlock
				}
			}
		})
	}
	working.Wait()
	return nil
}

// spinClosed waits for events in a loop and does not notice that a channel is
// closed.
func spinClosed(ctx context.Context, healed bool, count *atomic.Int64) error {
	events, ticks := make(chan int), time.NewTicker(10*time.Millisecond)
	defer ticks.Stop()
	close(events)
	for {
		select {
		case _, ok := <-events: // want spinloop
			if !ok && healed {
				events = nil // a nil channel is never ready
			}
		case <-ticks.C:
			count.Add(1)
		case <-ctx.Done():
			return nil
		}
	}
}

// retryRefused tries to reach a port where nobody listens, without a pause.
func retryRefused(ctx context.Context, healed bool, count *atomic.Int64) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	pause := time.Duration(0)
	if healed {
		pause = 20 * time.Millisecond
	}
	for ctx.Err() == nil {
		if c, err := net.Dial("tcp", address); err == nil { // want hotretry
			c.Close()
		}
		count.Add(1)
		time.Sleep(pause)
	}
	return nil
}

// forgetGoroutines asks two backends and takes the first answer: whoever is
// second can never hand his over.
func forgetGoroutines(ctx context.Context, healed bool, count *atomic.Int64) error {
	for ctx.Err() == nil {
		room := 0
		if healed {
			room = 1
		}
		answers := make(chan int, room)
		for backend := range 2 {
			go func() { answers <- backend }() // want goroutinegrowth
		}
		<-answers
		count.Add(1)
		time.Sleep(200 * time.Microsecond)
	}
	return nil
}

// holdAndWait has sixteen workers that update a table, and tell a peer of each
// change while they hold its lock.
func holdAndWait(ctx context.Context, healed bool, count *atomic.Int64) error {
	peer, err := listen(ctx)
	if err != nil {
		return err
	}
	var lock sync.Mutex
	table := map[int]int{}
	const workers = 16
	errs := make(chan error, workers)
	update := func(worker int) error {
		c, err := net.Dial("tcp", peer)
		if err != nil {
			return err
		}
		defer c.Close()
		for ctx.Err() == nil {
			lock.Lock()
			table[worker]++
			if healed {
				lock.Unlock()
			}
			if err := tell(c, worker); err != nil {
				return err
			}
			if !healed {
				lock.Unlock() // want lockedio
			}
			count.Add(1)
		}
		return nil
	}
	for worker := range workers {
		go func() { errs <- update(worker) }()
	}
	for range workers {
		err = errors.Join(err, <-errs)
	}
	return err
}

// tell sends a change and waits until the peer has it.
func tell(c net.Conn, change int) error {
	b := [1]byte{byte(change)}
	if _, err := c.Write(b[:]); err != nil {
		return err
	}
	_, err := io.ReadFull(c, b[:])
	return err
}

// listen starts a peer on loopback that takes a millisecond for each change.
func listen(ctx context.Context) (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	answer := func(c net.Conn) {
		defer c.Close()
		var b [1]byte
		for {
			if _, err := io.ReadFull(c, b[:]); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
			if _, err := c.Write(b[:]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answer(c)
		}
	}()
	return l.Addr().String(), nil
}
