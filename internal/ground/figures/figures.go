// Package figures writes numbers for people.
//
// It hides rounding: three significant digits, since nothing that is measured
// here is better than that, thousands in groups, and the unit's own way of being
// said. Everything that prints a number asks here, so that a sentence and the
// table below it never disagree.
//
// What a program reads back (flags, files, the line of a load test) is not
// written here.
package figures

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Unknown is what a number is that is none: there was nothing to compute it from.
const Unknown = "unknown"

// Number writes a number with three significant digits, or all of those before
// the point: "240,000", "4.37", "0.052".
func Number(v float64) string {
	switch abs := math.Abs(v); {
	case math.IsNaN(v):
		return Unknown
	case v == 0:
		return "0" // also of -0
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	case abs >= 1e15 || abs < 0.001:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case abs >= 99.95 || abs == math.Trunc(abs):
		return group(strconv.FormatFloat(v, 'f', 0, 64))
	case abs < 0.9995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return digits(v)
}

// digits writes three significant digits of a number from 1 on, or all of those
// before the point. What rounds to 10 or 100 has as many as these.
func digits(v float64) string {
	places := 2
	switch abs := math.Abs(v); {
	case abs >= 99.95:
		places = 0
	case abs >= 9.995:
		places = 1
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// An integer is a count of things.
type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Int writes a whole number: "240,000".
func Int[N integer](n N) string {
	if n < 0 {
		return group(strconv.FormatInt(int64(n), 10))
	}
	return group(strconv.FormatUint(uint64(n), 10))
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

// Percent writes a share, of which 1 is all: 0.123 is "12.3%".
func Percent(share float64) string {
	p := 100 * share
	switch abs := math.Abs(p); {
	case math.IsNaN(p):
		return Unknown
	case abs == 0 || abs >= 99.95:
		return Number(math.Round(p)) + "%"
	case abs < 0.1:
		return strconv.FormatFloat(p, 'g', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 1, 64) + "%"
}

// Change writes a ratio of what is to what was: "−12.3%", "+10.0%", and from a
// doubling on, where a factor is easier to read, "×2.31".
func Change(ratio float64) string {
	switch d := ratio - 1; {
	case math.IsNaN(ratio):
		return Unknown
	case ratio >= 2:
		return "×" + Number(ratio)
	case math.Abs(d) < 0.00005:
		return "0%"
	case d < 0:
		return "−" + Percent(-d)
	default:
		return "+" + Percent(d)
	}
}

// Times writes a factor: "2.31×".
func Times(v float64) string {
	if math.IsNaN(v) {
		return Unknown
	}
	return Number(v) + "×"
}

// Bytes writes a number of bytes in binary units: "7.81 MiB".
func Bytes[N integer | ~float64](n N) string {
	v, i := float64(n), 0
	if math.IsNaN(v) {
		return Unknown
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for math.Abs(v) >= 1023.5 && i < len(units)-1 { // what rounds to 1024 has the next unit
		v /= 1024
		i++
	}
	return Number(v) + " " + units[i]
}

// Duration writes a length of time: "1.34 s", "12.5 ms", "340 ns".
func Duration(d time.Duration) string {
	if abs := max(d, -d); abs < time.Microsecond && abs > 0 {
		return strconv.FormatInt(int64(d), 10) + " ns"
	}
	return Seconds(d.Seconds())
}

// Seconds is [Duration] of times that may be shorter than a nanosecond: what an
// operation of a benchmark takes.
func Seconds(v float64) string {
	switch abs := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Number(v)
	case abs == 0:
		return "0 s"
	case abs < 999.5e-9: // what rounds to 1000 has the next unit
		return small(v*1e9) + " ns"
	case abs < 999.5e-6:
		return digits(v*1e6) + " µs"
	case abs < 999.5e-3:
		return digits(v*1e3) + " ms"
	case abs < 599.5:
		return digits(v) + " s"
	case abs >= 100*3600: // nobody counts the seconds of weeks
		return Number(v/3600) + " h"
	}
	return time.Duration(math.Round(v) * 1e9).String()
}

// small writes nanoseconds, of which there may be less than one.
func small(v float64) string {
	if math.Abs(v) < 0.9995 {
		return Number(v)
	}
	return digits(v)
}

// Cores writes CPU time by time: "1 core", "0.52 cores".
func Cores(v float64) string {
	switch n := Number(v); n {
	case Unknown:
		return n
	case "1":
		return "1 core"
	default:
		return n + " cores"
	}
}

// Plural writes a count with its noun, which takes an s unless many is given:
// Plural(1, "run") is "1 run", Plural(2, "batch", "batches") is "2 batches".
func Plural[N integer](n N, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return Int(n) + " " + many[0]
	}
	return Int(n) + " " + one + "s"
}
