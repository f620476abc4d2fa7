// Muxinventory is a page with the stock of a warehouse, routed by gorilla/mux and made of html/template.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gorilla/mux"
)

type item struct {
	Name  string
	Shelf string
	Count int
}

var page = template.Must(template.New("shelf").Parse(`<!doctype html>
<title>Shelf {{.Shelf}}</title>
<table>
{{range .Items}}<tr><td>{{.Name}}</td><td>{{.Count}}</td></tr>
{{end}}</table>
`))

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

type inventory struct{ byShelf map[string][]item }

func newInventory() *inventory {
	v := &inventory{byShelf: map[string][]item{}}
	for i := range 600 {
		shelf := string(rune('a' + i%20))
		v.byShelf[shelf] = append(v.byShelf[shelf], item{"Screw M" + strconv.Itoa(i), shelf, i * 3})
	}
	return v
}

func (v *inventory) show(w http.ResponseWriter, r *http.Request) {
	shelf := mux.Vars(r)["shelf"]
	items, ok := v.byShelf[shelf]
	if !ok {
		http.NotFound(w, r)
		return
	}
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := page.Execute(b, map[string]any{"Shelf": shelf, "Items": items}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	router := mux.NewRouter()
	router.HandleFunc("/shelves/{shelf:[a-z]}", newInventory().show).Methods(http.MethodGet)
	server := &http.Server{Handler: router, ReadHeaderTimeout: 5 * time.Second}
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
