// Platefeeds pairs the sightings of two cameras and finds who drove too fast between them.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"log"
	"time"

	"platefeeds/internal/cameras"
	"platefeeds/internal/fines"
	"platefeeds/internal/pairing"
	"platefeeds/internal/sightings"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second form of the table")
	flag.Parse()

	record := cameras.Record(80000, 16000)
	lines, days := 0, 0
	var office *fines.Office
	for start := time.Now(); time.Since(start) < *d; days++ {
		var err error
		office, err = fines.NewOffice(9400, 120, []byte("section A7 north"))
		if err != nil {
			log.Fatal(err)
		}
		n, err := day(record, pairing.NewTable(14, *v2), office)
		if err != nil {
			log.Fatal(err)
		}
		lines += n
	}
	fmt.Printf("operations: %d\n", lines)
	fmt.Printf("%d records: %d passages, %d fines, mean %.1f km/h\n", days, office.Passages, office.Fines, office.Mean())
}

func day(record []byte, road *pairing.Table, office *fines.Office) (int, error) {
	sc := bufio.NewScanner(bytes.NewReader(record))
	n := 0
	for sc.Scan() {
		s, err := sightings.Parse(sc.Bytes())
		if err != nil {
			return n, err
		}
		n++
		if n%20000 == 0 {
			road.Expire(s.Millis - 900_000)
		}
		if s.Camera == 'A' {
			road.Put(s)
			continue
		}
		if a, ok := road.Take(s.Plate); ok {
			if err := office.Passed(a, s); err != nil {
				return n, err
			}
		}
	}
	return n, sc.Err()
}
