// Fleetlake writes the telemetry of lorries into a lake of columnar files, by region and day.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"

	"fleetlake/internal/ingest"
	"fleetlake/internal/lake"
	"fleetlake/internal/telemetry"
)

func main() {
	readings := flag.Int("readings", 200_000, "readings to write")
	dir := flag.String("dir", "", "where the lake lies")
	rows := flag.Int("rows", 20_000, "rows of a file")
	roll := flag.String("roll", "change", "when a file ends: change (of the partition) or rows")
	flag.Parse()
	if *dir == "" {
		var err error
		if *dir, err = os.MkdirTemp("", "lake"); err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(*dir)
	}
	table, err := lake.Open(*dir, lake.Layout{Rows: *rows, Roll: lake.Roll(*roll)})
	if err != nil {
		log.Fatal(err)
	}
	job := ingest.NewJob(telemetry.NewGateway(80), table)
	if err := job.Run(*readings); err != nil {
		log.Fatal(err)
	}
	s := table.Stats()
	fmt.Printf("partitions: %d, rows: %d, bytes: %d\n", s.Partitions, s.Rows, s.Bytes)
	fmt.Printf("operations: %d\n", *readings)
}
