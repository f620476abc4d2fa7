package diagnosis

import (
	"math"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                         "0 ns",
		7:                         "7 ns",
		999:                       "999 ns",
		340_000:                   "340 µs",
		999_949:                   "1 ms",
		12_456_789:                "12.5 ms",
		982_469_056:               "982 ms",
		999_600_000:               "1 s",
		1_336_000_000:             "1.34 s",
		3 * time.Second:           "3 s",
		59_960 * time.Millisecond: "1m0s",
		123 * time.Second:         "2m3s",
		-12_456_789:               "-12.5 ms",
		math.MinInt64:             "-2562047h46m40s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%d ns: %q, want %q", int64(d), got, want)
		}
	}
}
