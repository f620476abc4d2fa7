package loadresult

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// leading splits a text into the number that it begins with and the rest.
func leading(s string) (n float64, rest string, ok bool) {
	s = strings.TrimSpace(s)
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && s[end] == '-') {
		end++
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	return n, strings.TrimSpace(s[end:]), err == nil
}

// count reads a whole number at the start of a text; 0 when there is none.
func count(s string) int64 {
	n, _, ok := leading(s)
	if !ok || n < 0 || n > 1<<53 {
		return 0
	}
	return int64(n)
}

// rate reads a number; 0 when there is none.
func rate(s string) float64 {
	n, _, ok := leading(s)
	if !ok || !sane(n) {
		return 0
	}
	return n
}

// bytesOf reads "827 kB", "1.65MB", "56580 bytes". Tools differ in what a kilo
// is; "KiB" is always 1024.
func bytesOf(s string, kilo float64) int64 {
	n, unit, ok := leading(s)
	if !ok || n < 0 {
		return 0
	}
	if f := strings.Fields(unit); len(f) > 0 {
		unit = f[0]
	}
	unit = strings.ToLower(strings.TrimRight(unit, ",/s"))
	if strings.Contains(unit, "i") {
		kilo = 1024
	}
	if unit != "" {
		n *= math.Pow(kilo, float64(1+strings.IndexByte("kmgtp", unit[0])))
	}
	if n > 1<<62 {
		return 0
	}
	return int64(n)
}

// took reads a time like "2.17ms", "60.75µs", "562.00us", "1.00m", "1m2.5s";
// -1 when there is none.
func took(s string) time.Duration {
	s = strings.TrimSpace(s)
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d
	}
	return -1
}

// milliseconds returns a Duration, or -1.
func milliseconds(ms float64) time.Duration { return seconds(ms / 1000) }

// add appends a quantile when there is one.
func (r *Result) add(q float64, value time.Duration) {
	if value >= 0 && len(r.Latency) < maxQuantiles {
		r.Latency = append(r.Latency, Quantile{q, value})
	}
}

// percent reads "99.9%" or "99.9" as 0.999; -1 when it is none.
func percent(s string) float64 {
	n, err := strconv.ParseFloat(strings.TrimRight(strings.TrimSpace(s), "%"), 64)
	if err != nil || !(n >= 0 && n <= 100) {
		return -1
	}
	return math.Round(n*1e8) / 1e10 // 99.9 is 0.999, not one bit more
}
