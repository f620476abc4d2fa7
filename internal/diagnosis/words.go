package diagnosis

import (
	"strconv"
	"time"
)

// Duration writes a length of time for a sentence, with three digits: what is
// measured is not better than that, and a reader compares them faster. It gives
// "1.34 s", "12.5 ms", "340 µs", and from a minute on "2m3s".
func Duration(d time.Duration) string {
	if d < 0 {
		return "-" + Duration(max(-d, -(d+1))) // the least number has no opposite
	}
	unit := time.Duration(1)
	for d.Round(unit) >= 1000*unit && unit < time.Minute {
		unit *= 10
	}
	d = d.Round(unit)
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Second, " s"}, {time.Millisecond, " ms"}, {time.Microsecond, " µs"}} {
		if d >= u.unit && d < time.Minute {
			return strconv.FormatFloat(float64(d)/float64(u.unit), 'g', 3, 64) + u.name
		}
	}
	if d < time.Microsecond {
		return strconv.FormatInt(int64(d), 10) + " ns"
	}
	return d.Round(time.Second).String()
}
