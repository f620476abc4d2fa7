// Blevebooks searches an index of books that bleve keeps in memory.
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
	"strings"

	"github.com/blevesearch/bleve/v2"
)

type book struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

var words = strings.Fields(`river mountain letter garden winter engine harbour music theory number
market kitchen window travel forest memory silver window station teacher doctor island signal shadow`)

// books indexes some hundreds, in one batch.
func books() (bleve.Index, error) {
	index, err := bleve.NewMemOnly(bleve.NewIndexMapping())
	if err != nil {
		return nil, err
	}
	batch := index.NewBatch()
	for i := range 400 {
		var text strings.Builder
		for k := range 60 {
			text.WriteString(words[(i*k+k*k+i)%len(words)] + " ")
		}
		one := book{"The " + words[i%len(words)] + " of " + words[i*5%len(words)], text.String()}
		if err := batch.Index(strconv.Itoa(i), one); err != nil {
			return nil, err
		}
	}
	return index, index.Batch(batch)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	index, err := books()
	if err != nil {
		log.Fatal(err)
	}
	defer index.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		question := bleve.NewMatchQuery(r.URL.Query().Get("q"))
		question.SetField("title")
		search := bleve.NewSearchRequestOptions(question, 10, 0, false)
		search.Fields = []string{"title"}
		found, err := index.SearchInContext(r.Context(), search)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(found.Hits)
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
