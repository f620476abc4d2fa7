// Planarchive hands out stamped copies of building plans.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"planarchive/internal/readers"
	"planarchive/internal/sheets"
	"planarchive/internal/site"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	kept := flag.Bool("kept", true, "keep places between copies")
	rate := flag.Int("rate", 12000, "copies a second")
	flag.Parse()
	if err := run(*d, *kept, *rate); err != nil {
		log.Fatal(err)
	}
}

func run(d time.Duration, kept bool, rate int) error {
	dir, err := os.MkdirTemp("", "planarchive")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	current, register, err := site.Lay(dir, 150, 5)
	if err != nil {
		return err
	}
	tree, err := sheets.Open(current, kept)
	if err != nil {
		return err
	}
	room := &readers.Room{Tree: tree, Register: register}
	room.Serve(rate, 4, d)
	fmt.Printf("operations: %d\n", room.Copies.Load())
	fmt.Printf("sheets: %d, bytes handed out: %d, missing: %d\n", len(register), room.Bytes.Load(), room.Missing.Load())
	return nil
}
