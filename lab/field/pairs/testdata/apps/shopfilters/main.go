// Shopfilters searches a catalogue: a list of conditions decides which articles are
// shown.
package main

import (
	"flag"
	"log"

	"shopfilters/internal/catalog"
	"shopfilters/internal/ops"
	"shopfilters/internal/web"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	articles := flag.Int("articles", 3000, "articles in the catalogue")
	planned := flag.Bool("planned", false, "let the catalogue choose the order of conditions")
	flag.Parse()
	c := catalog.Generate(*articles)
	c.Planned = *planned
	if err := ops.Serve(*addr, web.Routes(c)); err != nil {
		log.Fatal(err)
	}
}
