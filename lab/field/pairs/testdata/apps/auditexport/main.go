// Auditexport writes the entries of an audit log as lines of JSON, page by page.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"

	"auditexport/internal/export"
	"auditexport/internal/trail"
)

func main() {
	entries := flag.Int("entries", 120000, "entries in the log")
	page := flag.Int("page", 200, "entries of a page")
	rounds := flag.Int("rounds", 6, "how often all is exported")
	cursor := flag.Bool("cursor", false, "go on after the last entry of a page")
	flag.Parse()
	t := trail.New()
	for i := range *entries {
		t.Append(trail.Entry{Actor: fmt.Sprintf("user-%04d", i*7919%5000), Action: trail.Actions[i%len(trail.Actions)], Object: i * 31})
	}
	out := bufio.NewWriter(io.Discard)
	for range *rounds {
		e := export.Exporter{Trail: t, Page: *page, Cursor: *cursor}
		n, err := e.Write(out, "delete")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("exported:", n)
	}
	fmt.Printf("operations: %d\n", *rounds**entries)
}
