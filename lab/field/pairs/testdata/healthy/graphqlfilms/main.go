// Graphqlfilms answers GraphQL queries about films and their actors with graph-gophers/graphql-go.
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
	"strconv"
	"syscall"
	"time"

	"github.com/graph-gophers/graphql-go"
	"github.com/graph-gophers/graphql-go/relay"
)

const schema = `
schema { query: Query }
type Query {
	film(id: ID!): Film
	films(first: Int!): [Film!]!
}
type Film {
	id: ID!
	title: String!
	year: Int!
	actors: [Actor!]!
}
type Actor {
	name: String!
	born: Int!
}
`

type actor struct {
	Name string
	Born int32
}

type film struct {
	ID     graphql.ID
	Title  string
	Year   int32
	Actors []*actor
}

type root struct {
	films []*film
	byID  map[graphql.ID]*film
}

func newRoot() *root {
	r := &root{byID: map[graphql.ID]*film{}}
	var actors []*actor
	for i := range 200 {
		actors = append(actors, &actor{"Actor " + strconv.Itoa(i), int32(1930 + i%70)})
	}
	for i := range 500 {
		f := &film{ID: graphql.ID(strconv.Itoa(i)), Title: "Film " + strconv.Itoa(i), Year: int32(1960 + i%60)}
		for k := range 5 {
			f.Actors = append(f.Actors, actors[(i*3+k*7)%len(actors)])
		}
		r.films, r.byID[f.ID] = append(r.films, f), f
	}
	return r
}

func (r *root) Film(args struct{ ID graphql.ID }) *film { return r.byID[args.ID] }

func (r *root) Films(args struct{ First int32 }) []*film {
	return r.films[:max(0, min(int(args.First), len(r.films)))]
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	s := graphql.MustParseSchema(schema, newRoot(), graphql.UseFieldResolvers(), graphql.MaxDepth(6), graphql.MaxParallelism(10))
	mux := http.NewServeMux()
	mux.Handle("/query", &relay.Handler{Schema: s})
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
