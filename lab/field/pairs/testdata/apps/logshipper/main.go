// Logshipper reads lines of many programs, finds when each was written, and counts
// them by minute and level.
package main

import (
	"flag"
	"fmt"
	"log"

	"logshipper/internal/ingest"
	"logshipper/internal/sample"
	"logshipper/internal/stamp"
)

func main() {
	rounds := flag.Int("rounds", 40, "how often the batch is read")
	lines := flag.Int("lines", 20000, "lines of a batch")
	remember := flag.Bool("remember", true, "remember the format of each source")
	flag.Parse()
	batch := sample.Lines(*lines)
	parser := stamp.NewParser(*remember)
	table := ingest.NewTable(parser)
	for range *rounds {
		for _, line := range batch {
			if err := table.Add(line); err != nil {
				log.Fatal(err)
			}
		}
	}
	fmt.Println("minutes:", table.Minutes(), "errors:", table.Count("ERROR"))
	fmt.Printf("operations: %d\n", *rounds**lines)
}
