// Command rinkrentals rents skates at an ice rink.
package main

import (
	"database/sql"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"rinkrentals/internal/cards"
	"rinkrentals/internal/front"
	"rinkrentals/internal/linedb"
	"rinkrentals/internal/rental"
)

func listen() net.Listener {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return ln
}

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Float64("rate", 45, "guests a second")
	v2 := flag.Bool("v2", true, "second version of the desk")
	flag.Parse()

	dbln, cardln := listen(), listen()
	go new(linedb.Server).Serve(dbln)
	go http.Serve(cardln, cards.Acquirer())

	db, err := sql.Open("linedb", dbln.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(3)
	db.SetMaxIdleConns(3)
	desk := &rental.Desk{
		DB:    db,
		Cards: &cards.Client{Base: "http://" + cardln.Addr().String(), HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}},
		V2:    *v2,
	}
	rep := front.Open(desk, *dur, *rate)
	fmt.Printf("operations: %d\n", len(rep.Took))
	fmt.Printf("rented: p50 %v p99 %v, failed %d\n", rep.Quantile(.5), rep.Quantile(.99), rep.Failed)
}
