// Ticketpool sells tickets; the seats of a show are in a database.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"ticketpool/internal/ops"
	"ticketpool/internal/records"
	"ticketpool/internal/seats"
)

// settings are those of the site.
type settings struct {
	addr        string
	shows       int
	connections int
}

func serve(shows int) string {
	s := &records.Server{Think: 3 * time.Millisecond, Tables: map[string]records.Table{"seats": {}}}
	for i := range shows {
		key := fmt.Sprintf("show%d", i)
		for row := range 12 {
			s.Tables["seats"][key] = append(s.Tables["seats"][key], fmt.Sprintf("%c%d", 'A'+row, row*3%17))
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(l)
	return l.Addr().String()
}

func main() {
	var c settings
	flag.StringVar(&c.addr, "addr", "127.0.0.1:8080", "where to serve")
	flag.IntVar(&c.shows, "shows", 40, "shows on sale")
	flag.IntVar(&c.connections, "connections", 24, "connections to the database")
	flag.Parse()
	db := records.Open(serve(c.shows))
	db.SetMaxOpenConns(c.connections)
	db.SetMaxIdleConns(c.connections)
	mux := http.NewServeMux()
	mux.Handle("GET /shows/{show}/seats", seats.NewHandler(db))
	if err := ops.Serve(c.addr, mux); err != nil {
		log.Fatal(err)
	}
}
