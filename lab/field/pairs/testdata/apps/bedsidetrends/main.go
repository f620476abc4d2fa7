// Command bedsidetrends records vital signs and their trends.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"bedsidetrends/internal/api"
	"bedsidetrends/internal/monitors"
	"bedsidetrends/internal/ward"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 900, "reports per second")
	v2 := flag.Bool("v2", true, "second version of the ward")
	flag.Parse()

	w := ward.New(64, *v2)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, api.Handler(w))
	res := monitors.Run("http://"+ln.Addr().String(), *rate, time.Now().Add(*span))
	on, left := w.Figures()
	fmt.Printf("operations: %d\n", res.Done.Load())
	fmt.Printf("%d failed, %d warnings\n", res.Failed.Load(), res.Warned.Load())
	fmt.Printf("%d monitors on the ward, %d left it\n", on, left)
}
