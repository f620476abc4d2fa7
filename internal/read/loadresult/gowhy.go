package loadresult

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// What gowhy itself measured is written as one JSON document, which has everything,
// or as text, which has what people look for. Both are read again.

const (
	kindGowhy   = "gowhy load"
	schemaGowhy = 1
)

// A document is a Result in JSON. Times are in nanoseconds.
type document struct {
	Kind        string     `json:"kind"`
	Schema      int        `json:"schema"`
	Target      string     `json:"target,omitempty"`
	Plan        string     `json:"plan,omitempty"`
	Closed      bool       `json:"closed,omitempty"`
	Start       *time.Time `json:"start,omitempty"`
	Duration    int64      `json:"duration_ns"`
	Planned     int64      `json:"planned"`
	Sent        int64      `json:"sent"`
	Ops         int64      `json:"done"` // failed ones included
	Failed      int64      `json:"failed"`
	Offered     float64    `json:"offered_per_second,omitempty"`
	Rate        float64    `json:"done_per_second"`
	Bytes       int64      `json:"bytes,omitempty"`
	Mean        int64      `json:"mean_ns"`
	Latency     []quantile `json:"latency"` // since due
	Service     []quantile `json:"service"` // since sent
	Late        []quantile `json:"late"`    // from due to sent, while a connection was free
	Errors      []failure  `json:"errors,omitempty"`
	Answers     []failure  `json:"answers,omitempty"` // failed ones included
	Strays      []failure  `json:"strays,omitempty"`  // answers to nothing that waited
	Over        []slice    `json:"over,omitempty"`
	Backlog     []level    `json:"backlog,omitempty"`
	CPU         float64    `json:"cpu_cores,omitempty"`
	Procs       int        `json:"cores,omitempty"`
	Connections int        `json:"connections,omitempty"`
	Generator   string     `json:"generator_limit,omitempty"`
	// Histogram is Latency's, in HdrHistogram's compressed form V2 and base64.
	Histogram string `json:"histogram,omitempty"`
}

type quantile struct {
	Q     float64 `json:"q"`
	Value int64   `json:"ns"`
}

type failure struct {
	What string `json:"what"`
	N    int64  `json:"n"`
}

type slice struct {
	At     int64 `json:"at_ns"`
	Width  int64 `json:"width_ns"`
	Ops    int64 `json:"done"`
	Failed int64 `json:"failed,omitempty"`
	P50    int64 `json:"p50_ns,omitempty"`
	P99    int64 `json:"p99_ns,omitempty"`
}

type level struct {
	At int64 `json:"at_ns"`
	N  int64 `json:"n"`
}

// mapped converts a slice.
func mapped[A, B any](in []A, convert func(A) B) (out []B) {
	for _, a := range in {
		out = append(out, convert(a))
	}
	return out
}

func quantilesOut(q Quantile) quantile { return quantile{q.Q, int64(q.Value)} }
func failuresOut(f Failure) failure    { return failure(f) }
func quantilesIn(q quantile) Quantile  { return Quantile{q.Q, time.Duration(q.Value)} }

// Encode writes a result of gowhy's own load as JSON that [Parse] reads.
func (r *Result) Encode(w io.Writer) error {
	d := document{Kind: kindGowhy, Schema: schemaGowhy, Target: r.Target, Plan: r.Plan, Closed: r.Closed,
		Duration: int64(r.Duration), Planned: r.Planned, Sent: r.Sent, Ops: r.Ops, Failed: r.Failed,
		Offered: r.Offered, Rate: r.Rate, Bytes: r.Bytes, Mean: int64(r.Mean),
		Latency: mapped(r.Latency, quantilesOut), Service: mapped(r.Service, quantilesOut), Late: mapped(r.Late, quantilesOut),
		Errors: mapped(r.Errors, failuresOut), Answers: mapped(r.Answers, failuresOut), Strays: mapped(r.Strays, failuresOut),
		Over: mapped(r.Over, func(i Interval) slice {
			return slice{int64(i.At), int64(i.Width), i.Ops, i.Failed, int64(i.P50), int64(i.P99)}
		}),
		Backlog: mapped(r.Backlog, func(l Level) level { return level{int64(l.At), l.N} }),
		CPU:     r.CPU, Procs: r.Procs, Connections: r.Connections, Generator: r.Generator}
	if !r.Start.IsZero() {
		d.Start = &r.Start
	}
	if r.histogram != nil {
		text, err := r.histogram.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			return err
		}
		d.Histogram = string(text)
	}
	return json.NewEncoder(w).Encode(d)
}

var jsonHead = regexp.MustCompile(`^\s*\{\s*"kind":\s*"gowhy load"`)

func detectGowhyJSON(head []byte) bool { return jsonHead.Match(head) }

func parseGowhyJSON(l *lines) (*Result, error) {
	text, err := l.document()
	if err != nil {
		return nil, err
	}
	var d document
	for in, n := json.NewDecoder(bytes.NewReader(text)), 0; ; n++ {
		var next document
		if err := in.Decode(&next); err == io.EOF || err != nil && n > 0 {
			break
		} else if err != nil {
			return nil, err
		}
		d = next
	}
	switch {
	case d.Kind != kindGowhy:
		return nil, fmt.Errorf("a document of kind %q", Printable(d.Kind))
	case d.Schema > schemaGowhy:
		return nil, fmt.Errorf("it was written by a newer gowhy, schema %d", d.Schema)
	}
	return d.result()
}

// targetText returns the address of a target in words, "GET http://localhost:8080/"; empty for other
// requests, which have more to them.
func targetText(target string) string {
	address, ok := strings.CutPrefix(target, "GET ")
	if !ok {
		return ""
	}
	return webAddress(address)
}

// webAddress returns the text when it is an address that a command line can take.
func webAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || Printable(text) != text || strings.ContainsAny(text, " \t") {
		return ""
	}
	return text
}

// maxConnections bounds what an output can say of itself.
const maxConnections = 1 << 20

var errDocument = errors.New("its numbers cannot be")

// result refuses what no load can have measured.
func (d *document) result() (*Result, error) {
	r := &Result{Duration: time.Duration(d.Duration), Ops: d.Ops, Failed: d.Failed, Rate: d.Rate, Offered: d.Offered,
		Bytes: d.Bytes, Mean: time.Duration(d.Mean), Closed: d.Closed, Planned: d.Planned, Sent: d.Sent,
		Target: Words(d.Target), URL: targetText(d.Target), Plan: Words(d.Plan), Generator: Words(d.Generator),
		CPU: d.CPU, Procs: d.Procs, Connections: d.Connections}
	if len(d.Over) > MaxPieces || len(d.Backlog) > MaxLevels || max(len(d.Errors), len(d.Answers), len(d.Strays)) > MaxKinds ||
		max(len(d.Latency), len(d.Service), len(d.Late)) > maxQuantiles {
		return nil, errDocument
	}
	if min(d.Planned, d.Sent, d.Duration, int64(d.Procs), int64(d.Connections)) < 0 || !sane(d.CPU) {
		return nil, errDocument
	}
	if d.Start != nil && d.Start.After(earliest) && d.Start.Before(latest) {
		r.Start = *d.Start
	}
	r.Latency, r.Service, r.Late = mapped(d.Latency, quantilesIn), mapped(d.Service, quantilesIn), mapped(d.Late, quantilesIn)
	for _, kinds := range []struct {
		in  []failure
		out *[]Failure
	}{{d.Errors, &r.Errors}, {d.Answers, &r.Answers}, {d.Strays, &r.Strays}} {
		for _, f := range kinds.in {
			if f.N < 0 {
				return nil, errDocument
			}
			*kinds.out = append(*kinds.out, Failure{Printable(f.What), f.N})
		}
	}
	for _, p := range d.Over {
		i := Interval{time.Duration(p.At), time.Duration(p.Width), p.Ops, p.Failed, time.Duration(p.P50), time.Duration(p.P99)}
		if min(p.At, p.Ops, p.Failed, p.P50, p.P99) < 0 || p.Width <= 0 || p.Failed > p.Ops {
			return nil, errDocument
		}
		r.Over = append(r.Over, i)
	}
	for _, l := range d.Backlog {
		if l.At < 0 || l.N < 0 {
			return nil, errDocument
		}
		r.Backlog = append(r.Backlog, Level{time.Duration(l.At), l.N})
	}
	return r, r.decode(d.Histogram)
}

// decode reads the histogram. Only our own shape of it is: the library makes
// room for any that a few bytes claim to have.
func (r *Result) decode(text string) error {
	if text == "" {
		return nil
	}
	h, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("its histogram: %w", err)
	}
	if !ourShape(h) {
		return errors.New("its histogram is of another shape")
	}
	if r.histogram, err = hdr.Decode([]byte(text)); err != nil {
		return fmt.Errorf("its histogram: %w", err)
	}
	return nil
}

// ourShape looks at the header of a compressed histogram: a cookie and a
// length, and then compressed a cookie, two lengths, the digits, the least and
// the greatest value.
func ourShape(h []byte) bool {
	if len(h) < 8 {
		return false
	}
	z, err := zlib.NewReader(bytes.NewReader(h[8:]))
	if err != nil {
		return false
	}
	var head [32]byte
	if _, err := io.ReadFull(z, head[:]); err != nil {
		return false
	}
	be := binary.BigEndian
	return be.Uint32(head[12:]) == digits && be.Uint64(head[16:]) == uint64(finest) && be.Uint64(head[24:]) == uint64(longest)
}
