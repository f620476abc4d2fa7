// Package history reads how many calls came in the past weeks.
package history

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand"
	"strconv"
	"time"
)

// Slots is the number of half hours in a day.
const Slots = 48

// Queue is the past of one telephone queue, a row of half hours for each day.
type Queue struct {
	Name   string
	Days   [][Slots]float64
	Handle time.Duration
}

// Read reads "queue,seconds per call,day,slot 0,..,slot 47" lines.
func Read(r io.Reader) ([]*Queue, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = 3 + Slots
	in.ReuseRecord = true
	byName := map[string]*Queue{}
	var out []*Queue
	for {
		rec, err := in.Read()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		q := byName[rec[0]]
		if q == nil {
			secs, err := strconv.ParseFloat(rec[1], 64)
			if err != nil {
				return nil, fmt.Errorf("queue %s: %w", rec[0], err)
			}
			q = &Queue{Name: rec[0], Handle: time.Duration(secs * float64(time.Second))}
			byName[q.Name] = q
			out = append(out, q)
		}
		if _, err := time.Parse(time.DateOnly, rec[2]); err != nil {
			return nil, err
		}
		var day [Slots]float64
		for i := range day {
			if day[i], err = strconv.ParseFloat(rec[3+i], 64); err != nil {
				return nil, fmt.Errorf("queue %s, slot %d: %w", q.Name, i, err)
			}
		}
		q.Days = append(q.Days, day)
	}
}

// Centre makes the past of a call centre.
func Centre(rng *rand.Rand, queues, weeks int) []byte {
	var b bytes.Buffer
	first := time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC)
	for q := range queues {
		size := 60 + rng.Float64()*700
		secs := 180 + rng.Intn(240)
		for d := range weeks * 7 {
			fmt.Fprintf(&b, "queue-%02d,%d,%s", q, secs, first.AddDate(0, 0, d).Format(time.DateOnly))
			for s := range Slots {
				x := float64(s) / Slots
				shape := math.Exp(-18*(x-.42)*(x-.42)) + 0.6*math.Exp(-30*(x-.68)*(x-.68))
				if d%7 > 4 {
					shape *= 0.4
				}
				fmt.Fprintf(&b, ",%.0f", size*shape*(0.85+0.3*rng.Float64()))
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
