// Chatsubscribers is a server of chat rooms: clients ask for the next messages of a
// room and are answered when there are some.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

type message struct {
	Room string    `json:"room"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

type room struct {
	mu   sync.Mutex
	wait map[chan message]struct{}
}

func (r *room) join() chan message {
	c := make(chan message, 8)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait[c] = struct{}{}
	return c
}

func (r *room) leave(c chan message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.wait[c]; ok {
		delete(r.wait, c)
		close(c)
	}
}

func (r *room) say(m message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.wait {
		select {
		case c <- m:
		default: // slow
		}
	}
}

// collect gathers the messages of a subscriber for its answer.
func collect(c <-chan message, out chan<- []message) {
	var some []message
	for m := range c {
		some = append(some, m)
		if len(some) >= 20 {
			some = some[len(some)-10:]
		}
		select {
		case out <- some:
			some = nil
		default:
		}
	}
}

func (r *room) next(w http.ResponseWriter, stay bool) {
	c, out := r.join(), make(chan []message)
	if !stay {
		defer r.leave(c)
	}
	go collect(c, out)
	select {
	case some := <-out:
		if err := json.NewEncoder(w).Encode(some); err != nil {
			log.Print(err)
		}
	case <-time.After(200 * time.Millisecond):
		w.WriteHeader(http.StatusNoContent)
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	stay := flag.Bool("stay", false, "subscribers stay when they are answered")
	flag.Parse()
	lobby := &room{wait: map[chan message]struct{}{}}
	go func() {
		for n := 0; ; n++ {
			time.Sleep(50 * time.Millisecond)
			lobby.say(message{"lobby", fmt.Sprintf("message %d", n), time.Now()})
		}
	}()
	http.HandleFunc("GET /lobby", func(w http.ResponseWriter, _ *http.Request) { lobby.next(w, *stay) })
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
