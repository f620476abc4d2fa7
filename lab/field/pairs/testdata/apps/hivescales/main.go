// Hivescales takes the weighings of beehives from spool files.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"hivescales/internal/cursor"
	"hivescales/internal/ingest"
	"hivescales/internal/spool"
	"hivescales/internal/weighing"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "length of the run")
	step := flag.Int("step", 512, "lines in a step")
	flag.Parse()
	if err := run(*length, *step); err != nil {
		log.Fatal(err)
	}
}

func run(length time.Duration, step int) error {
	dir, err := os.MkdirTemp("", "hivescales")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cur, err := cursor.Open(filepath.Join(dir, "state", "cursor.json"))
	if err != nil {
		return err
	}
	in := &ingest.Ingest{Trend: weighing.NewTrend(), Cursor: cur, Step: max(step, 1)}
	end := time.Now().Add(length)
	days := 0
	for ; time.Now().Before(end); days++ {
		path, err := spool.Write(dir, days, 500)
		if err != nil {
			return err
		}
		if err := in.File(path); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	fmt.Printf("operations: %d\n", in.Lines)
	fmt.Printf("days %d, swarms %d, all hives %.1f kg, digest %x\n", days, in.Swarms, in.Trend.Sum(), in.Digest)
	return nil
}
