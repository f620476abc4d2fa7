package querier

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"

	"github.com/gowhy/gowhy/fleet/store"
)

// RenderPath is where [Render] answers.
const RenderPath = "/pyroscope/render"

// Render serves the flame graph and the course of a selection as Pyroscope's HTTP API has
// them, for scripts and for what was written before its protocol. The tenant is that of
// X-Scope-OrgID.
func Render(r store.Reader, now func() time.Time) http.Handler {
	q := &querier{from: r}
	return answering(func(h *http.Request) (any, error) { return q.render(h, now()) })
}

// A rendered answer, with the names that Pyroscope's has.
type rendered struct {
	Version     int                  `json:"version"`
	Flamebearer flamebearer          `json:"flamebearer"`
	Metadata    metadata             `json:"metadata"`
	Timeline    *timeline            `json:"timeline"`
	Groups      map[string]*timeline `json:"groups"` // with groupBy: by the values of the label
}

// A flamebearer is a flame graph. A level has four numbers for each bar: how far it begins
// after the end of the one before, its total, what it has itself, and its place in Names.
type flamebearer struct {
	Names    []string  `json:"names"`
	Levels   [][]int64 `json:"levels"`
	NumTicks int64     `json:"numTicks"` // of all
	MaxSelf  int64     `json:"maxSelf"`
}

type metadata struct {
	Format     string `json:"format"`
	SpyName    string `json:"spyName"` // "": what sent it is not kept
	SampleRate int64  `json:"sampleRate"`
	Units      string `json:"units"`
	Name       string `json:"name"`
}

// A timeline has the sums of steps from StartTime on. All together are the flame graph's.
type timeline struct {
	StartTime     int64         `json:"startTime"` // seconds since 1970
	Samples       []int64       `json:"samples"`
	DurationDelta int64         `json:"durationDelta"` // seconds
	Watermarks    map[int]int64 `json:"watermarks"`    // Pyroscope has none either
}

func invalid(format string, args ...any) error {
	return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf(format, args...))
}

// render answers a request.
func (q *querier) render(h *http.Request, now time.Time) (*rendered, error) {
	v := h.URL.Query()
	if f := v.Get("format"); f != "" && f != "json" {
		return nil, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("format %.40q: only json", f))
	}
	if v.Has("aggregation") && v.Get("aggregation") != "sum" || len(v["groupBy"]) > 1 {
		return nil, connect.NewError(connect.CodeUnimplemented, errors.New("only sums, by one label"))
	}
	if err := named(v.Get("groupBy")); err != nil {
		return nil, err
	}
	selected, parts, err := renderSelection(h, v, now)
	if err != nil {
		return nil, err
	}
	most, err := nodesOf(v)
	if err != nil {
		return nil, err
	}
	stacks, err := q.from.Stacks(h.Context(), selected)
	if err != nil {
		return nil, storeError(err)
	}
	if err := complete(stacks.Missing); err != nil {
		return nil, err
	}
	graph, err := flameOf(h.Context(), &stacks, most)
	if err != nil {
		return nil, err
	}
	a := &rendered{Version: 1, Flamebearer: bearerOf(graph), Metadata: metadataOf(parts)}
	return a, q.course(h, selected, v.Get("groupBy"), a)
}

// renderSelection reads what a request is about, and the parts of its type.
func renderSelection(h *http.Request, v url.Values, now time.Time) (s store.Selection, parts []string, err error) {
	query := strings.TrimSpace(v.Get("query"))
	if query == "" {
		return s, nil, invalid(`query is missing: write it as %s{service_name="NAME"}`, store.CPU)
	}
	if !strings.Contains(query, "{") {
		if strings.Count(query, ":") != 4 {
			return s, nil, errNoType()
		}
		query += "{}"
	}
	from, err := moment(v.Get("from"), now, now.Add(-time.Hour))
	if err != nil {
		return s, nil, invalid("from: %w", err)
	}
	until, err := moment(v.Get("until"), now, now)
	if err != nil {
		return s, nil, invalid("until: %w", err)
	}
	if !from.Before(until) {
		return s, nil, invalid("from (%s) is not before until (%s)", from.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339))
	}
	if until.Sub(from) > longest {
		return s, nil, invalid("from (%s) to until (%s) is too long", from.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339))
	}
	asked := scope{h.Header, from.UnixMilli(), until.UnixMilli(), []string{query}}
	if s, err = asked.selection(); err != nil {
		return s, nil, err
	}
	if parts = strings.Split(string(s.Type), ":"); len(parts) != 5 {
		return s, nil, errNoType()
	}
	return s, parts, nil
}

func errNoType() error {
	return invalid(`the query has no type of profile: write it as %s{service_name="NAME"}`, store.CPU)
}

// nodesOf reads the largest number of bars that a flame graph may have.
func nodesOf(v url.Values) (int, error) {
	for _, name := range []string{"maxNodes", "max-nodes"} {
		text := v.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return 0, invalid("%s %.40q is no number", name, text)
		}
		if n > 0 {
			return min(n, mostNodes), nil
		}
	}
	return mostNodes, nil
}

// ago is a time before now: units as Pyroscope has them, the first that fits.
var ago = regexp.MustCompile(`^now-(\d{1,9})(s|mon|M|min|m|h|d|w|y)[a-z]*$`)

var units = map[string]time.Duration{
	"s": time.Second, "min": time.Minute, "m": time.Minute, "h": time.Hour, "d": day, "w": 7 * day, "mon": 30 * day, "M": 30 * day, "y": 365 * day,
}

const (
	day     = 24 * time.Hour
	longest = 100 * 365 * day
)

// moment reads a time: now, now-1h, a day like 20260131, or how many seconds, milli-, micro-
// or nanoseconds after the begin of 1970, told apart by their digits.
func moment(text string, now, otherwise time.Time) (time.Time, error) {
	switch text = strings.TrimSpace(text); text {
	case "":
		return otherwise, nil
	case "now":
		return now, nil
	}
	if m := ago.FindStringSubmatch(text); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64) // of nine digits at most
		if before := now.Sub(time.Unix(0, 0)); n <= int64(before/units[m[2]]) {
			return now.Add(-time.Duration(n) * units[m[2]]), nil
		}
		return time.Time{}, fmt.Errorf("%q is before 1970", text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && text[0] != '+' {
		switch len(text) {
		case 8:
			if t, err := time.Parse("20060102", text); err == nil && t.Year() > 1970 {
				return t, nil
			}
			fallthrough
		case 1, 2, 3, 4, 5, 6, 7, 9, 10:
			return time.Unix(n, 0), nil
		case 13:
			return time.UnixMilli(n), nil
		case 16:
			return time.UnixMicro(n), nil
		case 19:
			return time.Unix(0, n), nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is no time: write now-1h, or seconds or milliseconds since 1970", text)
}

// bearerOf returns a flame graph in the words of the answer.
func bearerOf(g *querierv1.FlameGraph) flamebearer {
	b := flamebearer{Names: g.Names, NumTicks: g.Total, MaxSelf: g.MaxSelf}
	for _, l := range g.Levels {
		b.Levels = append(b.Levels, l.Values)
	}
	return b
}

// metadataOf says what the values of a type are, as Pyroscope does: what reads them expects
// CPU as samples, here of a nanosecond each.
func metadataOf(parts []string) metadata {
	m := metadata{Format: "single", SampleRate: 100, Units: parts[2], Name: parts[1]}
	switch m.Name {
	case "inuse_objects", "alloc_objects", "goroutine", "samples":
		m.Units = "objects"
	case "cpu":
		m.Units, m.SampleRate = "samples", 1e9
	}
	return m
}

// steps are those of timelines, and mostPoints how many one has at most.
var steps = []time.Duration{
	10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 7 * day, 30 * day, 365 * day,
}

const (
	mostPoints = 1500
	mostGroups = 1000 // timelines by the values of a label
)

// stepOf returns the shortest step that leaves no more points than that: the longest does for
// all times that a request can name.
func stepOf(span time.Duration) time.Duration {
	for _, step := range steps {
		if span <= mostPoints*step {
			return step
		}
	}
	return steps[len(steps)-1]
}

// course adds the sums over time to an answer.
func (q *querier) course(h *http.Request, s store.Selection, label string, a *rendered) error {
	span := s.Until.Sub(s.From)
	step := stepOf(span)
	by := store.ByNothing
	if label != "" {
		by, a.Groups = keyOf(label), map[string]*timeline{}
	}
	sums, err := q.from.Series(h.Context(), s, step, by)
	if err != nil {
		return storeError(err)
	}
	if err := complete(sums.Missing); err != nil {
		return err
	}
	if len(sums.Series) > mostGroups {
		return invalid("more than %d values of %.40q: ask for fewer by the query", mostGroups, label)
	}
	empty := func() *timeline {
		return &timeline{StartTime: s.From.Unix(), DurationDelta: int64(step / time.Second), Samples: make([]int64, (span+step-1)/step)}
	}
	a.Timeline = empty()
	for _, one := range sums.Series {
		group := empty()
		for _, p := range one.Points {
			i := p.At.Sub(s.From) / step
			a.Timeline.Samples[i] += p.Value
			group.Samples[i] += p.Value
		}
		if a.Groups != nil {
			a.Groups[one.Key] = group
		}
	}
	return nil
}

// statusOf returns the status of HTTP for a code, as Connect has it.
func statusOf(c connect.Code) int {
	switch c {
	case connect.CodeInvalidArgument:
		return http.StatusBadRequest
	case connect.CodeUnimplemented:
		return http.StatusNotImplemented
	case connect.CodeUnavailable:
		return http.StatusServiceUnavailable
	case connect.CodeResourceExhausted:
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

// messageOf returns an error's text without its code.
func messageOf(err error) string {
	var e *connect.Error
	if errors.As(err, &e) {
		return e.Message()
	}
	return "no answer"
}
