// Package feed reads the daily files of the sluice keepers.
package feed

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
)

// Passage is a line of a daily file.
type Passage struct {
	Sluice string
	Minute int64
	Level  float64
	Flow   float64
	Boats  int64
	Gate   string
}

// Day writes a file as the keepers' terminals do.
func Day(seed uint64, lines int) []byte {
	rng := rand.New(rand.NewPCG(seed, 5))
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	gates := []string{"open", "closed", "filling", "emptying"}
	for i := range lines {
		fmt.Fprintf(zw, "S%03d,%d,%.2f,%.1f,%d,%s\n", rng.IntN(64), i*1440/lines, 2+rng.Float64()*3, rng.Float64()*40, rng.IntN(6), gates[rng.IntN(4)])
	}
	zw.Close()
	return buf.Bytes()
}

// Read calls add for each line.
func Read(file []byte, add func(Passage)) error {
	zr, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return err
	}
	cr := csv.NewReader(zr)
	cr.ReuseRecord = true
	for {
		rec, err := cr.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var p Passage
		p.Sluice, p.Gate = rec[0], rec[5]
		if p.Minute, err = strconv.ParseInt(rec[1], 10, 64); err != nil {
			return err
		}
		if p.Level, err = strconv.ParseFloat(rec[2], 64); err != nil {
			return err
		}
		if p.Flow, err = strconv.ParseFloat(rec[3], 64); err != nil {
			return err
		}
		if p.Boats, err = strconv.ParseInt(rec[4], 10, 64); err != nil {
			return err
		}
		add(p)
	}
}
