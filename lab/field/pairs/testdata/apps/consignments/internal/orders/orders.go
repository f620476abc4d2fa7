// Package orders reads the shippers' order lists.
package orders

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Order is one consignment to be quoted.
type Order struct {
	Ref      string
	From, To string
	Lane     int
	Ready    time.Time
	Kilos    float64
	Parcels  int
}

// Read reads a list.
func Read(r io.Reader) ([]Order, error) {
	cr := csv.NewReader(r)
	cr.ReuseRecord = true
	cr.FieldsPerRecord = 7
	var list []Order
	for {
		rec, err := cr.Read()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		o := Order{Ref: strings.Clone(rec[0]), From: strings.Clone(rec[1]), To: strings.Clone(rec[2])}
		var errs [4]error
		o.Lane, errs[0] = strconv.Atoi(rec[3])
		o.Ready, errs[1] = time.Parse(time.DateOnly, rec[4])
		o.Kilos, errs[2] = strconv.ParseFloat(rec[5], 64)
		o.Parcels, errs[3] = strconv.Atoi(rec[6])
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("orders: %s: %w", o.Ref, err)
		}
		list = append(list, o)
	}
}

// Sample returns a list of n orders of one shipper.
func Sample(n int, rnd *rand.Rand) string {
	codes := []string{"DE", "NL", "FR", "GB"}
	var b strings.Builder
	for range n {
		ready := time.Date(2026, 1, 2+rnd.IntN(360), 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&b, "C%08d,%s,%s,%d,%s,%.1f,%d\n", rnd.IntN(1e8), codes[rnd.IntN(4)], codes[rnd.IntN(4)],
			rnd.IntN(400), ready.Format(time.DateOnly), 1+rnd.Float64()*900, 1+rnd.IntN(40))
	}
	return b.String()
}
