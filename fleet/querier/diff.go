package querier

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/gowhy/gowhy/fleet/stacktree"
	"github.com/gowhy/gowhy/fleet/store"
)

// RenderDiffPath is where [RenderDiff] answers.
const RenderDiffPath = "/pyroscope/render-diff"

// RenderDiff serves the flame graph of two selections beside each other as Pyroscope's HTTP API
// has it: leftQuery, leftFrom and leftUntil, and the same of the right.
func RenderDiff(r store.Reader, now func() time.Time) http.Handler {
	q := &querier{from: r}
	return answering(func(h *http.Request) (any, error) { return q.renderDiff(h, now()) })
}

// A renderedDiff has in a level seven numbers for each bar: of the left how far it begins after
// the end of the one before, its total and what it has itself, the same of the right, and
// its place in Names.
type renderedDiff struct {
	Version     int         `json:"version"`
	Flamebearer flamebearer `json:"flamebearer"`
	Metadata    metadata    `json:"metadata"`
	LeftTicks   int64       `json:"leftTicks"`
	RightTicks  int64       `json:"rightTicks"`
}

func (q *querier) renderDiff(h *http.Request, now time.Time) (*renderedDiff, error) {
	v := h.URL.Query()
	if f := v.Get("format"); f != "" && f != "json" {
		return nil, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("format %.40q: only json", f))
	}
	most, err := nodesOf(v)
	if err != nil {
		return nil, err
	}
	t := stacktree.New()
	var kinds [2]string
	var parts []string
	for i, side := range []string{"left", "right"} {
		of := url.Values{"query": {v.Get(side + "Query")}, "from": {v.Get(side + "From")}, "until": {v.Get(side + "Until")}}
		var selected store.Selection
		if selected, parts, err = renderSelection(h, of, now); err != nil {
			return nil, err
		}
		kinds[i] = string(selected.Type)
		stacks, err := q.from.Stacks(h.Context(), selected)
		if err != nil {
			return nil, storeError(err)
		}
		if err := complete(stacks.Missing); err != nil {
			return nil, err
		}
		if err := t.Add(h.Context(), &stacks, i); err != nil {
			return nil, storeError(err)
		}
	}
	if kinds[0] != kinds[1] {
		return nil, invalid("left is of %.80q and right of %.80q: only what is of one type can be compared", kinds[0], kinds[1])
	}
	a := &renderedDiff{Version: 1, Flamebearer: doubleOf(t, most), Metadata: metadataOf(parts), LeftTicks: t.Root.Total[0], RightTicks: t.Root.Total[1]}
	a.Metadata.Format = "double"
	return a, nil
}

// A double is the flame graph of a tree of two sides that is being written.
type double struct {
	flamebearer
	tree   *stacktree.Tree
	places map[string]int64
	least  int64 // nodes with less on both sides together are not shown
}

// both adds up two sides.
func both(v [2]int64) int64 { return store.Add(v[0], v[1]) }

// doubleOf returns the flame graph of a tree of two sides, of a number of bars.
func doubleOf(t *stacktree.Tree, most int) flamebearer {
	g := &double{tree: t, places: map[string]int64{}, least: largest(&t.Root, most)}
	g.NumTicks = both(t.Root.Total)
	g.add(&t.Root, 0, [2]int64{})
	for _, l := range g.Levels { // each offset is from the end of the bar before
		var end [2]int64
		for i := 0; i < len(l); i += 7 {
			for side := range end {
				at := i + 3*side
				l[at], end[side] = l[at]-end[side], l[at]+l[at+1]
			}
		}
	}
	return g.flamebearer
}

func (g *double) add(n *stacktree.Node, level int, at [2]int64) {
	g.bar(level, at, n.Total, n.Self, nameOf(g.tree, n))
	at = [2]int64{at[0] + n.Self[0], at[1] + n.Self[1]}
	var other [2]int64
	for _, c := range g.tree.Sorted(n, nil) {
		t := c.Total
		if both(t) < g.least {
			other = [2]int64{store.Add(other[0], t[0]), store.Add(other[1], t[1])}
			continue
		}
		g.add(c, level+1, at)
		at = [2]int64{at[0] + t[0], at[1] + t[1]}
	}
	if both(other) != 0 {
		g.bar(level+1, at, other, other, "other")
	}
}

func (g *double) bar(level int, at, total, self [2]int64, name string) {
	for len(g.Levels) <= level {
		g.Levels = append(g.Levels, nil)
	}
	place, known := g.places[name]
	if !known {
		place = int64(len(g.Names))
		g.places[name], g.Names = place, append(g.Names, strings.ToValidUTF8(name, "\uFFFD"))
	}
	g.MaxSelf = max(g.MaxSelf, self[0], self[1])
	g.Levels[level] = append(g.Levels[level], at[0], total[0], self[0], at[1], total[1], self[1], place)
}

// answering serves what a request is answered, or why it cannot be.
func answering(of func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, h *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		a, err := of(h)
		if err != nil {
			code := connect.CodeOf(err)
			w.WriteHeader(statusOf(code))
			_ = json.NewEncoder(w).Encode(map[string]string{"code": code.String(), "message": messageOf(err)})
			return
		}
		_ = json.NewEncoder(w).Encode(a) // fails only when the client is gone
	})
}
