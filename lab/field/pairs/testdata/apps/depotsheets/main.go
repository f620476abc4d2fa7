// Command depotsheets prints the duty sheets of a bus company's depots, over
// and over as the plan of the day changes.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"depotsheets/internal/filing"
	"depotsheets/internal/fleet"
	"depotsheets/internal/planner"
	"depotsheets/internal/sheet"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	paged := flag.Bool("paged", true, "file sheets in pages")
	flag.Parse()

	dir, err := os.MkdirTemp("", "depotsheets")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	depots := fleet.Depots(24)
	cabinet := &filing.Cabinet{Dir: dir, Paged: *paged}
	sheets, size, km := 0, int64(0), 0.0
	end := time.Now().Add(*dur)
	for time.Now().Before(end) {
		d := &depots[sheets%len(depots)]
		late := &d.Runs[sheets/len(depots)%len(d.Runs)]
		for i := range late.Stops {
			late.Stops[i].Minute++
		}
		figures := planner.Work(d)
		for i := range figures {
			km += figures[i].Km
		}
		n, err := cabinet.File(d.Name, func(w io.Writer) error { return sheet.Print(w, d, figures) })
		if err != nil {
			log.Fatal(err)
		}
		size += n
		sheets++
	}
	fmt.Printf("operations: %d\n", sheets)
	fmt.Printf("%d kB filed, %.0f km planned\n", size/1024, km)
}
