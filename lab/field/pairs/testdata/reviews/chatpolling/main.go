// Chatpolling carries the messages of chat rooms from their authors to an archive.
package main

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"time"
)

type message struct {
	room, author int
	text         string
}

// An archive keeps messages by room.
type archive struct {
	in     chan message
	closed chan struct{}
	rooms  map[int][]string
}

func (a *archive) keep(m message) {
	a.rooms[m.room] = append(a.rooms[m.room], fmt.Sprintf("%d: %s", m.author, strings.ToUpper(m.text)))
}

func (a *archive) run() {
	for {
		select {
		case m := <-a.in:
			a.keep(m)
		case <-a.closed:
			return
		}
	}
}

func (a *archive) poll() {
	for {
		select {
		case m := <-a.in:
			a.keep(m)
		case <-a.closed:
			return
		default:
		}
	}
}

func author(n int, a *archive, until time.Time) {
	for i := 0; time.Now().Before(until); i++ {
		a.in <- message{i % 5, n, fmt.Sprintf("hello number %d", i)}
		time.Sleep(5 * time.Millisecond)
	}
}

func main() {
	poll := flag.Bool("poll", false, "look for messages all the time")
	how := flag.Duration("for", 5*time.Second, "how long the chat goes on")
	flag.Parse()
	a := &archive{make(chan message, 64), make(chan struct{}), map[int][]string{}}
	var authors, keeper sync.WaitGroup
	keeper.Go(func() {
		if *poll {
			a.poll()
		} else {
			a.run()
		}
	})
	until := time.Now().Add(*how)
	for n := range 8 {
		authors.Go(func() { author(n, a, until) })
	}
	authors.Wait()
	close(a.closed)
	keeper.Wait()
	kept := 0
	for _, r := range a.rooms {
		kept += len(r)
	}
	fmt.Printf("operations: %d\n", kept)
}
