// Caseexport writes the papers of a court's cases into bundles for the archive.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"caseexport/internal/docket"
	"caseexport/internal/office"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	room := flag.Int("room", 64<<10, "room of a bundle in bytes")
	flag.Parse()

	dir, err := os.MkdirTemp("", "caseexport")
	if err != nil {
		log.Fatal(err)
	}
	o := &office.Office{Dir: dir, Room: *room}
	err = o.Export(docket.Draw(400), *d)
	o.Clean()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", o.Papers)
	fmt.Printf("cases: %d, bytes of papers: %d, words: %d\n", o.Cases, o.Bytes, o.Index.Words)
}
