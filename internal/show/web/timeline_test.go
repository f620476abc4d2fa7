package web

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/know/model"
)

// timelineView returns a run of two goroutines in a tenth of a second.
func timelineView(t *testing.T) *View {
	t.Helper()
	p := &exectrace.Piece{From: 1000, To: 1000 + 1e8, Trusted: true, Reasons: []string{"", "network"}, Threads: []int64{9},
		Lives: []exectrace.Life{{G: 1, Group: "main.main"}, {G: 2, Group: strings.Repeat("<b>", 1<<20)}},
		Spans: exectrace.Spans{{
			{From: 1000, To: 1000 + 1e8, State: exectrace.Running, Proc: 0, Thread: 0},
			{From: 1000, To: 1000 + 1e8, Life: 1, State: exectrace.Waiting, Reason: 1, Proc: -1, Thread: -1},
		}},
		Procs: []exectrace.ProcSpan{{From: 1000, To: 1000 + 1e8, Proc: 0, Thread: 9}}}
	b := &timeline.Builder{}
	b.Add(p)
	v := &View{Model: &model.Model{}, Timeline: b.Timeline(nil, nil)}
	t.Cleanup(v.Timeline.Close)
	return v
}

func asked(s string) url.Values {
	q, err := url.ParseQuery(s)
	if err != nil {
		panic(err)
	}
	return q
}

// TestTilesLayout reads tiles as api.go says that they are written.
func TestTilesLayout(t *testing.T) {
	v := timelineView(t)
	about, err := v.timeline(nil)
	if err != nil {
		t.Fatal(err)
	}
	info := about.(Timeline)
	data, err := v.tiles(asked(fmt.Sprintf("level=%d&tile=0&lanes=gc,g:0,nobody,p:0", info.MaxLevel)))
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint32(data)
	var head Tiles
	d := json.NewDecoder(bytes.NewReader(data[4 : 4+n]))
	d.DisallowUnknownFields()
	if err := d.Decode(&head); err != nil {
		t.Fatal(err)
	}
	if head.Level != info.MaxLevel || len(head.Lanes) != 3 || !head.Lanes[0].Empty || head.Lanes[1].ID != "g:0" || head.Lanes[2].ID != "p:0" {
		t.Fatalf("tiles = %+v, want the coarsest level of 3 lanes: an empty one, g:0 and p:0", head)
	}
	rest := data[4+n:]
	lane := 256 * (len(info.States) + 1)
	if len(rest) != 2*lane {
		t.Fatalf("%d bytes follow, want two lanes of %d", len(rest), lane)
	}
	full := int(int64(1e8) >> info.MaxLevel) // the last bucket is not full
	for i, l := range head.Lanes[1:] {
		for b := range full {
			for st := range info.States {
				want := byte(0)
				if st == 0 {
					want = 255
				}
				if got := rest[i*lane+b*len(info.States)+st]; got != want {
					t.Fatalf("%s, bucket %d, %s: %d, want %d", l.ID, b, info.States[st], got, want)
				}
			}
		}
		if l.Max != 1 {
			t.Errorf("%s: max %v, want 1", l.ID, l.Max)
		}
	}
}

// TestTimelineNames: a name of any length is cut, and no answer is without bound.
func TestTimelineNames(t *testing.T) {
	v := timelineView(t)
	for what, ask := range map[string]func(url.Values) (any, error){"": v.timeline, "parent=groups": v.lanes, "q=b": v.search} {
		answer, err := ask(asked(what))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(answer)
		if err != nil || len(text) > 64<<10 {
			t.Errorf("%q: %d bytes, %v; want at most 64 KiB", what, len(text), err)
		}
	}
}

// TestTimelineRefusals: what cannot be answered is said, with its status.
func TestTimelineRefusals(t *testing.T) {
	v := timelineView(t)
	value := func(f func(url.Values) (any, error)) func(url.Values) error {
		return func(q url.Values) error { _, err := f(q); return err }
	}
	tiles := func(q url.Values) error { _, err := v.tiles(q); return err }
	for _, c := range []struct {
		ask    func(url.Values) error
		query  string
		status int
		what   string
	}{
		{tiles, "level=2&tile=0&lanes=ps", 400, "there are tiles of level"},
		{tiles, "level=19&tile=99999&lanes=ps", 400, "has tiles 0 to"},
		{tiles, "level=x", 400, "level="},
		{tiles, "level=19&lanes=" + strings.Repeat("a,", 400), 400, "401 lanes"},
		{value(v.lanes), "parent=nobody", 400, `no lane "nobody"`},
		{value(v.lanes), "parent=groups&q=state:running", 400, "does not choose lanes"},
		{value(v.search), "q=state:odd", 400, "no state"},
		{value(v.selection), "from=9&to=3", 400, "ends before it begins"},
		{value(v.edges), "lanes=go:77", 400, "no lane"},
		{value(v.at), "lane=g:-1&at=0", 400, "no lane"},
		{value((&View{Model: &model.Model{}}).at), "", 404, "no execution trace"},
	} {
		err := c.ask(asked(c.query))
		if p, status := explain(err); status != c.status || !strings.Contains(p.What, c.what) {
			t.Errorf("%s: status %d, error %v; want %d and %q", c.query, status, err, c.status, c.what)
		}
	}
}
