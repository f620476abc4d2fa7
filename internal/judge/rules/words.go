package rules

import (
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// sentence begins with a capital letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// figureOf returns a number in a sentence.
func figureOf(n int) string { return figures.Number(float64(n)) }

// plural returns a whole number of things in a sentence: "1 P", "8 Ps".
func plural(f fact.Fact, thing string) fact.Part {
	return fact.Name(figures.Plural(int64(f.Value), thing))
}
