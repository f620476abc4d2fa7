package loadresult

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The format is that of golang.org/design/14313-benchmark-format, as testing
// writes it and benchstat reads it.

// A result: a name, how many times, and pairs of value and unit.
var benchLine = regexp.MustCompile(`^Benchmark\S*\s+[0-9]+\s+[0-9.e+-]+ \S+`)

func detectBench(head []byte) bool {
	return anyLine(head, func(line string) bool {
		return benchLine.MatchString(line) || strings.HasPrefix(line, "goos: ") || strings.HasPrefix(line, "goarch: ")
	})
}

// A benchReader takes lines in order.
type benchReader struct {
	r      *Result
	config map[string]string
	shared bool // config belongs to a benchmark and must not change
}

func newBenchReader() *benchReader { return &benchReader{r: &Result{}, config: map[string]string{}} }

func parseBench(l *lines) (*Result, error) {
	b := newBenchReader()
	for l.next() {
		b.line(l.text())
	}
	return b.r, l.err()
}

func (b *benchReader) line(line string) {
	if strings.HasPrefix(line, "Benchmark") {
		b.result(strings.Fields(line))
		return
	}
	if f := strings.Fields(line); len(f) >= 3 && f[0] == "ok" {
		// "ok  	example.com/p	1.234s"
		if t := took(f[2]); t > 0 && b.r.Duration < 1<<60 {
			b.r.Duration += t
		}
		return
	}
	if key, value, ok := strings.Cut(line, ":"); ok && isKey(key) {
		b.set(key, strings.TrimSpace(value))
	}
}

// isKey reports whether a word can name a configuration: it begins with a
// lower-case letter and has no upper-case letters or spaces.
func isKey(key string) bool {
	first, _ := utf8.DecodeRuneInString(key)
	return unicode.IsLower(first) && len(key) < 200 &&
		!strings.ContainsFunc(key, func(c rune) bool { return unicode.IsUpper(c) || unicode.IsSpace(c) })
}

func (b *benchReader) set(key, value string) {
	if b.config[key] == value || len(value) > 4<<10 {
		return
	}
	if b.shared {
		b.config, b.shared = maps.Clone(b.config), false
	}
	if value == "" {
		delete(b.config, key)
	} else if len(b.config) < maxConfig {
		b.config[key] = value
	}
}

// result takes a benchmark's line. Lines that only look like one, a name
// without numbers while it runs, are not.
func (b *benchReader) result(f []string) {
	if len(f) < 4 || len(f[0]) > 4<<10 || len(b.r.Benchmarks) == maxBenchmarks || !benchName(f[0]) {
		return
	}
	n, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil || n <= 0 {
		return
	}
	values := map[string]float64{}
	for i := 2; i+1 < len(f) && len(values) < maxUnits; i += 2 {
		v, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			return
		}
		values[f[i+1]] = v
	}
	b.r.Benchmarks = append(b.r.Benchmarks, Benchmark{Name: f[0], N: n, Values: values, Config: b.config})
	b.shared = true
}

// benchName is testing's rule: what follows "Benchmark" is not lower-case.
func benchName(name string) bool {
	rest := strings.TrimPrefix(name, "Benchmark")
	first, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLower(first)
}

// --- go test -json: lines of text within lines of JSON ---

func detectTestJSON(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"Action":"`)) &&
		(bytes.Contains(line, []byte(`"Package":"`)) || bytes.Contains(line, []byte(`"ImportPath":"`)))
}

type testEvent struct {
	Time    time.Time
	Action  string
	Package string
	Output  string
}

// maxPackages bounds how many packages' unfinished lines are kept.
const maxPackages = 10_000

// parseTestJSON joins the pieces of lines, each package's apart: a benchmark's
// name comes before it runs, its numbers after.
func parseTestJSON(l *lines) (*Result, error) {
	readers := map[string]*benchReader{}
	pending := map[string]string{}
	r := &Result{}
	for l.next() {
		var e testEvent
		if json.Unmarshal(l.s.Bytes(), &e) != nil {
			continue // the go command's own words
		}
		if r.Start.IsZero() && e.Time.After(earliest) {
			r.Start = e.Time
		}
		if e.Action != "output" {
			continue
		}
		b := readers[e.Package]
		if b == nil {
			if len(readers) == maxPackages {
				continue
			}
			b = &benchReader{r: r, config: map[string]string{}}
			readers[e.Package] = b
		}
		text := pending[e.Package] + e.Output
		for {
			line, rest, ok := strings.Cut(text, "\n")
			if !ok {
				break
			}
			b.line(strings.TrimRight(line, "\r"))
			text = rest
		}
		if len(text) > 64<<10 {
			text = ""
		}
		pending[e.Package] = text
	}
	return r, l.err()
}
