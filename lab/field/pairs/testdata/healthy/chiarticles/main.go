// Chiarticles is a JSON service of articles behind go-chi's router and middleware.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

type article struct {
	ID      int       `json:"id"`
	Title   string    `json:"title"`
	Author  string    `json:"author"`
	Tags    []string  `json:"tags"`
	Body    string    `json:"body"`
	Written time.Time `json:"written"`
}

// articles is the store; it is read far more often than written.
type articles struct {
	mu   sync.RWMutex
	byID map[int]*article
	list []*article
}

func newArticles(n int) *articles {
	a := &articles{byID: make(map[int]*article, n), list: make([]*article, 0, n)}
	for i := range n {
		one := &article{
			ID: i, Title: "Article " + strconv.Itoa(i), Author: "author" + strconv.Itoa(i%17),
			Tags: []string{"go", "http"}, Body: strings.Repeat("Some words about it. ", 10),
			Written: time.Unix(int64(i)*3600, 0).UTC(),
		}
		a.byID[i], a.list = one, append(a.list, one)
	}
	return a
}

func (a *articles) page(from, n int) []*article {
	a.mu.RLock()
	defer a.mu.RUnlock()
	from = min(from, len(a.list))
	return a.list[from:min(from+n, len(a.list))]
}

func (a *articles) get(id int) (*article, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	one, ok := a.byID[id]
	return one, ok
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		log.Print(err)
	}
}

func (a *articles) router() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.RealIP, middleware.Recoverer, middleware.Timeout(5*time.Second))
	r.Route("/articles", func(r chi.Router) {
		r.Get("/", func(w http.ResponseWriter, r *http.Request) {
			from, _ := strconv.Atoi(r.URL.Query().Get("from"))
			reply(w, a.page(from, 70))
		})
		r.Get("/{id}", func(w http.ResponseWriter, r *http.Request) {
			id, err := strconv.Atoi(chi.URLParam(r, "id"))
			if err != nil {
				http.Error(w, "no such id", http.StatusBadRequest)
				return
			}
			one, ok := a.get(id)
			if !ok {
				http.NotFound(w, r)
				return
			}
			reply(w, one)
		})
	})
	return r
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Handler: newArticles(1000).router(), ReadHeaderTimeout: 5 * time.Second}
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
