package rules

import (
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// sentence begins with a capital letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// figureOf returns a number in a sentence.
func figureOf(n int) string { return figures.Number(float64(n)) }
