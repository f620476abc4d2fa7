// Uplinkprobes collects how long the links of branch offices take to answer, and tells the
// percentiles of each link.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"uplinkprobes/internal/agent"
	"uplinkprobes/internal/api"
	"uplinkprobes/internal/series"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to serve")
	sites := flag.Int("sites", 60, "branch offices")
	register := flag.String("register", "upsert", "how series are found: upsert or lookup")
	flag.Parse()

	registry, err := series.NewRegistry(*register, series.Bounds{Lowest: 1, Highest: 60_000, Digits: 3})
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, api.New(agent.NewFleet(*sites), registry)))
}
