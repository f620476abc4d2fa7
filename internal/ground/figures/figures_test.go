package figures

import (
	"math"
	"testing"
	"time"
)

var inf, nan = math.Inf(1), math.NaN()

// check writes values and compares.
func check[V any](t *testing.T, write func(V) string, cases []struct {
	v    V
	want string
}) {
	t.Helper()
	for _, c := range cases {
		if got := write(c.v); got != c.want {
			t.Errorf("%v is %q, want %q", c.v, got, c.want)
		}
	}
}

type number = struct {
	v    float64
	want string
}

func TestNumber(t *testing.T) {
	check(t, Number, []number{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {1, "1"}, {-7, "-7"}, {1.5, "1.50"}, {-1.5, "-1.50"}, {4.374, "4.37"},
		{9.994, "9.99"}, {9.996, "10.0"}, {99.94, "99.9"}, {99.96, "100"}, {999.4, "999"}, {999.6, "1,000"}, {-999.6, "-1,000"},
		{240_000, "240,000"}, {-1_234_567.8, "-1,234,568"}, {999_999_999_999_999, "999,999,999,999,999"}, {1e15, "1e+15"}, {1.2345e300, "1.23e+300"},
		{0.9994, "0.999"}, {0.9996, "1.00"}, {0.052, "0.052"}, {0.001, "0.001"}, {0.00099, "0.00099"}, {1.2345e-7, "1.23e-07"},
		{nan, "unknown"}, {inf, "∞"}, {-inf, "-∞"},
	})
}

func TestInt(t *testing.T) {
	for got, want := range map[string]string{
		Int(0): "0", Int(-5): "-5", Int(999): "999", Int(1000): "1,000", Int(-1000): "-1,000", Int(int64(math.MinInt64)): "-9,223,372,036,854,775,808",
		Int(int64(math.MaxInt64)): "9,223,372,036,854,775,807", Int(uint64(math.MaxInt64) + 1): "9,223,372,036,854,775,808",
		Int(uint64(math.MaxUint64)): "18,446,744,073,709,551,615", Int(uint8(255)): "255",
	} {
		if got != want {
			t.Errorf("Int() = %q, want %q", got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	check(t, Percent, []number{
		{0, "0%"}, {1, "100%"}, {-1, "-100%"}, {0.123, "12.3%"}, {-0.123, "-12.3%"}, {0.05, "5.0%"}, {0.0012, "0.1%"}, {0.00052, "0.05%"},
		{0.9994, "99.9%"}, {0.9996, "100%"}, {9.994, "999%"}, {9.996, "1,000%"}, {12.34, "1,234%"}, {1e-7, "1e-05%"},
		{nan, "unknown"}, {inf, "∞%"}, {-inf, "-∞%"},
	})
}

func TestChange(t *testing.T) {
	check(t, Change, []number{
		{1, "0%"}, {1.00004, "0%"}, {0.99996, "0%"}, {1.1, "+10.0%"}, {0.877, "−12.3%"}, {0, "−100%"}, {1.994, "+99.4%"},
		{2, "×2"}, {2.314, "×2.31"}, {1234, "×1,234"}, {inf, "×∞"}, {nan, "unknown"},
	})
}

func TestTimes(t *testing.T) {
	check(t, Times, []number{{1, "1×"}, {2.314, "2.31×"}, {0.052, "0.052×"}, {-2, "-2×"}, {inf, "∞×"}, {nan, "unknown"}})
}

func TestBytes(t *testing.T) {
	check(t, Bytes[float64], []number{
		{0, "0 B"}, {0.5, "0.500 B"}, {999.5, "1,000 B"}, {1023, "1,023 B"}, {1023.4, "1,023 B"}, {1023.6, "1.00 KiB"}, {1024, "1 KiB"}, {-1536, "-1.50 KiB"},
		{999.5 * (1 << 10), "1,000 KiB"}, {1023.6 * (1 << 10), "1.00 MiB"}, {1 << 20, "1 MiB"}, {1023.6 * (1 << 20), "1.00 GiB"}, {1023.6 * (1 << 30), "1.00 TiB"},
		{1023.6 * (1 << 40), "1.00 PiB"}, {1 << 60, "1 EiB"}, {1 << 72, "4,096 EiB"}, {nan, "unknown"}, {inf, "∞ EiB"},
	})
	if got := Bytes(uint64(math.MaxUint64)); got != "16 EiB" {
		t.Errorf("Bytes(all of uint64) = %s, want 16 EiB", got)
	}
}

func TestDuration(t *testing.T) {
	check(t, Duration, []struct {
		v    time.Duration
		want string
	}{
		{0, "0 s"}, {1, "1 ns"}, {-340, "-340 ns"}, {999, "999 ns"}, {1000, "1.00 µs"}, {999_499, "999 µs"}, {999_500, "1.00 ms"}, {-999_700, "-1.00 ms"},
		{12_500 * time.Microsecond, "12.5 ms"}, {999_499 * time.Microsecond, "999 ms"}, {999_500 * time.Microsecond, "1.00 s"}, {1_340 * time.Millisecond, "1.34 s"},
		{9_996 * time.Millisecond, "10.0 s"}, {99_960 * time.Millisecond, "100 s"}, {599_400 * time.Millisecond, "599 s"}, {599_600 * time.Millisecond, "10m0s"},
		{90 * time.Minute, "1h30m0s"}, {-90*time.Minute - 400*time.Millisecond, "-1h30m0s"}, {math.MaxInt64, "2,562,048 h"}, {math.MinInt64, "-2,562,048 h"},
	})
}

func TestSeconds(t *testing.T) {
	check(t, Seconds, []number{
		{0, "0 s"}, {0.25e-9, "0.250 ns"}, {0.9996e-9, "1.00 ns"}, {1.5e-9, "1.50 ns"}, {-34e-9, "-34.0 ns"}, {999.4e-9, "999 ns"}, {999.6e-9, "1.00 µs"}, {1.34, "1.34 s"},
		{3600, "1h0m0s"}, {1e10, "2,777,778 h"}, {1e300, "2.78e+296 h"}, {nan, "unknown"}, {inf, "∞"}, {-inf, "-∞"},
	})
}

func TestCores(t *testing.T) {
	check(t, Cores, []number{{0, "0 cores"}, {1, "1 core"}, {1.0001, "1.00 cores"}, {0.52, "0.520 cores"}, {64, "64 cores"}, {-1, "-1 cores"}, {nan, "unknown"}, {inf, "∞ cores"}})
}

func TestPlural(t *testing.T) {
	for got, want := range map[string]string{
		Plural(0, "run"): "0 runs", Plural(1, "run"): "1 run", Plural(-1, "run"): "-1 runs", Plural(1200, "run"): "1,200 runs",
		Plural(1, "batch", "batches"): "1 batch", Plural(uint64(2), "batch", "batches"): "2 batches",
	} {
		if got != want {
			t.Errorf("Plural() = %q, want %q", got, want)
		}
	}
}
