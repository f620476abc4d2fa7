// Package ledger adds up tickets.
package ledger

import (
	"bufio"
	"errors"
	"io"
	"os"

	"quarryloads/internal/recfile"
	"quarryloads/internal/weigh"
)

// Ledger is the sum of many tickets.
type Ledger struct {
	Tickets  int
	Tonnes   map[string]float64
	ByDay    map[int]int
	Overload int
}

// Load reads a file of tickets.
func Load(name string, v2 bool) (*Ledger, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if v2 {
		in = bufio.NewReaderSize(f, 32<<10)
	}
	l := &Ledger{Tonnes: map[string]float64{}, ByDay: map[int]int{}}
	r := recfile.NewReader(in)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		t, err := weigh.Decode(rec)
		if err != nil {
			return nil, err
		}
		l.add(t)
	}
}

func (l *Ledger) add(t weigh.Ticket) {
	l.Tickets++
	l.Tonnes[t.Material] += float64(t.Gross-t.Tare) / 1000
	l.ByDay[t.At.YearDay()]++
	for _, a := range t.Axles {
		if a > 8500 {
			l.Overload++
			break
		}
	}
}
