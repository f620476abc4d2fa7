// shipmentetas shows customers when their shipments will arrive.
package main

import (
	"flag"
	"fmt"
	"time"

	"shipmentetas/internal/portal"
	"shipmentetas/internal/roads"
	"shipmentetas/internal/watch"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the watches")
	rate := flag.Int("rate", 200, "visits per second")
	flag.Parse()

	net := roads.Load(20000)
	center := watch.NewCenter(net, watch.Options{Every: 150 * time.Millisecond, V2: *v2})
	p := portal.New(center, net)
	st := p.Run(*rate, *dur)
	fmt.Printf("operations: %d\n", st.Visits)
	fmt.Printf("pages: %d, bytes: %d, open at the end: %d\n", st.Pages, st.Bytes, st.Open)
	fmt.Printf("mean delay of shipments: %v\n", st.Delay.Round(time.Second))
}
