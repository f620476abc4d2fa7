// Homedashboard shows the state of a house, which several controllers know.
package main

import (
	"flag"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"homedashboard/internal/controller"
	"homedashboard/internal/dashboard"
	"homedashboard/internal/ops"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	together := flag.Bool("together", false, "ask all controllers together")
	flag.Parse()
	var sources []dashboard.Source
	for i, name := range []string{"heating", "light", "doors", "power", "garden", "weather"} {
		s := httptest.NewServer(controller.Handler(name, time.Duration(6+i*2)*time.Millisecond))
		sources = append(sources, dashboard.Source{Name: name, URL: s.URL})
	}
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b := dashboard.Board{Client: client, Sources: sources, Together: *together}
	mux := http.NewServeMux()
	mux.Handle("GET /", b)
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
