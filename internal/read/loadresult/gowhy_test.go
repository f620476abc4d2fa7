package loadresult

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func textOf(t testing.TB, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Text(&b, Look{Width: 80}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func encoded(t testing.TB, r *Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// offered returns a result with something of everything: each operation took as
// long as its place in a row of fifty, plus what it waited to be sent.
func offered(unit time.Duration) *Result {
	response, service, late := NewLatencies(), NewLatencies(), NewLatencies()
	r := &Result{Tool: Gowhy, Target: "a fake", Plan: "open loop, arriving at random (Poisson), 300/s",
		Start: time.Date(2000, 1, 1, 0, 0, 0, 123_456_000, time.UTC), Duration: 4 * time.Second,
		Ops: 1200, Failed: 11, Rate: 300.25, Offered: 300, Bytes: 1 << 20, Planned: 1200, Sent: 1200,
		Errors: []Failure{{"status 503", 11}}, Answers: []Failure{{"well", 1189}, {"status 503", 11}}, Strays: []Failure{{"late", 2}},
		CPU: 0.25, Procs: 2, Connections: 7, Generator: "it was"}
	for i := range 1200 {
		took, waited := time.Duration(i%50)*unit, time.Duration(i%7)*unit/100
		response.Add(took + waited)
		service.Add(took)
		late.Add(waited)
	}
	r.SetLatency(response)
	r.Service, r.Late = service.Quantiles(), late.Quantiles()
	for i := range 4 {
		at := time.Duration(i) * time.Second
		r.Over = append(r.Over, Interval{At: at, Width: time.Second, Ops: 300, Failed: int64(i), P50: 25 * unit, P99: 49 * unit})
		r.Backlog = append(r.Backlog, Level{at, int64(i % 2)})
	}
	return r
}

func TestRoundTrip(t *testing.T) {
	want := offered(200 * us)
	for _, text := range [][]byte{encoded(t, want), append(encoded(t, &Result{Ops: 1}), encoded(t, want)...)} {
		got, err := Parse(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !got.Start.Equal(want.Start) || !got.histogram.Equals(want.histogram) {
			t.Errorf("started %v, %v; or the histograms differ", got.Start, want.Start)
		}
		if a, b := got.Quantile(0.42), want.Quantile(0.42); a != b || a == 0 {
			t.Errorf("the 42nd percentile is %v, want %v as it was", a, b)
		}
		clone := *want
		got.Start, got.histogram = clone.Start, clone.histogram
		if !reflect.DeepEqual(got, &clone) {
			t.Errorf("Parse() = %+v\nwant\n%+v", got, &clone)
		}
	}
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The text says the same as the JSON, to three digits.
func TestTextRoundTrip(t *testing.T) {
	closed := offered(3 * ms)
	closed.Closed, closed.Offered, closed.Service, closed.Late = true, 0, nil, nil
	long := offered(200 * us)
	long.Target = strings.Repeat("a long target ", 10)
	slow := offered(5 * time.Second)
	slow.Duration, slow.Rate, slow.Offered = time.Hour, 0.0042, 0.01
	for _, want := range []*Result{offered(200 * us), closed, long, slow} {
		text := textOf(t, want)
		got, err := Parse(strings.NewReader("chatter before\n" + text))
		if err != nil {
			t.Fatalf("Parse(): %v, want nil:\n%s", err, text)
		}
		if got.Tool != "gowhy" || got.Ops != want.Ops || got.Failed != want.Failed || got.Planned != want.Planned || got.Closed != want.Closed ||
			got.Start.Sub(want.Start).Abs() > us || (got.Duration-want.Duration).Abs() > ms {
			t.Errorf("Parse() = %+v, want %+v as written in\n%s", got, want, text)
		}
		within(t, "rate", got.Rate, want.Rate, 1e-3)
		within(t, "offered", got.Offered, want.Offered, 1e-3)
		within(t, "mean", got.Mean.Seconds(), want.Mean.Seconds(), 6e-3)
		if len(got.Latency) != len(columns) {
			t.Fatalf("Parse() has %v, want %d quantiles of\n%s", got.Latency, len(columns), text)
		}
		for _, c := range columns {
			within(t, c.name, got.Quantile(c.q).Seconds(), quantileOf(want.Latency, c.q).Seconds(), 6e-3)
			if !want.Closed {
				within(t, c.name+" since sent", quantileOf(got.Service, c.q).Seconds(), quantileOf(want.Service, c.q).Seconds(), 6e-3)
			}
		}
	}
}

func TestText(t *testing.T) {
	r := offered(200 * us)
	r.Generator = ""
	text := textOf(t, r)
	for _, want := range []string{"kept up: ", " 11 failed\n", "a fake; open loop, arriving at random (Poisson), 300/s\nbegan 2000-01-01T00:00:00.123456Z\n", "done/s   ",
		"\n       11  status 503\n", "The generator was not the limit: it used 0.25 of ", " late at p99"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	r.Failed, r.Errors[0].N = 13, 13
	for want, change := range map[string]func(*Result){
		"failed in part":              func(*Result) {},
		"the generator was the limit": func(r *Result) { r.Generator = "x" },
		"fell behind":                 func(r *Result) { r.Sent-- },
		"all failed":                  func(r *Result) { r.Failed = r.Ops },
		"nothing was done":            func(r *Result) { r.Ops = 0 },
	} {
		clone := *r
		change(&clone)
		if text := textOf(t, &clone); !strings.HasPrefix(text, want+": ") {
			t.Errorf("want %s first in\n%s", want, text)
		}
	}
	var b bytes.Buffer
	if err := r.Text(&b, Look{Width: 38, Color: true}); err != nil || strings.Contains(b.String(), "▁") || !strings.HasPrefix(b.String(), "\x1b[") {
		t.Errorf("Text() = %v, want colours and no chart in\n%s", err, &b)
	}
	if got, err := Parse(&b); err != nil || got.Ops != r.Ops {
		t.Errorf("Parse() of colours = %+v, %v; want %d operations", got, err, r.Ops)
	}
	// A single peak is still seen when there is less room than values.
	values := make([]float64, 1000)
	values[777] = 5
	if got := folded(values, 10); len(got) != 10 || got[7] != 5 {
		t.Errorf("folded() = %v, want 10 values with the peak at the seventh, 5", got)
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0.00 µs", 1234: "1.23 µs", 999_999: "1000 µs", 12_345_678: "12.3 ms", 99_960_000: "100 ms",
		1500 * ms: "1.50 s", 99 * time.Second: "99.0 s", 100 * time.Second: "1m40s", 2 * time.Hour: "2h0m0s"} {
		if got := short(d); got != want {
			t.Errorf("%v is %q, want %q", int64(d), got, want)
		}
	}
}

// What cannot have been measured is refused, and a histogram of another shape
// before there is room for it.
func TestBadDocuments(t *testing.T) {
	wide, err := hdr.New(1, 1<<62, 5).Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	good := encoded(t, offered(200*us))
	for _, test := range []struct{ change, want string }{
		{`"schema":2`, "newer gowhy, schema 2"},
		{`"duration_ns":-1`, "cannot be"},
		{`"failed":1000000000`, "contradict"},
		{`"cores":-1`, "cannot be"},
		{`"cpu_cores":-1`, "cannot be"},
		{`"errors":[{"what":"x","n":-1}]`, "cannot be"},
		{`"over":[{"at_ns":0,"width_ns":0,"done":1}]`, "cannot be"},
		{`"over":[{"at_ns":0,"width_ns":1,"done":1,"failed":2}]`, "cannot be"},
		{`"backlog":[{"at_ns":0,"n":-1}]`, "cannot be"},
		{`"backlog":[` + strings.Repeat(`{},`, MaxLevels) + `{}]`, "cannot be"},
		{`"histogram":"!"`, "its histogram"},
		{`"histogram":"AAAA"`, "another shape"},
		{`"histogram":"` + string(wide) + `"`, "another shape"},
		{`"done":"x"`, "cannot unmarshal"},
	} {
		var d map[string]json.RawMessage
		if err := json.Unmarshal(good, &d); err != nil {
			t.Fatal(err)
		}
		key, value, _ := strings.Cut(test.change, ":")
		d[strings.Trim(key, `"`)] = json.RawMessage(value)
		delete(d, "kind")
		rest, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		text := `{"kind":"gowhy load",` + string(rest[1:])
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.60s: error %v, want one with %q", test.change, err, test.want)
		}
	}
	r, err := Parse(strings.NewReader(`{"kind": "gowhy load", "done": 3, "target": "\u001b[31mred` + strings.Repeat("x", 5000) + `"}`))
	if err != nil || strings.Contains(r.Target, "\x1b") || len(r.Target) > 1100 {
		t.Errorf("Parse() of a long target = %+v, %v; want it cut, without control characters", r, err)
	}
}

// Whatever is read is written so that it reads the same.
func FuzzGowhy(f *testing.F) {
	f.Add(read(f, "gowhy-1.json"))
	f.Add(read(f, "gowhy-1.txt"))
	f.Add([]byte(`{"kind":"gowhy load","schema":1,"done":5,"failed":2,"start":"2026-01-02T03:04:05Z","latency":[{"q":1,"ns":5},{"q":0.5,"ns":9}]}`))
	f.Add([]byte("kept up: 5 of 5 operations done in 1s, 5.0/s of 5.0/s offered, 0 failed\nsince due  1.00 ms  2.00 s\n"))
	h, err := NewLatencies().h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		f.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(string(h))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"kind":"gowhy load","done":5,"histogram":"` + base64.StdEncoding.EncodeToString(raw[:len(raw)-3]) + `"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Parse(bytes.NewReader(text))
		if err != nil || r.Tool != Gowhy {
			return
		}
		again, err := Parse(bytes.NewReader(encoded(t, r)))
		if err != nil {
			t.Fatal(err)
		}
		if !again.Start.Equal(r.Start) || again.Ops != r.Ops || again.Quantile(0.5) != r.Quantile(0.5) || !reflect.DeepEqual(again.Over, r.Over) {
			t.Errorf("Parse() = %+v, want %+v", again, r)
		}
		if text := textOf(t, r); strings.Contains(text, "\x1b") {
			t.Errorf("text %q, want no control characters", text)
		}
	})
}
