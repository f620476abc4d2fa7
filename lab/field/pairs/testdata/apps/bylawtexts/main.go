// Bylawtexts is a register of by-laws and their amendments.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand"
	"net"
	"net/http"
	"strings"
	"time"

	"bylawtexts/internal/clerks"
	"bylawtexts/internal/compare"
	"bylawtexts/internal/pages"
	"bylawtexts/internal/revisions"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second form of hunks")
	rate := flag.Float64("rate", 350, "amendments per second")
	flag.Parse()

	store := revisions.NewStore(compare.Options{Narrow: *v2})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("PUT /bylaws/{name}", &pages.Register{Store: store})
	go http.Serve(l, mux)

	var list []*clerks.Clerk
	for i := range 20 {
		rng := rand.New(rand.NewSource(int64(i)))
		lines := clerks.Text(rng, 300+rng.Intn(200))
		name := fmt.Sprintf("bl-%02d", i)
		store.File(name, strings.Join(lines, "\n"))
		list = append(list, &clerks.Clerk{URL: "http://" + l.Addr().String(), Name: name, Lines: lines, Rng: rng})
	}
	n := clerks.All(list, *rate, *d)
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("%d by-laws amended\n", len(list))
}
