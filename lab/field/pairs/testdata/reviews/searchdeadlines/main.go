// Searchdeadlines answers searches over a catalogue of books, each with a deadline.
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
	"strings"
	"time"
)

type book struct {
	Title, Author string
	Year          int
}

// A query is what somebody wants to know, for as long as somebody waits.
type query struct {
	words []string
	terms [512]uint64 // of each letter, for ranking
}

type queryKey struct{}

func catalogue() (all []book) {
	for i := range 500 {
		all = append(all, book{fmt.Sprintf("The %d. book of gardens", i), fmt.Sprintf("Author %d", i%90), 1900 + i%120})
	}
	return all
}

func search(ctx context.Context, books []book) (found []book, err error) {
	q, ok := ctx.Value(queryKey{}).(*query)
	if !ok {
		return nil, errors.New("no query")
	}
	for _, b := range books {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, w := range q.words {
			if strings.Contains(b.Title, w) {
				found = append(found, b)
				break
			}
		}
	}
	return found, nil
}

// deadline is what a search runs under, and what gives it up.
func deadline(q *query) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(context.Background(), queryKey{}, q), 10*time.Minute)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	keep := flag.Bool("until-deadline", false, "let deadlines end by themselves")
	flag.Parse()
	books := catalogue()
	http.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		q := &query{words: strings.Fields(r.FormValue("q"))}
		ctx, cancel := deadline(q)
		if !*keep {
			defer cancel()
		}
		found, err := search(ctx, books)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if err := json.NewEncoder(w).Encode(found); err != nil {
			log.Print(err)
		}
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
