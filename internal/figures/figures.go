// Package figures writes numbers for people.
//
// It hides rounding: three significant digits, since nothing that is measured
// here is better than that, thousands in groups, and the unit's own way of being
// said. Everything that prints a number asks here, so that a sentence and the
// table below it never disagree.
package figures

import (
	"strconv"
	"strings"
	"time"
)

// Number writes a number with three significant digits, or all of those before
// the point: "240,000", "4.37", "0.052".
func Number(v float64) string {
	abs := max(v, -v)
	switch {
	case abs >= 1e15:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case abs >= 100 || v == float64(int64(v)):
		return group(strconv.FormatFloat(v, 'f', 0, 64))
	case abs >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case abs >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case abs >= 0.001:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Int writes a whole number: "240,000".
func Int[N ~int | ~int32 | ~int64 | ~uint64](n N) string {
	return group(strconv.FormatInt(int64(n), 10))
}

// group puts a comma between thousands.
func group(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Percent writes a share, of which 1 is all: 0.123 is "12.3 %".
func Percent(share float64) string {
	p := 100 * share
	switch abs := max(p, -p); {
	case abs == 0 || abs >= 99.95:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	case abs < 0.1:
		return strconv.FormatFloat(p, 'g', 1, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + " %"
}

// Bytes writes a number of bytes in binary units: "7.81 MiB".
func Bytes(v float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for max(v, -v) >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	return Number(v) + " " + units[i]
}

// Duration writes a length of time: "1.34 s", "12.5 ms", "340 µs".
func Duration(d time.Duration) string {
	abs := max(d, -d)
	switch {
	case abs == 0:
		return "0 s"
	case abs < time.Microsecond:
		return strconv.FormatInt(int64(d), 10) + " ns"
	case abs < 999500*time.Nanosecond: // what rounds to 1000 has the next unit
		return trimmed(float64(d)/1e3) + " µs"
	case abs < 999500*time.Microsecond:
		return trimmed(float64(d)/1e6) + " ms"
	case abs < 10*time.Minute:
		return trimmed(float64(d)/1e9) + " s"
	}
	return d.Round(time.Second).String()
}

func trimmed(v float64) string {
	abs := max(v, -v)
	switch {
	case abs >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case abs >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Cores writes CPU time by time: "1 core", "0.52 cores".
func Cores(v float64) string {
	if n := Number(v); n != "1" {
		return n + " cores"
	}
	return "1 core"
}

// Times writes a factor: "2.31×".
func Times(v float64) string { return Number(v) + "×" }

// Plural writes a count with its noun, which takes an s unless many is given:
// Plural(1, "run") is "1 run", Plural(2, "batch", "batches") is "2 batches".
func Plural[N ~int | ~int32 | ~int64 | ~uint64](n N, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return Int(n) + " " + many[0]
	}
	return Int(n) + " " + one + "s"
}
