package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// serve starts a server on the loopback, and a client that keeps up to conns
// connections. end closes both.
func serve(h http.Handler, conns int) (url string, client *http.Client, end func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, nil, err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l)
	transport := &http.Transport{MaxIdleConnsPerHost: conns, MaxIdleConns: conns}
	return "http://" + l.Addr().String(), &http.Client{Transport: transport}, func() {
		transport.CloseIdleConnections()
		server.Close()
	}, nil
}

// get asks once and reads the answer to its end, as keeping the connection needs.
func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// web answers requests at a rate of 1000 a second, from 16 clients.
func web(ctx context.Context) (int64, string, error) {
	type item struct {
		ID    int      `json:"id"`
		Name  string   `json:"name"`
		Score uint64   `json:"score"`
		Tags  []string `json:"tags"`
	}
	tags := []string{"new", "blue", "cheap"}
	handler := func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.FormValue("id"))
		if err != nil {
			http.Error(w, "id is not a number", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(item{id, "thing " + strconv.Itoa(id), score(uint64(id), 50_000), tags})
	}
	return asked(ctx, http.HandlerFunc(handler), 16, func(ask func(id int64)) int64 {
		return arrivals(ctx, 1000, ask)
	})
}

// asked serves h to a number of clients that ask for what source says.
func asked(ctx context.Context, h http.Handler, clients int, source func(ask func(id int64)) int64) (int64, string, error) {
	url, client, end, err := serve(h, clients)
	if err != nil {
		return 0, "", err
	}
	defer end()
	ids := make(chan int64, 4*clients)
	var answered, failed atomic.Int64
	var team sync.WaitGroup
	for range clients {
		team.Go(func() {
			for id := range ids {
				if err := get(context.WithoutCancel(ctx), client, url+"/?id="+strconv.FormatInt(id, 10)); err != nil {
					failed.Add(1)
				} else {
					answered.Add(1)
				}
			}
		})
	}
	source(func(id int64) { ids <- id })
	close(ids)
	team.Wait()
	if n := failed.Load(); n > 0 {
		return 0, "", fmt.Errorf("%d requests failed", n)
	}
	return answered.Load(), "all requests were answered", nil
}

// backend asks for things that take somebody else 20 ms, 200 at a time: it
// waits, and there is nothing that it could do meanwhile.
func backend(ctx context.Context) (int64, string, error) {
	slow := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(20 * time.Millisecond)
		io.WriteString(w, "done\n")
	}
	url, client, end, err := serve(http.HandlerFunc(slow), 20)
	if err != nil {
		return 0, "", err
	}
	defer end()
	var answered atomic.Int64
	side(20, func(int) {
		for ctx.Err() == nil {
			if get(ctx, client, url) == nil {
				answered.Add(1)
			}
		}
	})
	return answered.Load(), "waited for most of the time", nil
}

const (
	pollers = 1000
	news    = 300 // a second
)

// A board has what each client waits for.
type board struct{ boxes []chan int64 }

func (b *board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.FormValue("id"))
	if err != nil || id < 0 || id >= len(b.boxes) {
		http.Error(w, "no such client", http.StatusNotFound)
		return
	}
	patience := time.NewTimer(30 * time.Second)
	defer patience.Stop()
	select {
	case n := <-b.boxes[id]:
		fmt.Fprintf(w, "news %d\n", n)
	case <-patience.C:
		io.WriteString(w, "nothing new\n")
	case <-r.Context().Done():
	}
}

// longpoll has a thousand clients, each with a connection and four goroutines
// that are parked until there is news for it.
func longpoll(ctx context.Context) (int64, string, error) {
	b := &board{make([]chan int64, pollers)}
	for i := range b.boxes {
		b.boxes[i] = make(chan int64, 8)
	}
	url, client, end, err := serve(b, pollers)
	if err != nil {
		return 0, "", err
	}
	defer end()
	var answered atomic.Int64
	var clients sync.WaitGroup
	for id := range b.boxes {
		clients.Go(func() {
			for ctx.Err() == nil {
				if get(ctx, client, url+"/?id="+strconv.Itoa(id)) == nil {
					answered.Add(1)
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(7, 8))
	arrivals(ctx, news, func(n int64) {
		select {
		case b.boxes[random.IntN(pollers)] <- n:
		default: // this one has not fetched its last eight yet
		}
	})
	clients.Wait()
	return answered.Load(), fmt.Sprintf("news for %d clients", pollers), nil
}
