// Plantnames proposes names of plants to gardeners who type, as a part of a shop does.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"plantnames/internal/flora"
	"plantnames/internal/suggest"
)

func main() {
	plants := flag.Int("plants", 90000, "plants of the shop")
	rate := flag.Int("rate", 4000, "keys that gardeners press in a second")
	last := flag.Duration("for", 6*time.Second, "how long the shop is open")
	order := flag.String("order", "tree", "how names are kept: tree or shelf")
	flag.Parse()

	names := flora.Generate(*plants)
	box, err := suggest.New(*order, names, 12)
	if err != nil {
		fmt.Fprintln(os.Stderr, "plantnames:", err)
		os.Exit(2)
	}
	const pause = 5 * time.Millisecond
	typed := flora.NewTypist(names)
	n, bytes := 0, 0
	begin := time.Now()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for now := range tick.C {
		since := now.Sub(begin)
		if since > *last {
			break
		}
		for due := int(since.Seconds() * float64(*rate)); n < due; n++ {
			bytes += len(box.Key(typed.Next()))
		}
	}
	fmt.Printf("sent: %d kB\n", bytes>>10)
	fmt.Printf("operations: %d\n", n)
}
