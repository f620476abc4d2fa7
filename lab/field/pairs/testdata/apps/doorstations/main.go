// Command doorstations opens the doors of an office building.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"runtime"
	"sync"
	"time"

	"doorstations/internal/control"
	"doorstations/internal/lifecycle"
	"doorstations/internal/station"
	"doorstations/internal/wire"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	doors := flag.Int("doors", 12, "number of doors")
	v2 := flag.Bool("v2", true, "second version of the lifetimes")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	codec := wire.Codec{Key: []byte("building seven")}
	server, shutdown := context.WithCancel(context.Background())
	srv := &control.Server{Codec: codec, Join: lifecycle.Joiner{V2: *v2}}
	go srv.Serve(server, ln)

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	stations := make([]*station.Station, *doors)
	for i := range stations {
		stations[i] = &station.Station{Door: fmt.Sprintf("D%02d", i), Codec: codec, Every: 20 * time.Millisecond}
		wg.Go(func() {
			if err := stations[i].Run(ctx, ln.Addr().String()); err != nil {
				log.Print(err)
			}
		})
	}
	var live int
	time.AfterFunc(*dur*9/10, func() { live = runtime.NumGoroutine() })
	wg.Wait()
	ln.Close()
	shutdown()
	opened, refused := 0, 0
	for _, s := range stations {
		opened += s.Opened
		refused += s.Refused
	}
	fmt.Printf("operations: %d\n", opened+refused)
	fmt.Printf("opened %d, refused %d, entries %d, goroutines %d\n", opened, refused, srv.Entries(), live)
}
