// Command assemblies releases bills of materials to suppliers.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"assemblies/internal/catalog"
	"assemblies/internal/export"
	"assemblies/internal/release"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	products := flag.Int("products", 200, "number of products")
	records := flag.Bool("records", true, "release from records")
	flag.Parse()

	job := &release.Job{Catalog: catalog.New(*products), Exporter: export.Exporter{Records: *records}}
	if err := job.Run(*d, 2); err != nil {
		log.Fatal(err)
	}
	t := &job.Totals
	fmt.Printf("operations: %d\n", t.Documents.Load())
	fmt.Printf("changed %d, %d KB raw, %d KB packed\n", t.Changed.Load(), t.Raw.Load()>>10, t.Packed.Load()>>10)
}
