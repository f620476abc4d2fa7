// Command canalsluices summarises the daily files of a canal's sluices.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"canalsluices/internal/feed"
	"canalsluices/internal/report"
	"canalsluices/internal/summary"
	"canalsluices/internal/table"
)

type totals struct {
	lines, bytes int
	boats        int64
	last         string
}

func process(day int, file []byte, typed bool, sum *totals) error {
	t := table.New(typed)
	if err := feed.Read(file, t.Append); err != nil {
		return fmt.Errorf("day %d: %w", day, err)
	}
	sluices := summary.Of(t)
	body, check, err := report.Write(day, sluices)
	if err != nil {
		return err
	}
	for _, s := range sluices {
		sum.boats += s.Boats
	}
	sum.lines += t.Len()
	sum.bytes += len(body)
	sum.last = check[:12]
	return nil
}

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	typed := flag.Bool("typed", true, "typed tables")
	flag.Parse()

	var files [][]byte
	for i := range 6 {
		files = append(files, feed.Day(uint64(i), 6000))
	}
	var sum totals
	n := 0
	for end := time.Now().Add(*span); time.Now().Before(end); n++ {
		if err := process(n, files[n%len(files)], *typed, &sum); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("%d lines, %d boats, %d bytes of reports, last %s\n", sum.lines, sum.boats, sum.bytes, sum.last)
}
