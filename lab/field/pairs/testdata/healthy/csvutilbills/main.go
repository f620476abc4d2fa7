// Csvutilbills reads tables of bills with csvutil and writes one of the sums of the customers, at a rate.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/jszwec/csvutil"
)

type bill struct {
	Number   int     `csv:"number"`
	Customer string  `csv:"customer"`
	Amount   float64 `csv:"amount"`
	Paid     bool    `csv:"paid"`
}

type sum struct {
	Customer string  `csv:"customer"`
	Open     float64 `csv:"open"`
}

func table(month int) []byte {
	b := []byte("number,customer,amount,paid\n")
	for i := range 500 {
		b = fmt.Appendf(b, "%d,customer %d,%d.%02d,%t\n", month*1000+i, i*7%40, i%300, i%100, i%3 == 0)
	}
	return b
}

// unpaid sums what customers have not paid.
func unpaid(table io.Reader) (map[string]float64, error) {
	reader := csv.NewReader(table)
	reader.ReuseRecord = true
	rows, err := csvutil.NewDecoder(reader)
	if err != nil {
		return nil, err
	}
	open := map[string]float64{}
	for {
		var b bill
		switch err := rows.Decode(&b); {
		case errors.Is(err, io.EOF):
			return open, nil
		case err != nil:
			return nil, err
		}
		if !b.Paid {
			open[b.Customer] += b.Amount
		}
	}
}

func report(open map[string]float64, out io.Writer) error {
	sums := make([]sum, 0, len(open))
	for customer, amount := range open {
		sums = append(sums, sum{customer, amount})
	}
	slices.SortFunc(sums, func(a, b sum) int { return int(100*b.Open) - int(100*a.Open) })
	w := csv.NewWriter(out)
	if err := csvutil.NewEncoder(w).Encode(sums); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

func main() {
	rate := flag.Int("rate", 10, "tables a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var months [][]byte
	for m := range 12 {
		months = append(months, table(m))
	}
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	var out bytes.Buffer
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("operations: %d\n", n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		open, err := unpaid(bytes.NewReader(months[n%len(months)]))
		if err != nil {
			log.Fatal(err)
		}
		out.Reset()
		if err := report(open, &out); err != nil {
			log.Fatal(err)
		}
	}
}
