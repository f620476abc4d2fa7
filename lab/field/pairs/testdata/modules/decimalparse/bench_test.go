package decimalparse

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

func prices(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "item %d,%d.%02d,%d\n", i, i*37%9000, i%100, i%12)
	}
	return b.String()
}

// total adds the lines of a bill, each rounded.
func total(bill string) (sum decimal.Decimal, err error) {
	lines := csv.NewReader(strings.NewReader(bill))
	lines.ReuseRecord = true
	for {
		line, err := lines.Read()
		if err == io.EOF {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
		price, err := decimal.NewFromString(line[1])
		if err != nil {
			return sum, err
		}
		amount, err := decimal.NewFromString(line[2])
		if err != nil {
			return sum, err
		}
		sum = sum.Add(price.Mul(amount).Round(1).Abs())
	}
}

func BenchmarkBill(b *testing.B) {
	bill := prices(1000)
	for b.Loop() {
		if _, err := total(bill); err != nil {
			b.Fatal(err)
		}
	}
}
