// Turbinegauges collects readings of turbines and shows them all to those who ask.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"
	"time"

	"turbinegauges/internal/gauges"
	"turbinegauges/internal/ops"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	turbines := flag.Int("turbines", 6000, "turbines with gauges")
	outside := flag.Bool("copy", true, "copy readings before they are written out")
	flag.Parse()
	table := gauges.NewTable(*turbines, *outside)
	var asked atomic.Int64
	go func() { // somebody looks at all of them
		for {
			_, err := table.Report()
			if err != nil {
				log.Print(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /read", func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1))
		table.Set(n%*turbines, gauges.Reading{Turns: 900 + n%300, Celsius: float64(n%90) + 0.5, At: time.Now()})
		fmt.Fprintln(w, "taken")
	})
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
