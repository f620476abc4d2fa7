// Graphqloverlap answers the queries of a page that asks for many fields at once.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"strings"

	graphql "github.com/graph-gophers/graphql-go"
)

const schema = `
schema { query: Query }
type Query { station(id: Int!): Station! }
type Station { name: String! lines: Int! lift: Boolean! }
`

type root struct{}

type station struct{ id int32 }

func (*root) Station(args struct{ ID int32 }) *station { return &station{args.ID} }
func (s *station) Name() string                        { return fmt.Sprint("station ", s.id) }
func (s *station) Lines() int32                        { return s.id % 7 }
func (s *station) Lift() bool                          { return s.id%2 == 0 }

// query asks for the same fields of one station as often as parts of the page do.
func query(parts int) string {
	var b strings.Builder
	b.WriteString("{ station(id: 7) {")
	for range parts {
		b.WriteString(" name lines lift")
	}
	b.WriteString(" } }")
	return b.String()
}

func main() {
	parts := flag.Int("parts", 250, "parts of the page")
	rounds := flag.Int("rounds", 40, "how often it is asked for")
	flag.Parse()
	s := graphql.MustParseSchema(schema, &root{})
	q := query(*parts)
	for range *rounds {
		if r := s.Exec(context.Background(), q, "", nil); len(r.Errors) > 0 {
			log.Fatal(r.Errors[0])
		}
	}
	fmt.Printf("operations: %d\n", *rounds)
}
