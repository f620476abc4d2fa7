// Package spec reads when a duty is due: minute, hour, day, month and weekday, as in a crontab.
package spec

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Spec is a parsed line.
type Spec struct {
	minute, hour, day, month, weekday uint64
	anyDay, anyWeekday                bool
}

// Parse reads a line of five fields.
func Parse(line string) (Spec, error) {
	f := strings.Fields(line)
	if len(f) != 5 {
		return Spec{}, fmt.Errorf("spec %q: want 5 fields", line)
	}
	var s Spec
	for i, dst := range []*uint64{&s.minute, &s.hour, &s.day, &s.month, &s.weekday} {
		low := []int{0, 0, 1, 1, 0}[i]
		high := []int{59, 23, 31, 12, 6}[i]
		bits, err := field(f[i], low, high)
		if err != nil {
			return Spec{}, fmt.Errorf("spec %q: %w", line, err)
		}
		*dst = bits
	}
	s.anyDay, s.anyWeekday = f[2] == "*", f[4] == "*"
	return s, nil
}

func field(text string, low, high int) (uint64, error) {
	var bits uint64
	for part := range strings.SplitSeq(text, ",") {
		rng, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			n, err := strconv.Atoi(stepText)
			if err != nil || n < 1 {
				return 0, fmt.Errorf("step %q", part)
			}
			step = n
		}
		from, to := low, high
		if rng != "*" {
			a, b, isRange := strings.Cut(rng, "-")
			n, err := strconv.Atoi(a)
			if err != nil {
				return 0, err
			}
			from, to = n, n
			if isRange {
				if to, err = strconv.Atoi(b); err != nil {
					return 0, err
				}
			}
		}
		if from < low || to > high {
			return 0, fmt.Errorf("%q out of range", part)
		}
		for v := from; v <= to; v += step {
			bits |= 1 << v
		}
	}
	return bits, nil
}

func has(bits uint64, v int) bool { return bits&(1<<v) != 0 }

func (s *Spec) onDay(t time.Time) bool {
	d, w := has(s.day, t.Day()), has(s.weekday, int(t.Weekday()))
	if s.anyDay || s.anyWeekday {
		return d && w
	}
	return d || w
}

// Next returns the first due time after t, within two years.
func (s *Spec) Next(t time.Time) (time.Time, bool) {
	end := t.AddDate(2, 0, 0)
	for t = t.Truncate(time.Minute).Add(time.Minute); t.Before(end); t = t.Add(time.Minute) {
		if has(s.minute, t.Minute()) && has(s.hour, t.Hour()) && has(s.month, int(t.Month())) && s.onDay(t) {
			return t, true
		}
	}
	return time.Time{}, false
}

// Following returns the first due time after t, within two years.
func (s *Spec) Following(t time.Time) (time.Time, bool) {
	end := t.AddDate(2, 0, 0)
	t = t.Truncate(time.Minute).Add(time.Minute)
	for t.Before(end) {
		y, m, d := t.Date()
		switch {
		case !has(s.month, int(m)):
			t = time.Date(y, m+1, 1, 0, 0, 0, 0, t.Location())
		case !s.onDay(t):
			t = time.Date(y, m, d+1, 0, 0, 0, 0, t.Location())
		case !has(s.hour, t.Hour()):
			t = time.Date(y, m, d, t.Hour()+1, 0, 0, 0, t.Location())
		case !has(s.minute, t.Minute()):
			t = t.Add(time.Minute)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}
