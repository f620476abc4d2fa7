// Package statement reads bank statements.
package statement

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

type Payment struct {
	Booked    time.Time
	Amount    int64
	Currency  string
	Payer     string
	Reference string
}

// Parse reads lines of the form :61:260301C1234,50EUR//RF0001?payer.
func Parse(raw []byte) ([]Payment, error) {
	out := make([]Payment, 0, bytes.Count(raw, []byte{'\n'}))
	for len(raw) > 0 {
		line, rest, _ := bytes.Cut(raw, []byte{'\n'})
		raw = rest
		p, err := parseLine(line)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func parseLine(line []byte) (Payment, error) {
	body, ok := bytes.CutPrefix(line, []byte(":61:"))
	if !ok || len(body) < 12 {
		return Payment{}, fmt.Errorf("unknown line %q", line)
	}
	at, err := time.Parse("060102", string(body[:6]))
	if err != nil {
		return Payment{}, err
	}
	sign := int64(1)
	if body[6] == 'D' {
		sign = -1
	}
	head, tail, ok := bytes.Cut(body[7:], []byte("//"))
	if !ok || len(head) < 4 {
		return Payment{}, fmt.Errorf("no reference in %q", line)
	}
	cur := head[len(head)-3:]
	whole, frac, _ := bytes.Cut(head[:len(head)-3], []byte{','})
	w, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil {
		return Payment{}, err
	}
	f, err := strconv.ParseInt(string(frac), 10, 64)
	if err != nil {
		return Payment{}, err
	}
	ref, payer, _ := bytes.Cut(tail, []byte{'?'})
	return Payment{Booked: at, Amount: sign * (w*100 + f), Currency: string(cur), Payer: string(payer), Reference: string(ref)}, nil
}
