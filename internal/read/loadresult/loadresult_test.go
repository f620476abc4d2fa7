package loadresult

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parse(t testing.TB, name string) *Result {
	t.Helper()
	r, err := Parse(bytes.NewReader(read(t, name)))
	if err != nil {
		t.Fatalf("Parse(%s): %v, want nil", name, err)
	}
	return r
}

func fixtures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*-*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no fixtures", err)
	}
	var names []string
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			names = append(names, filepath.Base(p))
		}
	}
	return names
}

// at returns a quantile; -1 when it is not there.
func (r *Result) at(q float64) time.Duration {
	for _, l := range r.Latency {
		if l.Q == q {
			return l.Value
		}
	}
	return -1
}

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// What a reader of each output sees in it.
func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, tool       string
		ops, failed      int64
		rate, offered    float64
		duration         time.Duration
		bytes            int64
		mean, p50, worst time.Duration // worst is the greatest quantile there is
		start            string
	}{
		{"gowhy-1.json", "gowhy", 1200, 0, 300, 300, 4000 * ms, 146400, 4584 * us, 333 * us, 167329 * us, "2026-11-21T21:10:21.777013867Z"},
		{"gowhy-1.txt", "gowhy", 1200, 0, 300, 300, 4000 * ms, 0, 4580 * us, 333 * us, 167000 * us, "2026-11-21T21:10:21.777013Z"},
		{"wrk-4.1.txt", "wrk", 14155, 274, 4707.56, 0, 3010 * ms, 1730150, 2120 * us, -1, 6220 * us, ""},
		{"wrk-4.1-latency.txt", "wrk", 14098, 278, 4696.65, 0, 3 * time.Second, 1730150, 2120 * us, 2390 * us, 6420 * us, ""},
		{"wrk2-4.0.txt", "wrk2", 239994 + 8, 12 + 60 + 8, 3999.74, 0, time.Minute, 19440599, 1400 * us, 1320 * us, 9490 * us, ""},
		{"hey-0.1.txt", "hey", 9430, 220, 4701.2379, 0, 2005900 * us, 56580, 2100 * us, 1900 * us, 5300 * us, ""},
		{"hey-0.0.txt", "hey", 200, 10, 44.4277, 0, 4501700 * us, 0, 218800 * us, 156900 * us, 2917 * ms, ""},
		{"k6-0.49.txt", "k6", 3016, 6, 100.436938, 100.5, 30028793 * us, 1300000, 144560 * us, 110470 * us, 62500 * ms, ""},
		{"k6-1.4.txt", "k6", 41, 3, 20.457127, 20, 2004191 * us, 5100, 2940 * us, 2640 * us, 11300 * us, ""},
		{"k6-1.4-full.txt", "k6", 6787, 132, 2260.225407, 0, 3002798 * us, 831000, 2170 * us, 2430 * us, 5220 * us, ""},
		{"k6-1.4-handle.json", "k6", 101, 2, 50.43409008328943, 0, 2002614 * us, 12360, 2267 * us, 2411 * us, 3707 * us, ""},
		{"k6-1.8-machine.json", "k6", 101, 2, 50.37606, 0, 2004921 * us, 12360, 2505 * us, 2550 * us, 6781 * us, "2026-11-21T17:52:07.0364008Z"},
		{"vegeta-6-report.txt", "vegeta", 1200, 535, 118.871, 0, 10094966 * us, 3714690, 113172 * us, 108273 * us, 264815 * us, ""},
		{"vegeta-12-report.txt", "vegeta", 300, 6, 100.0667, 100, 2998 * ms, 153088, 4331 * us, 3746 * us, 17460 * us, ""},
		{"vegeta-12-report.json", "vegeta", 300, 6, 100.0555, 99.999, 2998336 * us, 153088, 4331 * us, 3746 * us, 17460 * us, "2025-03-04T05:06:07.250042317Z"},
		{"dnsperf-2.10.txt", "dnsperf", 8000, 86, 1978.393167, 2000, 4000216 * us, 7914 * 27, 55 * us, -1, 3387 * us, "2026-11-21T17:45:12.297489Z"},
		{"dnsperf-2.14-histogram.txt", "dnsperf", 1008, 18, 499.950005, 0, 2000200 * us, 990 * 62, 710 * us, 504 * us, 4100 * us, "local 2025-03-07T10:11:12"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := parse(t, test.name)
			if r.Tool != test.tool || r.Ops != test.ops || r.Failed != test.failed || r.Bytes != test.bytes {
				t.Errorf("%s: %d, %d failed, %d bytes", r.Tool, r.Ops, r.Failed, r.Bytes)
			}
			if math.Abs(r.Rate-test.rate) > 1e-3 || math.Abs(r.Offered-test.offered) > 1e-3 {
				t.Errorf("%v/s of %v/s, want %v/s of %v/s", r.Rate, r.Offered, test.rate, test.offered)
			}
			worst := r.Latency[len(r.Latency)-1].Value
			for _, d := range []struct {
				name      string
				got, want time.Duration
			}{{"duration", r.Duration, test.duration}, {"mean", r.Mean, test.mean}, {"median", r.at(0.5), test.p50}, {"worst", worst, test.worst}} {
				if diff := d.got - d.want; diff > us || diff < -us {
					t.Errorf("%s is %v, want %v", d.name, d.got, d.want)
				}
			}
			want := test.start
			got := r.Start.UTC().Format(time.RFC3339Nano)
			if local, ok := strings.CutPrefix(want, "local "); ok {
				want, got = local, r.Start.Local().Format("2006-01-02T15:04:05")
			}
			if (want == "") != r.Start.IsZero() || !strings.HasPrefix(got, strings.TrimSuffix(want, "Z")) && want != "" {
				t.Errorf("started %v, want %q", r.Start, test.start)
			}
			if !slices.IsSortedFunc(r.Latency, func(a, b Quantile) int {
				if a.Q < b.Q && a.Value <= b.Value {
					return -1
				}
				return 1
			}) {
				t.Errorf("quantiles %v, want them and their latencies to rise", r.Latency)
			}
		})
	}
}

// Outputs of the same run say the same, whatever their form.
func TestFormsAgree(t *testing.T) {
	for _, test := range []struct {
		names  []string
		within float64 // relative
	}{
		// k6's text has three digits, and its count of time differs a little
		// from that between the first and the last request.
		{[]string{"k6-1.4-export.json", "k6-1.4.txt", "k6-1.4-points.jsonl"}, 0.03},
		{[]string{"vegeta-12-report.json", "vegeta-12-report.txt", "vegeta-12-results.jsonl", "vegeta-12-results.csv"}, 0.009},
	} {
		want := parse(t, test.names[0])
		near := func(name, what string, a, b float64) {
			if math.Abs(a-b) > test.within*math.Abs(b) {
				t.Errorf("%s: %s is %v, want about %v as in %s", name, what, a, b, test.names[0])
			}
		}
		for _, name := range test.names[1:] {
			got := parse(t, name)
			if got.Ops != want.Ops || got.Failed != want.Failed {
				t.Errorf("%s: %d, %d failed; in %s %d, %d failed", name, got.Ops, got.Failed, test.names[0], want.Ops, want.Failed)
			}
			near(name, "rate", got.Rate, want.Rate)
			near(name, "mean", float64(got.Mean), float64(want.Mean))
			near(name, "bytes", float64(got.Bytes), float64(want.Bytes))
			for _, q := range []float64{0, 0.5, 0.9, 1} {
				near(name, fmt.Sprint("quantile ", q), float64(got.at(q)), float64(want.at(q)))
			}
		}
	}
}

// Intervals cover the run without gaps and add up.
func TestIntervals(t *testing.T) {
	for name, n := range map[string]int{"k6-1.4-points.jsonl": 3, "vegeta-12-results.jsonl": 4, "vegeta-12-results.csv": 4, "hey-0.1.csv": 1} {
		r := parse(t, name)
		var ops, failed int64
		at := time.Duration(0)
		for _, i := range r.Over {
			if i.At != at || i.Width <= 0 || i.P50 > i.P99 || i.P50 <= 0 {
				t.Errorf("%s: the interval at %v is %v wide, P50 %v, P99 %v, "+
					"want it at %v, wider than 0, P50 above 0, P99 no less", name, i.At, i.Width, i.P50, i.P99, at)
			}
			at = i.At + i.Width
			ops, failed = ops+i.Ops, failed+i.Failed
		}
		if ops != r.Ops || failed != r.Failed || at != r.Duration || len(r.Over) != n {
			t.Errorf("%s: %d intervals up to %v of %v with %d of %d, %d of %d failed", name, len(r.Over), at, r.Duration, ops, r.Ops, failed, r.Failed)
		}
	}
	r := parse(t, "dnsperf-2.10.txt")
	if len(r.Over) != 3 || r.Over[0].Ops != 1981 || r.Over[2].At != 2001042*us-42*time.Nanosecond && r.Over[2].At.Round(ms) != 2001*ms {
		t.Errorf("intervals %+v, want 3: 1981 operations in the first, the last at 2.001s", r.Over)
	}
}

func TestBenchmarks(t *testing.T) {
	r := parse(t, "go1.26-bench.txt")
	if r.Tool != "go test" || len(r.Benchmarks) != 6 || r.Duration != 46*ms || r.Ops != 0 {
		t.Fatalf("result %+v, want 6 benchmarks by go test in 46ms", r)
	}
	first, last := r.Benchmarks[0], r.Benchmarks[5]
	if first.Name != "BenchmarkAppend-2" || first.N != 2000 || first.Values["ns/op"] != 38.47 || first.Values["B/op"] != 64 ||
		first.Values["allocs/op"] != 1 || first.Values["widgets/op"] != 3.5 || first.Config["pkg"] != "example.com/gb" || first.Config["cpu"] != "AMD EPYC" {
		t.Errorf("first benchmark %+v, want BenchmarkAppend-2 of example.com/gb at 38.47 ns/op", first)
	}
	if last.Name != "BenchmarkFoo-2" || last.Values["ns/op"] != 0.9315 || last.Config["pkg"] != "example.com/gb/deep" {
		t.Errorf("last benchmark %+v, want BenchmarkFoo-2 of example.com/gb/deep at 0.9315 ns/op", last)
	}

	r = parse(t, "go1.26-bench.json")
	if len(r.Benchmarks) != 3 || r.Benchmarks[0].Values["ns/op"] != 53.92 || r.Benchmarks[2].Config["pkg"] != "example.com/gb/deep" ||
		!r.Start.Equal(time.Date(2026, 11, 21, 17, 54, 25, 861706751, time.UTC)) {
		t.Errorf("benchmarks as JSON: %+v, want 3 from 17:54:25 on, the first at 53.92 ns/op", r)
	}

	r = parse(t, "go1.13-bench.txt")
	var names []string
	for _, b := range r.Benchmarks {
		names = append(names, fmt.Sprintf("%s %s %g", b.Config["branch"], b.Name, b.Values["MB/s"]))
	}
	want := []string{"main BenchmarkDecode/text=digits/level=speed/size=1e4-8 64.88", "main BenchmarkDecode/text=digits/level=speed/size=1e5-8 73.12",
		"fix BenchmarkDecode/text=digits/level=speed/size=1e4-8 100.88", "fix BenchmarkHuge 0"}
	if !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}

	// Not every line that looks like one is one.
	r, err := Parse(strings.NewReader("BenchmarkA-2 1 2 ns/op\nBenchmarks-2 1 2 ns/op\nBenchmarkB-2 1 x ns/op\nBenchmarkC-2\nBenchmarkD-2 0 2 ns/op\n"))
	if err != nil || len(r.Benchmarks) != 1 {
		t.Errorf("Parse() = %+v, %v; want BenchmarkA only", r, err)
	}
}

// A short head is enough, and what others write is left to them.
func TestDetect(t *testing.T) {
	for _, name := range fixtures(t) {
		head := read(t, name)
		if !Detect(head[:min(len(head), 512)]) {
			t.Errorf("%s is not known by 512 bytes", name)
		}
	}
	for _, other := range []string{"", "{", "{}", "[]", `{"metrics": {"a": 1}}`, `{"config": {"a": 1}}`, `{"a": 1}` + "\n" + `{"b": 2}`,
		"gc 1 @0.012s 2%: 0.026+0.39+0.10 ms clock, 0.21+0.88/0.52/0+0.82 ms cpu, 4->4->0 MB, 5 MB goal, 8 P",
		"SCHED 0ms: gomaxprocs=8 idleprocs=5 threads=5", "main;f;g 12\nmain;f 3\n", "go 1.26 trace\x00\x00\x00", "\x1f\x8b\x08", "<html>Summary:</html>",
		"Running late", "Summary: 3 things", "pkg: not enough", "Benchmark results will follow 1\n", `{"kind":"gowhy proc","schema":1}`,
		"./x.go:3:6: can inline f", "{\"Action\":\"x\"}"} {
		if Detect([]byte(other)) {
			t.Errorf("%q is taken for a load result", other)
		}
		if _, err := Parse(strings.NewReader(other)); !errors.Is(err, ErrUnknown) {
			t.Errorf("Parse(%q): error %v, want %v", other, err, ErrUnknown)
		}
	}
}

func TestColours(t *testing.T) {
	text := string(read(t, "k6-1.4.txt"))
	text = strings.ReplaceAll(text, "http_req_duration", "\x1b[32m✓\x1b[0m http_req_duration\x1b[2m")
	text = strings.ReplaceAll(text, ": avg=", ":\x1b[0m avg=\x1b[36m")
	r, err := Parse(strings.NewReader(text))
	if err != nil || r.Mean != 2940*us || r.Ops != 41 {
		t.Errorf("Parse() of colours = %+v, %v; want 41 operations of 2.94ms on average", r, err)
	}
	if got := plain([]byte("a\x1b[1;31mb\x1b[mc\x1b[")); string(got) != "abc" {
		t.Errorf("plain() = %q, want abc", got)
	}
}

// An output that was cut is read, or it is said that it was cut.
func TestCut(t *testing.T) {
	for _, name := range fixtures(t) {
		text := read(t, name)
		step := max(1, len(text)/200)
		for n := 0; n < len(text); n += step {
			r, err := Parse(bytes.NewReader(text[:n]))
			if (r == nil) == (err == nil) {
				t.Fatalf("%s cut at %d: Parse() = %v, %v; want a result or an error", name, n, r, err)
			}
		}
	}
	for _, name := range []string{"k6-1.4-points.jsonl", "vegeta-12-results.jsonl", "vegeta-12-results.csv", "hey-0.1.csv", "go1.26-bench.json"} {
		text := read(t, name)
		if _, err := Parse(bytes.NewReader(text[:len(text)-40])); err != nil {
			t.Errorf("%s without its end: %v", name, err)
		}
	}
	for name, lines := range map[string][2]string{
		"vegeta-12-results.jsonl": {`"seq":7,`, `"seq":,`}, "vegeta-12-results.csv": {"\n1741", "\n17x41"}, "hey-0.1.csv": {"\n0.00", "\n0.0.0"},
	} {
		damaged := bytes.Replace(read(t, name), []byte(lines[0]), []byte(lines[1]), 1)
		if _, err := Parse(bytes.NewReader(damaged)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: error %v, want one that names the line", name, err)
		}
	}
	// A missing quotation mark does not take the rest of the file into memory.
	for _, long := range []string{string(read(t, "vegeta-12-results.csv")) + "\"", `{"attack":"","seq":0,"code":200,"timestamp":"","latency":1}`} {
		file := &counter{r: io.MultiReader(strings.NewReader(long), endless{})}
		if _, err := Parse(file); !errors.Is(err, errLong) || file.n > 2*maxLine {
			t.Errorf("%v after %d bytes", err, file.n)
		}
	}
	if _, err := Parse(strings.NewReader("Running 3s test @ http://x/\n")); !errors.Is(err, errCut) {
		t.Errorf("a result without its end: error %v, want %v", err, errCut)
	}
}

type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// endless is a line that has no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Of several runs in one file the last counts.
func TestLastRun(t *testing.T) {
	for _, test := range [][2]string{{"wrk2-4.0.txt", "wrk-4.1-latency.txt"}, {"vegeta-6-report.txt", "vegeta-12-report.txt"}, {"hey-0.0.txt", "hey-0.1.txt"}, {"dnsperf-2.14-histogram.txt", "dnsperf-2.10.txt"}} {
		both, err := Parse(bytes.NewReader(append(read(t, test[0]), read(t, test[1])...)))
		if err != nil {
			t.Fatal(err)
		}
		if alone := parse(t, test[1]); fmt.Sprint(both) != fmt.Sprint(alone) {
			t.Errorf("Parse(%s after %s) =\n%+v, want\n%+v", test[1], test[0], both, alone)
		}
	}
}

// Quantiles of buckets are those of the sorted times, at most 0.8% higher.
func TestHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var h histogram
		var all []time.Duration
		for range 1 + rng.IntN(300) {
			d := time.Duration(rng.Uint64() >> (1 + rng.IntN(63)))
			all = append(all, d)
			h.add(d, 1)
		}
		slices.Sort(all)
		for _, q := range sampled {
			want := all[max(0, int(math.Ceil(q*float64(len(all))))-1)]
			if got := h.quantile(q); got < want || float64(got-want) > float64(want)/128 {
				t.Fatalf("quantile %v of %d is %d, want %d", q, len(all), got, want)
			}
		}
	}
	for _, d := range []time.Duration{0, 1, 127, 128, 255, 256, 257, 511, 512, math.MaxInt64} {
		if b := bucket(d); upper(b) < d || b > 0 && upper(b-1) >= d {
			t.Errorf("%d is in bucket %d up to %d, want the first that holds it", d, b, upper(b))
		}
	}
}

// A long run has wider intervals, not more of them, and loses nothing.
func TestWiden(t *testing.T) {
	var all tally
	begin := time.Date(2025, 1, 2, 3, 4, 5, 6, time.UTC)
	for i := range 10_000 {
		all.add(begin.Add(time.Duration(i)*time.Second), ms, i%10 == 0)
	}
	r := all.result(true)
	var ops, failed int64
	for _, i := range r.Over {
		ops, failed = ops+i.Ops, failed+i.Failed
	}
	if len(r.Over) > MaxPieces || len(r.Over) < MaxPieces/4 || ops != 10_000 || failed != 1000 || r.Over[1].Width != 4*time.Second {
		t.Errorf("%d intervals of %v with %d, %d failed", len(r.Over), r.Over[1].Width, ops, failed)
	}
	all.add(begin.AddDate(100, 0, 0), ms, false)
	all.add(time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), ms, false) // cannot be
	all.add(begin, -1, false)
	if r := all.result(true); r.Ops != 10_001 || len(r.Over) > MaxPieces {
		t.Errorf("%d operations in %d intervals, want 10001 in at most %d", r.Ops, len(r.Over), MaxPieces)
	}
}

// Small outputs, each for one thing that is easily read wrongly.
func TestDetails(t *testing.T) {
	const wrk = "Running 1s test @ http://x/\n  10 requests in 1.00s, 1KB read\n"
	for _, c := range []struct{ name, text, want string }{
		{"the corrected spectrum of wrk2 -U", wrk + "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%  5.00ms\n" +
			"  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))\n 50.000%  1.00ms\n 75.000%  2.00ms\n",
			"10 ops, 0 failed, 10/s of 0/s, 1s, [{0.5 5ms}]"},
		{"wrk's first form", "Making 1000 requests to http://x/\n  4 threads and 256 connections\n  1000 requests in 2.00s, 1KB read\n  Socket errors: connect 0, read 0, write 0, timeout 53\n", "1000 ops, 53 failed, 500/s of 0/s, 2s, []"},
		{"a quantile said twice", wrk + "  Latency Distribution\n 50%  5.00ms\n 50%  6.00ms\n", "10 ops, 0 failed, 10/s of 0/s, 1s, [{0.5 5ms}]"},
		{"a quantile from a table, above the greatest time", wrk + "    Latency     2.12ms    0.91ms   4.00ms   75.28%\n  Latency Distribution\n 99%  5.00ms\n", "10 ops, 0 failed, 10/s of 0/s, 1s, [{0.99 4ms} {1 4ms}]"},
		{"more failures than requests", wrk + "  Non-2xx or 3xx responses: 11\n", "wrk: its numbers contradict each other"},
		{"the totals of k6, not those of a group", "  █ TOTAL RESULTS\n  http_reqs......: 10  5/s\n  http_req_duration..: avg=1ms\n  █ GROUP: a\n  http_reqs......: 3  1/s\n  http_req_duration..: med=9ms\n",
			"10 ops, 0 failed, 5/s of 0/s, 2s, []"},
		{"three results, a second apart", "1741064767000000000,200,5000000,0,1,,,,0\n1741064768000000000,200,5000000,0,1,,,,1\n1741064769000000000,200,5000000,0,1,,,,2\n",
			"3 ops, 0 failed, 1.4962593516209477/s of 1/s, 2.005s, [{0 5ms} {0.5 5ms} {0.75 5ms} {0.9 5ms} {0.95 5ms} {0.99 5ms} {0.999 5ms} {0.9999 5ms} {1 5ms}]"},
		{"a count of statuses that cannot be", "Requests  [total, rate]  10, 5\nDuration  [total]  2s\nSuccess  [ratio]  90%\nStatus Codes  [code:count]  500:11  200:10\n",
			"10 ops, 0 failed, 5/s of 5/s, 2s, []"},
		{"hey before it told when", heyColumns + "\n0.0050,0,0,0,0,0,200\n0.0050,0,0,0,0,0,500\n",
			"2 ops, 1 failed, 0/s of 0/s, 0s, [{0 5ms} {0.5 5ms} {0.75 5ms} {0.9 5ms} {0.95 5ms} {0.99 5ms} {0.999 5ms} {0.9999 5ms} {1 5ms}]"},
	} {
		r, err := Parse(strings.NewReader(c.text))
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%d ops, %d failed, %v/s of %v/s, %v, %v", r.Ops, r.Failed, r.Rate, r.Offered, r.Duration, r.Latency)
		}
		if got != c.want {
			t.Errorf("%s: result\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]int64{"12": 12, " 7 responses": 7, "9007199254740993000": 0, "-1": 0, "x": 0} {
		if got := count(text); got != want {
			t.Errorf("%q counts %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int64{"827 kB 275 kB/s": 827_000, "1.3 MB": 1_300_000, "12 B": 12, "56580 bytes": 56580, "-1": 0, "": 0, "9e9 PB": 9, "99999999999 TB": 0, "2 KiB": 2048, "5 kB,": 5000} {
		if got := bytesOf(text, 1000); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]time.Duration{"562.00us": 562 * us, "1.00m": time.Minute, "2.39ms": 2390 * us, "60.75µs": 60750, "": -1, "-1s": -1, "12": -1, "9999999h": -1} {
		if got := took(text); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range fixtures(f) {
		text := read(f, name)
		f.Add(text[:min(len(text), 4<<10)])
	}
	f.Add([]byte("Running 1s test @ x\n 9 requests in 1.00s, 1B read\nSocket errors: connect 99999999999999999999, read 1, write 1, timeout 1\n"))
	f.Add([]byte("Requests [total] 5\nStatus Codes [code:count] 200:99999999999999999\n"))
	f.Add([]byte("DNS Performance Testing Tool\nStatistics:\n Queries completed: 9007199254740992\n Average packet size: request 1, response 9007199254740992\n"))
	f.Add([]byte("0123456789012345678,200,5,0,0,,,,\n9223372036854775807,200,9223372036854775807,0,9223372036854775807,,,,\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Parse(bytes.NewReader(text))
		if err != nil {
			return
		}
		if !Detect(text) {
			t.Error("parsed, but not detected")
		}
		if r.Ops < 0 || r.Failed < 0 || r.Failed > r.Ops || r.Duration < 0 || r.Bytes < 0 || r.Mean < 0 || !sane(r.Rate) || !sane(r.Offered) || r.Tool == "" {
			t.Errorf("result %+v, want a tool, nothing below 0 and no more failures than operations", r)
		}
		for _, q := range r.Latency {
			if !(q.Q >= 0 && q.Q <= 1) || q.Value < 0 {
				t.Errorf("quantile %+v, want 0 to 1 and no latency below 0", q)
			}
		}
		if len(r.Over) > MaxPieces || len(r.Benchmarks) > maxBenchmarks {
			t.Errorf("%d intervals, %d benchmarks; want at most %d and %d", len(r.Over), len(r.Benchmarks), MaxPieces, maxBenchmarks)
		}
		for _, i := range r.Over {
			if i.At < 0 || i.Width <= 0 || i.Ops < 0 || i.Failed > i.Ops {
				t.Errorf("interval %+v, want one of some length, nothing below 0", i)
			}
		}
		for _, b := range r.Benchmarks {
			if b.N <= 0 || len(b.Values) == 0 || len(b.Values) > maxUnits || len(b.Config) > maxConfig {
				t.Errorf("benchmark %+v, want runs, 1 to %d values and at most %d lines of configuration", b, maxUnits, maxConfig)
			}
		}
	})
}
