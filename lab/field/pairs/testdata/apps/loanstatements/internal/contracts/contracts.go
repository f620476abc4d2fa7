// Package contracts reads loan contracts.
package contracts

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math/big"
	"math/rand"
	"strconv"
	"time"
)

// Change is a new rate from some month on.
type Change struct {
	Month int
	Rate  *big.Rat
}

// Contract is one loan.
type Contract struct {
	Number  string
	Holder  string
	Start   time.Time
	Months  int
	Amount  *big.Rat
	Payment *big.Rat
	Rates   []Change
}

// Read returns all contracts of a file.
func Read(r io.Reader) ([]Contract, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	var out []Contract
	for {
		rec, err := in.Read()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		c, err := parse(rec)
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		out = append(out, c)
	}
}

func parse(rec []string) (Contract, error) {
	if len(rec) < 8 || len(rec)%2 != 0 {
		return Contract{}, fmt.Errorf("%d fields", len(rec))
	}
	c := Contract{Number: rec[0], Holder: rec[1]}
	var err error
	if c.Start, err = time.Parse(time.DateOnly, rec[2]); err != nil {
		return c, err
	}
	if c.Months, err = strconv.Atoi(rec[3]); err != nil {
		return c, err
	}
	var ok [2]bool
	c.Amount, ok[0] = new(big.Rat).SetString(rec[4])
	c.Payment, ok[1] = new(big.Rat).SetString(rec[5])
	if !ok[0] || !ok[1] {
		return c, fmt.Errorf("amounts %q, %q", rec[4], rec[5])
	}
	for i := 6; i < len(rec); i += 2 {
		m, err := strconv.Atoi(rec[i])
		if err != nil {
			return c, err
		}
		rate, ok := new(big.Rat).SetString(rec[i+1])
		if !ok {
			return c, fmt.Errorf("rate %q", rec[i+1])
		}
		c.Rates = append(c.Rates, Change{m, rate.Quo(rate, big.NewRat(100, 1))})
	}
	return c, nil
}

// File makes a file of n contracts.
func File(rng *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for i := range n {
		amount := 4000 + rng.Intn(40000)
		months := 36 + 12*rng.Intn(5)
		fmt.Fprintf(&b, "L%07d,\"Holder, %d\",20%02d-%02d-01,%d,%d.%02d,%d.00",
			rng.Intn(1e7), i, 10+rng.Intn(12), 1+rng.Intn(12), months, amount, rng.Intn(100), amount/months)
		for m := 0; m < months; m += 24 {
			fmt.Fprintf(&b, ",%d,%d.%02d", m, 1+rng.Intn(5), rng.Intn(100))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
