// Bunstock tells what a warehouse has, behind the router of bun.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/uptrace/bunrouter"
)

// An item is how much there is of an article.
type item struct {
	Article int    `json:"article"`
	Name    string `json:"name"`
	Count   int    `json:"count"`
}

// A shelf is a part of a warehouse, its items sorted by article. Who changes them puts
// others in their place, for they are read much more often.
type shelf struct {
	mu    sync.Mutex // of changes
	items atomic.Pointer[[]item]
}

type warehouse struct{ shelves []shelf }

func newWarehouse(shelves, items int) *warehouse {
	w, rnd := &warehouse{make([]shelf, shelves)}, rand.New(rand.NewPCG(1, 4))
	for s := range w.shelves {
		list := make([]item, items)
		for i := range list {
			list[i] = item{s*1000 + i, fmt.Sprintf("article %d of shelf %d", i, s), rnd.IntN(90)}
		}
		w.shelves[s].items.Store(&list)
	}
	return w
}

var errUnknown = errors.New("no such shelf or article")

func (w *warehouse) shelf(req bunrouter.Request) (*shelf, error) {
	n, err := strconv.Atoi(req.Param("shelf"))
	if err != nil || n < 0 || n >= len(w.shelves) {
		return nil, errUnknown
	}
	return &w.shelves[n], nil
}

// list answers with what a shelf has.
func (w *warehouse) list(out http.ResponseWriter, req bunrouter.Request) error {
	s, err := w.shelf(req)
	if err != nil {
		return err
	}
	return bunrouter.JSON(out, s.items.Load())
}

// take takes some of an article from a shelf.
func (w *warehouse) take(out http.ResponseWriter, req bunrouter.Request) error {
	s, err := w.shelf(req)
	if err != nil {
		return err
	}
	article, err := strconv.Atoi(req.Param("article"))
	if err != nil {
		return errUnknown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	items := *s.items.Load()
	at, ok := slices.BinarySearchFunc(items, article, func(i item, a int) int { return cmp.Compare(i.Article, a) })
	if !ok || items[at].Count == 0 {
		return errUnknown
	}
	items = slices.Clone(items)
	items[at].Count--
	s.items.Store(&items)
	out.WriteHeader(http.StatusNoContent)
	return nil
}

// answered turns the errors of handlers into answers.
func answered(next bunrouter.HandlerFunc) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, req bunrouter.Request) error {
		err := next(w, req)
		switch {
		case errors.Is(err, errUnknown):
			http.Error(w, err.Error(), http.StatusNotFound)
		case err != nil && req.Context().Err() == nil:
			log.Printf("%s: %v", req.URL.Path, err)
		}
		return nil
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	w := newWarehouse(100, 40)
	router := bunrouter.New(bunrouter.Use(answered))
	router.GET("/shelves/:shelf", w.list)
	router.DELETE("/shelves/:shelf/articles/:article", w.take)
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Handler: router, ReadHeaderTimeout: 5 * time.Second}
	idle := make(chan error, 1)
	context.AfterFunc(ctx, func() { idle <- srv.Shutdown(context.Background()) })
	fmt.Println("listening on", l.Addr())
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	if err := <-idle; err != nil {
		log.Fatal(err)
	}
}
