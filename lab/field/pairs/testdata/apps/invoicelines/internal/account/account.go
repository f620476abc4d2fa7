// Package account has the lines of an account.
package account

import "fmt"

// A Line is one of them.
type Line struct {
	Day   int
	Text  string
	Cents int
}

// Generate makes lines up.
func Generate(n int) []Line {
	out := make([]Line, n)
	for i := range out {
		out[i] = Line{i % 365, fmt.Sprintf("invoice %d", i), 100 + i*37%9000}
	}
	return out
}
