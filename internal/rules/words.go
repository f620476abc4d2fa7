package rules

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
)

// Numbers in sentences have three digits: what is measured is not better
// than that, and a reader compares them faster.

// dur writes a length of time.
func dur(d time.Duration) string { return diagnosis.Duration(d) }

// pct writes a share as a percentage: 0.123 is "12 %".
func pct(share float64) string {
	switch p := 100 * share; {
	case p != 0 && math.Abs(p) < 10:
		return strconv.FormatFloat(p, 'g', 2, 64) + " %"
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// num writes a number with separators between thousands, and with three
// digits when it is small: "240,000", "4.37".
func num[N ~int | ~int64 | ~float64](n N) string {
	f := float64(n)
	if math.Abs(f) < 100 && f != math.Trunc(f) {
		return strconv.FormatFloat(f, 'g', 3, 64)
	}
	s := strconv.FormatFloat(math.Abs(f), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if f < 0 {
		s = "-" + s
	}
	return s
}

// size writes bytes in binary units: "7.81 MiB".
func size(bytes float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for bytes >= 1024 && i < len(units)-1 {
		bytes, i = bytes/1024, i+1
	}
	return strconv.FormatFloat(bytes, 'g', 3, 64) + " " + units[i]
}

// div is a quotient that is 0 rather than infinite when there is nothing to
// divide by.
func div(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// short is a function's name without its import path, for sentences; the
// place beside them has the whole.
func short(function string) string {
	name, args, generic := strings.Cut(function, "[")
	name = name[strings.LastIndexByte(name, '/')+1:]
	if generic {
		return name + "[" + args
	}
	return name
}

// round3 keeps three digits of a large number that is an estimate, and leaves
// small ones to num.
func round3(v float64) float64 {
	if v < 100 || v > 1e15 {
		return v
	}
	scale := 1.0
	for v/scale >= 1000 {
		scale *= 10
	}
	return math.Round(v/scale) * scale
}

// name is a function in a sentence.
func name(function string) fact.Name { return fact.Name(short(function)) }

// sentence begins with a capital letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
