// Package sales has what was sold.
package sales

import "fmt"

// A Sale is one of them.
type Sale struct {
	Shop  string
	Cents int
	Day   int
}

// Generate makes sales up.
func Generate(n int) []Sale {
	out := make([]Sale, n)
	for i := range out {
		out[i] = Sale{fmt.Sprintf("shop-%02d", i%60), 100 + i*7919%20000, i % 365}
	}
	return out
}
