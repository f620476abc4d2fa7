// Command rainrecords brings the logs of rain gauges into the climate table.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"rainrecords/internal/flow"
	"rainrecords/internal/station"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to import")
	days := flag.Bool("days", true, "import by day")
	stations := flag.Int("stations", 48, "number of stations")
	flag.Parse()

	rng := rand.New(rand.NewPCG(17, 4))
	archive := make([]string, *stations)
	for i := range archive {
		archive[i] = station.Log(rng, i)
	}
	logs := make(chan string, 2)
	go func() {
		defer close(logs)
		for i, end := 0, time.Now().Add(*dur); time.Now().Before(end); i++ {
			logs <- archive[i%len(archive)]
		}
	}()

	f := flow.New()
	if *days {
		f.RunDays(logs)
	} else {
		f.Run(logs)
	}
	micro, hours := f.Table.Heaviest()
	fmt.Printf("operations: %d\n", f.Lines)
	fmt.Printf("%d bad lines, %d doubtful; heaviest spell %d um, %d hours with rain\n", f.Bad, f.Checker.Doubtful, micro, hours)
}
