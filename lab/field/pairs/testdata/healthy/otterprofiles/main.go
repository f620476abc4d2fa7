// Otterprofiles serves the profiles of users, which otter caches: one that is not there is loaded once, slowly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"encoding/json"
	"strconv"
	"sync/atomic"

	"github.com/maypok86/otter/v2"
)

type profile struct {
	ID      int      `json:"id"`
	Name    string   `json:"name"`
	Friends []string `json:"friends"`
}

// load stands for the database.
func load(ctx context.Context, id int) (*profile, error) {
	select {
	case <-time.After(3 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p := &profile{ID: id, Name: "User " + strconv.Itoa(id)}
	for i := range 500 {
		p.Friends = append(p.Friends, "User "+strconv.Itoa((id*31+i*7)%5000))
	}
	return p, nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	cache := otter.Must(&otter.Options[int, *profile]{
		MaximumSize:      4000,
		ExpiryCalculator: otter.ExpiryWriting[int, *profile](time.Minute),
	})
	loader := otter.LoaderFunc[int, *profile](load)
	var requests atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /next", func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		id := int(n * n * 7919 % 3000)
		p, err := cache.Get(r.Context(), id, loader)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(end)
	}()
	fmt.Println("listening")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
