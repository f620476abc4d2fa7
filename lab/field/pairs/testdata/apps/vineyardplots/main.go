// Command vineyardplots plans the work of vineyards by the weather.
package main

import (
	"flag"
	"fmt"
	"time"

	"vineyardplots/internal/plan"
	"vineyardplots/internal/plot"
	"vineyardplots/internal/settings"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	frozen := flag.Bool("frozen", true, "second edition of the registry")
	flag.Parse()

	reg := settings.NewRegistry(12, *frozen)
	estates := map[string][]plot.Plot{}
	for i := range 12 * 12 {
		name := fmt.Sprintf("estate-%02d", i%12)
		estates[name] = append(estates[name], plot.Plot{ID: i, Estate: name, Slope: float64(i%7) / 10, Height: float64(100 + i*5)})
	}
	days, size := plan.Season(estates, reg, 50*time.Millisecond, *d)
	fmt.Printf("operations: %d\n", days)
	fmt.Printf("plans: %d KB\n", size>>10)
}
