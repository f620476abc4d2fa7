package loadresult

import (
	"bytes"
	"slices"
	"strconv"
	"time"
)

// --- points: k6 run --out csv=FILE ---

const k6Columns = "metric_name,timestamp,metric_value,"

func detectK6CSV(head []byte) bool { return bytes.HasPrefix(head, []byte(k6Columns)) }

// parseK6CSV adds up the points of the kind that most scripts have.
func parseK6CSV(l *lines) (*Result, error) {
	tallies := make([]tally, len(k6Kinds))
	kinds := make([]map[string]int64, len(k6Kinds))
	var received float64
	var columns []string
	err := l.records(func(f []string) error {
		if columns == nil {
			columns = slices.Clone(f)
			return nil
		}
		if len(f) < 3 {
			return errColumns
		}
		if f[0] == "data_received" {
			v, err := strconv.ParseFloat(f[2], 64)
			received += v
			return err
		}
		kind := slices.IndexFunc(k6Kinds, func(k struct{ count, time string }) bool { return k.time == f[0] })
		if kind < 0 {
			return nil
		}
		at, err := k6Time(f[1])
		if err != nil {
			return err
		}
		ms, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return err
		}
		field := func(name string) string {
			if i := slices.Index(columns, name); i >= 0 && i < len(f) {
				return f[i]
			}
			return ""
		}
		failed := field("expected_response") == "false"
		tallies[kind].add(at, milliseconds(ms), failed)
		if failed {
			if kinds[kind] == nil {
				kinds[kind] = map[string]int64{}
			}
			what := Printable(field("error"))
			if what == "" {
				what = "status " + Printable(field("status"))
			}
			if len(kinds[kind]) < maxKindsSeen || kinds[kind][what] > 0 {
				kinds[kind][what]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range tallies {
		if t := &tallies[i]; t.ops > 0 {
			if received > 0 && received < 1<<62 {
				t.bytes = int64(received)
			}
			r := t.result(true)
			r.failKinds(kinds[i])
			return r, nil
		}
	}
	return nil, errCut
}

// k6Time reads seconds since 1970, or a time in words, which k6 writes by an option.
func k6Time(s string) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		for n > 1<<34 { // milli-, micro- or nanoseconds
			n /= 1000
		}
		return time.Unix(n, 0), nil
	}
	return time.Parse(time.RFC3339Nano, s)
}
