// Buoyreports checks and archives the reports of weather buoys.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"buoyreports/internal/daily"
	"buoyreports/internal/fleet"
	"buoyreports/internal/quality"
	"buoyreports/internal/report"
)

type result struct {
	lines, broken, doubtful, days int
	bytes                         int64
	digest                        []byte
}

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second form of the reader")
	flag.Parse()

	month := fleet.Month(60, 240)
	in := &report.Reader{V2: *v2}
	lines, runs := 0, 0
	var last result
	for start := time.Now(); time.Since(start) < *d; runs++ {
		var err error
		if last, err = run(in, month); err != nil {
			log.Fatal(err)
		}
		lines += last.lines
	}
	fmt.Printf("operations: %d\n", lines)
	fmt.Printf("%d runs: %d days, %d doubtful, %d broken, %d bytes, digest %x\n",
		runs, last.days, last.doubtful, last.broken, last.bytes, last.digest[:6])
}

func run(in *report.Reader, month []byte) (result, error) {
	var r result
	a, err := daily.NewArchive()
	if err != nil {
		return r, err
	}
	check := quality.NewChecker()
	sc := bufio.NewScanner(bytes.NewReader(month))
	for sc.Scan() {
		r.lines++
		o, err := in.Line(sc.Text())
		if errors.Is(err, report.ErrLine) {
			r.broken++
			continue
		}
		if err != nil {
			return r, err
		}
		f := check.Check(o)
		if f != 0 {
			r.doubtful++
		}
		if err := a.Add(o, f); err != nil {
			return r, err
		}
	}
	if r.digest, r.days, err = a.Close(); err != nil {
		return r, err
	}
	r.bytes = a.Bytes
	return r, sc.Err()
}
