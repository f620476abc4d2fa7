// Package loadresult is what a load test or a benchmark measured: how many
// operations, how fast, how many failed, how long they took, and when.
//
// It hides how each load generator writes its results: gowhy load, k6, vegeta,
// wrk, wrk2, go-wrk, hey, ab, bombardier, ghz, dnsperf and go test -bench, their text, JSON, CSV and gob, what
// changed between their versions, their units, and which of their numbers mean
// the same. Its type is [Result], which [Parse] gives and internal/prove/load measures.
//
// loadresult never guesses what an output does not say: such a field is zero. It
// trusts no input: lines, counts and tables are bounded, and the results of
// single operations are added up as they are read.
package loadresult

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

// A Result is what was measured in one run.
type Result struct {
	Tool     string        // "gowhy", "k6", "vegeta", "wrk", "wrk2", "hey", "ab", "bombardier", "ghz", "dnsperf", "go test"
	Start    time.Time     // zero when not said
	Duration time.Duration // 0 when not said
	Ops      int64         // finished operations, failed ones included
	Failed   int64
	Rate     float64 // finished per second
	// Offered is how many a second were asked for, whether or not they could
	// be sent in time; 0 for a closed loop or when not said.
	Offered float64
	URL     string     // that was asked for by GET; empty when not said, or when more goes into the request
	Bytes   int64      // received; 0 when not said
	Latency []Quantile // by Q; the least and the greatest have Q 0 and 1; empty when not said
	Mean    time.Duration
	Over    []Interval // in time order; empty when not said
	// Benchmarks are the lines of go test -bench; nothing above but Start and
	// Duration is set with them.
	Benchmarks []Benchmark

	// What follows is only known of load that gowhy offered itself.

	Target  string // the load, in words
	Plan    string // how operations were planned, in words
	Closed  bool   // the rate was the program's own
	Planned int64  // operations that came due
	Sent    int64  // of them begun; the others still waited when time was up
	// Service is the latency from the actual sending, which is what a closed
	// loop would have seen; Latency is from when the operation was due. Both are
	// of operations that were answered or timed out; Latency has those that were
	// never begun, too, with what they had waited when time was up.
	Service []Quantile
	// Late is how long after they were due operations were begun although a
	// connection was free: the generator's own error.
	Late    []Quantile
	Backlog []Level   // in time order, a few each second
	Errors  []Failure // the most frequent first; N is 0 where a tool lists kinds without counts
	// Unanswered is how many of the failed ones had no answer at all: connections that were
	// refused or broken. The program may not have seen them.
	Unanswered  int64
	Crossed     []string  // thresholds that the test sets itself and that were crossed, in its words
	Answers     []Failure // kinds of answers, failed ones included, the most frequent first; where the protocol has kinds
	Strays      []Failure // what came and was the answer to no operation that waited, in the same order
	CPU         float64   // cores that the generator used while it offered; 0 when not known
	Procs       int       // cores that it could use
	Connections int       // the largest number open; 0 when not said
	// Generator says why the generator itself was the limit; empty when not.
	Generator string

	histogram *hdr.Histogram // of Latency, ns
}

// A Level is how many operations had come due and were not finished.
type Level struct {
	At time.Duration // since Start
	N  int64
}

// The most that a Result has of what grows with the run.
const (
	MaxPieces = 3600 // of Over: an hour of seconds; longer runs have wider intervals
	MaxLevels = 4096 // of Backlog
	MaxKinds  = 25   // of Errors, of Answers and of Strays
)

// A Failure is a kind of failure, or of answer, and how many operations had it.
type Failure struct {
	What string
	N    int64
}

// Quantile returns the time that the share q of operations did not exceed: from the
// histogram, or the least listed one that is as high; 0 when not known.
func (r *Result) Quantile(q float64) time.Duration {
	if r.histogram == nil {
		return quantileOf(r.Latency, q)
	}
	d := time.Duration(r.histogram.ValueAtPercentile(100 * q))
	if n := len(r.Latency); n > 0 { // a histogram rounds, the extremes are exact
		d = min(max(d, r.Latency[0].Value), r.Latency[n-1].Value)
	}
	return d
}

// Err returns the error of a run of which every operation failed; else nil.
func (r *Result) Err() error {
	if r.Ops == 0 || r.Failed < r.Ops || len(r.Errors) == 0 {
		return nil
	}
	return problem.New(problem.Failure, "", "all %d operations failed: %s", r.Failed, r.Errors[0].What)
}

// Gowhy is the tool of load that gowhy offered itself.
const Gowhy = "gowhy"

// A Quantile says that the share Q of operations took at most Value.
type Quantile struct {
	Q     float64 // 0 to 1
	Value time.Duration
}

// An Interval is a piece of the run: operations that finished in it.
type Interval struct {
	At, Width   time.Duration // since Start, also where Start is not known
	Ops, Failed int64
	P50, P99    time.Duration // 0 when not said
}

// A Benchmark is one line of go test -bench.
type Benchmark struct {
	Name   string // with its -N suffix
	N      int64
	Values map[string]float64 // by unit: ns/op, B/op, allocs/op, …
	// Config is what the lines "key: value" above said: goos, goarch, pkg, cpu
	// and whatever was added. Lines share it.
	Config map[string]string
}

// ErrUnknown is the error of an input that no known tool wrote.
var ErrUnknown = errors.New("not the output of a known load generator: " + "gowhy load, k6, vegeta, wrk, wrk2, go-wrk, hey, ab, bombardier, ghz, dnsperf, go test -bench")

// A format is one way in which one tool writes.
type format struct {
	tool string
	// detect looks at the beginning of an output, which may be cut anywhere.
	detect func(head []byte) bool
	parse  func(*lines) (*Result, error)
}

// formats are tried in order: first those that a few bytes tell.
var formats = []format{
	{Gowhy, detectGowhyJSON, parseGowhyJSON},
	{"vegeta", detectVegetaGob, parseVegetaGob},
	{"k6", detectK6Points, parseK6Points},
	{"k6", detectK6CSV, parseK6CSV},
	{"bombardier", detectBombardierJSON, parseBombardierJSON},
	{"ghz", detectGhzJSON, parseGhzJSON},
	{"go test", detectTestJSON, parseTestJSON},
	{"vegeta", detectVegetaJSON, parseVegetaJSON},
	{"vegeta", detectVegetaResults, parseVegetaResults},
	{"k6", detectK6Summary, parseK6Summary},
	{"k6", detectK6Results, parseK6Results},
	{"hey", detectHeyCSV, parseHeyCSV},
	{"vegeta", detectVegetaCSV, parseVegetaCSV},
	{Gowhy, detectGowhyText, parseGowhyText},
	{"dnsperf", detectDNSPerf, parseDNSPerf},
	{"go-wrk", detectGoWrk, parseGoWrk},
	{"go-wrk", detectGoWrkCalls, parseGoWrkCalls},
	{"wrk", detectWrk, parseWrk},
	{"vegeta", detectVegetaText, parseVegetaText},
	{"hey", detectHey, parseHey},
	{"ghz", detectGhz, parseGhz},
	{"ab", detectAB, parseAB},
	{"bombardier", detectBombardier, parseBombardier},
	{"k6", detectK6Text, parseK6Text},
	{"go test", detectBench, parseBench},
}

// Detect reports whether an output that begins like this can be parsed. Give
// it some hundred bytes; more help where other text comes first.
func Detect(head []byte) bool { return find(head) != nil }

func find(head []byte) *format {
	head = plain(head)
	for i := range formats {
		if formats[i].detect(head) {
			return &formats[i]
		}
	}
	return nil
}

// headSize is how far into an input its format is looked for.
const headSize = 64 << 10

// Parse reads one run. Of several in one input it reads the last, but for go
// test, where lines of all are kept. The error is [ErrUnknown], or says what
// is missing.
func Parse(r io.Reader) (*Result, error) {
	b := bufio.NewReaderSize(r, headSize)
	head, err := b.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, err
	}
	f := find(head)
	if f == nil {
		return nil, ErrUnknown
	}
	res, err := f.parse(&lines{r: b})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.tool, err)
	}
	if res.Tool == "" {
		res.Tool = f.tool
	}
	if err := res.finish(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.tool, err)
	}
	return res, nil
}

var errCut = errors.New("there is no result in its output; was it cut short?")

// finish puts a result in order and refuses what cannot be one.
func (r *Result) finish() error {
	if r.Ops <= 0 && len(r.Benchmarks) == 0 {
		return errCut
	}
	r.Unanswered = min(r.Unanswered, r.Failed)
	if r.Failed < 0 || r.Failed > r.Ops || r.Unanswered < 0 || r.Duration < 0 || r.Bytes < 0 || r.Mean < 0 || !sane(r.Rate) || !sane(r.Offered) {
		return errors.New("its numbers contradict each other")
	}
	if r.Rate == 0 && r.Duration > 0 {
		r.Rate = float64(r.Ops) / r.Duration.Seconds()
	}
	if r.Duration == 0 && r.Rate > 0 {
		r.Duration = seconds(float64(r.Ops) / r.Rate)
	}
	slices.SortStableFunc(r.Errors, func(a, b Failure) int { return cmp.Compare(b.N, a.N) })
	r.Latency = slices.DeleteFunc(r.Latency, func(q Quantile) bool { return !(q.Q >= 0 && q.Q <= 1) || q.Value < 0 })
	slices.SortStableFunc(r.Latency, func(a, b Quantile) int { return cmp.Compare(a.Q, b.Q) })
	r.Latency = slices.CompactFunc(r.Latency, func(a, b Quantile) bool { return a.Q == b.Q })
	if n := len(r.Latency); n > 0 && r.Latency[n-1].Q == 1 {
		for i := range r.Latency { // estimates from tables may be above the greatest
			r.Latency[i].Value = min(r.Latency[i].Value, r.Latency[n-1].Value)
		}
	}
	return nil
}

// sane reports whether a rate can be one.
func sane(rate float64) bool { return rate >= 0 && rate < 1e15 }

// seconds returns a Duration, or -1 when it cannot be.
func seconds(s float64) time.Duration {
	if !(s >= 0 && s < math.MaxInt64/1e9) {
		return -1
	}
	return time.Duration(math.Round(s * 1e9))
}

// Bounds on an input.
const (
	maxLine       = 16 << 20 // bytes; results of vegeta may carry answers
	maxJSON       = 64 << 20 // bytes of a JSON document
	maxQuantiles  = 1000
	maxBenchmarks = 100_000
	maxUnits      = 100 // of one benchmark
	maxConfig     = 32  // lines "key: value" in force
)

var errLong = fmt.Errorf("it is longer than %d MiB", maxLine>>20)

// lines reads an input line by line.
type lines struct {
	r *bufio.Reader
	s *bufio.Scanner
	n int
}

func (l *lines) next() bool {
	if l.s == nil {
		l.s = bufio.NewScanner(l.r)
		l.s.Buffer(nil, maxLine)
	}
	l.n++
	return l.s.Scan()
}

// text returns the line without colours.
func (l *lines) text() string { return strings.TrimRight(string(plain(l.s.Bytes())), "\r ") }

func (l *lines) err() error {
	err := l.s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = errLong
	}
	if err != nil {
		return l.lineError(err)
	}
	return nil
}

// lineError says which line cannot be read.
func (l *lines) lineError(err error) error { return fmt.Errorf("line %d: %w", l.n, err) }

// records reads CSV and gives take each record, until the next one. What is
// wrong with the last one is that it was cut.
func (l *lines) records(take func(fields []string) error) error {
	in := &bounded{r: l.r}
	r := csv.NewReader(in)
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	for {
		in.left = maxLine
		fields, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			if err = take(fields); err == nil {
				continue
			}
			l.n, _ = r.FieldPos(0)
			err = l.lineError(err)
		}
		if _, end := r.Read(); end == io.EOF {
			return nil
		}
		return err
	}
}

// A bounded reader fails where a quotation mark is missing in a large file.
type bounded struct {
	r    io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

var errColumns = errors.New("too few columns")

// document reads all of a JSON document.
func (l *lines) document() ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(l.r, maxJSON+1))
	if len(text) > maxJSON {
		return nil, fmt.Errorf("it is larger than %d MiB", maxJSON>>20)
	}
	return text, err
}

// plain removes the colours that a terminal would show.
func plain(b []byte) []byte {
	if !bytes.Contains(b, []byte("\x1b[")) {
		return b
	}
	var out []byte
	for {
		before, after, ok := bytes.Cut(b, []byte("\x1b["))
		out = append(out, before...)
		if !ok {
			return out
		}
		end := bytes.IndexFunc(after, func(r rune) bool { return r >= '@' && r <= '~' })
		b = after[end+1:] // none: end is -1, and the rest is kept
	}
}

// anyLine reports whether one of the lines satisfies ok.
func anyLine(head []byte, ok func(line string) bool) bool {
	for line := range bytes.Lines(head) {
		if len(line) < 4<<10 && ok(strings.TrimRight(string(line), "\r\n")) {
			return true
		}
	}
	return false
}
