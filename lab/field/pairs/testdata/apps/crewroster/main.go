// Crewroster takes the duties of train crews from the depots and checks them.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"crewroster/internal/api"
	"crewroster/internal/depot"
	"crewroster/internal/duty"
	"crewroster/internal/wire"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "use the second version of the message reader")
	rate := flag.Int("rate", 1500, "messages a second")
	flag.Parse()
	key := []byte("depot-shared-key")
	dec := &wire.Decoder{Version: 1}
	if *v2 {
		dec.Version = 2
	}
	board := duty.NewBoard()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, &api.Server{Key: key, Decoder: dec, Board: board})
	p := depot.NewPlanner("http://"+ln.Addr().String()+"/duties", key)
	p.Run(*rate, 8, *d)
	applied, duties, breaches := board.Counts()
	fmt.Printf("operations: %d\n", p.Sent.Load())
	fmt.Printf("duties: %d of %d applied, breaches: %d, refused: %d\n", duties, applied, breaches, p.Bad.Load())
}
