package querier

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"

	"github.com/gowhy/gowhy/fleet/store"
)

// rendering asks a store for a flame graph, two hours after the start of what it has.
func rendering(t *testing.T, r store.Reader, tenant string, question url.Values) (status int, a rendered, body string) {
	t.Helper()
	q, w := httptest.NewRequest("GET", RenderPath+"?"+question.Encode(), nil), httptest.NewRecorder()
	q.Header.Set("X-Scope-OrgID", tenant)
	Render(r, func() time.Time { return start.Add(2 * time.Hour) }).ServeHTTP(w, q)
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return w.Code, a, w.Body.String()
}

// TestRender holds what is drawn to what is stored: the total, each function's own part and
// the sums over time.
func TestRender(t *testing.T) {
	r := filled(t)
	for name, c := range map[string]struct {
		kind       store.Type
		query      string
		from       string
		service    string
		labels     []store.Label
		span       time.Duration // before the end
		unit       string
		rate, step int64
	}{
		"all services":    {kind: store.CPU, from: "now-2h", span: 2 * time.Hour, unit: "samples", rate: 1e9, step: 10},
		"one":             {kind: store.AllocSpace, query: `{service_name="shop"}`, from: "1793491200", service: "shop", span: 2 * time.Hour, unit: "bytes", rate: 100, step: 10},
		"in milliseconds": {kind: store.MutexDelay, query: `{service_name="cart"}`, from: "1793493000000", service: "cart", span: 90 * time.Minute, unit: "nanoseconds", rate: 100, step: 10},
		"a process":       {kind: store.Goroutines, query: `{zone="1"}`, from: "now-100m", labels: []store.Label{{Name: "zone", Value: "1"}}, span: 100 * time.Minute, unit: "objects", rate: 100, step: 10},
		"a week":          {kind: store.CPU, from: "now-1w", span: 7 * 24 * time.Hour, unit: "samples", rate: 1e9, step: 600},
		"nothing":         {kind: store.CPU, query: `{service_name="nosuch"}`, from: "now-2h", service: "nosuch", span: 2 * time.Hour, unit: "samples", rate: 1e9, step: 10},
	} {
		end := start.Add(2 * time.Hour)
		stacks, err := r.Stacks(t.Context(), store.Selection{Service: c.service, Labels: c.labels, Type: c.kind, From: end.Add(-c.span), Until: end})
		if err != nil || (stacks.Total == 0) != (name == "nothing") {
			t.Fatalf("%s: %d, %v", name, stacks.Total, err)
		}
		status, a, body := rendering(t, r, "", url.Values{"query": {string(c.kind) + c.query}, "from": {c.from}, "until": {"now"}, "format": {"json"}, "groupBy": {"zone"}})
		if status != 200 || a.Version != 1 || a.Flamebearer.NumTicks != stacks.Total {
			t.Errorf("%s: %d, %d of %d: %.300s", name, status, a.Flamebearer.NumTicks, stacks.Total, body)
			continue
		}
		if m := a.Metadata; m.Format != "single" || m.Units != c.unit || m.SampleRate != c.rate || m.Name != strings.Split(string(c.kind), ":")[1] {
			t.Errorf("%s: format %q, units %q, rate %d, name %q, want single, %q, %d, %q",
				name, m.Format, m.Units, m.SampleRate, m.Name, c.unit, c.rate, strings.Split(string(c.kind), ":")[1])
		}
		want, most := map[string]int64{}, int64(0)
		for _, s := range stacks.Samples {
			want[stacks.Frames[s.Stack][0].Function] += s.Value
		}
		g := &querierv1.FlameGraph{Names: a.Flamebearer.Names}
		for _, l := range a.Flamebearer.Levels {
			g.Levels = append(g.Levels, &querierv1.Level{Values: l})
		}
		got := map[string]int64{}
		for _, level := range bars(t, g) {
			for _, b := range level {
				if most = max(most, b.self); b.self != 0 {
					got[b.name] += b.self
				}
			}
		}
		for function, v := range want {
			if got[function] != v {
				t.Errorf("%s: %s has %d, want %d", name, function, got[function], v)
			}
		}
		if len(got) != len(want) || a.Flamebearer.MaxSelf != most {
			t.Errorf("%s: %d functions of %d, the largest %d of %d", name, len(got), len(want), a.Flamebearer.MaxSelf, most)
		}
		if l := a.Timeline; l.StartTime != end.Add(-c.span).Unix() || l.DurationDelta != c.step || int64(len(l.Samples))*c.step != int64(c.span.Seconds()) || sum(l.Samples) != stacks.Total {
			t.Errorf("%s: from %d, %d steps of %d s, together %d of %d", name, l.StartTime, len(l.Samples), l.DurationDelta, sum(l.Samples), stacks.Total)
		}
		var groups int64
		for _, l := range a.Groups {
			groups += sum(l.Samples)
		}
		if groups != stacks.Total {
			t.Errorf("%s: %d in %d groups, of %d", name, groups, len(a.Groups), stacks.Total)
		}
	}
	_, whole, _ := rendering(t, r, "", url.Values{"query": {string(store.CPU)}, "from": {"now-2h"}})
	status, cut, _ := rendering(t, r, "", url.Values{"query": {string(store.CPU)}, "from": {"now-2h"}, "max-nodes": {"20"}})
	if a, b := nodes(whole), nodes(cut); status != 200 || b >= a || b > 60 || cut.Flamebearer.NumTicks != whole.Flamebearer.NumTicks || !slices.Contains(cut.Flamebearer.Names, "other") {
		t.Errorf("%d nodes of %d, %d of %d", b, a, cut.Flamebearer.NumTicks, whole.Flamebearer.NumTicks)
	}
	if _, other, _ := rendering(t, r, "other", url.Values{"query": {string(store.CPU) + `{service_name="shop"}`}, "from": {"now-2h"}}); other.Flamebearer.NumTicks != 0 {
		t.Error("another tenant's service is drawn")
	}
}

func nodes(a rendered) (n int) {
	for _, l := range a.Flamebearer.Levels {
		n += len(l) / 4
	}
	return n
}

func sum(all []int64) (n int64) {
	for _, v := range all {
		n += v
	}
	return n
}

// lacking is a store that has stacks and no course.
type lacking struct {
	store.Reader
	err error
}

func (l lacking) Stacks(context.Context, store.Selection) (store.Stacks, error) {
	return store.Stacks{}, nil
}

func (l lacking) Series(context.Context, store.Selection, time.Duration, store.By) (store.SeriesSet, error) {
	return store.SeriesSet{Missing: store.Missing{"shard 2"}}, l.err
}

// TestRenderRefused holds that what cannot be answered is an error that says what to write.
func TestRenderRefused(t *testing.T) {
	r := filled(t)
	broken := errors.New("open /secret: denied")
	for name, c := range map[string]struct {
		r        store.Reader
		question string
		status   int
		want     string
	}{
		"no query":             {r, "", 400, "query is missing"},
		"no type":              {r, `query={service_name="shop"}`, 400, "no type of profile"},
		"a word":               {r, `query=shop`, 400, "no type of profile"},
		"a bad selector":       {r, `query=a:b:c:d:e{a`, 400, "not in braces"},
		"a pattern":            {r, `query=a:b:c:d:e{a=~"b|c"}`, 400, "equal"},
		"no time":              {r, `query=a:b:c:d:e&from=yesterday`, 400, "write now-1h"},
		"before 1970":          {r, `query=a:b:c:d:e&from=now-99y`, 400, "before 1970"},
		"backwards":            {r, `query=a:b:c:d:e&from=now&until=now-1h`, 400, "not before"},
		"too long":             {r, `query=a:b:c:d:e&from=0&until=9223372036854775807`, 400, "too long"},
		"no number":            {r, `query=a:b:c:d:e&max-nodes=many`, 400, "no number"},
		"dot":                  {r, `query=a:b:c:d:e&format=dot`, 501, "only json"},
		"a mean":               {r, `query=a:b:c:d:e&aggregation=avg`, 501, "only sums"},
		"by two labels":        {r, `query=a:b:c:d:e&groupBy=a&groupBy=b`, 501, "one label"},
		"a part is missing":    {partial{}, `query=a:b:c:d:e`, 503, "shard 2"},
		"of the course":        {lacking{}, `query=a:b:c:d:e`, 503, "shard 2"},
		"a broken store":       {partial{err: broken}, `query=a:b:c:d:e`, 500, "cannot answer"},
		"its course":           {lacking{err: broken}, `query=a:b:c:d:e`, 500, "cannot answer"},
		"a client that leaves": {partial{err: context.Canceled}, `query=a:b:c:d:e`, 500, "gone"},
	} {
		v, err := url.ParseQuery(c.question)
		if err != nil {
			t.Fatal(err)
		}
		if status, _, body := rendering(t, c.r, "", v); status != c.status || !strings.Contains(body, c.want) || strings.Contains(body, "secret") {
			t.Errorf("%s: %d %s, want %d and %q", name, status, body, c.status, c.want)
		}
	}
}

func TestMoment(t *testing.T) {
	now := time.Unix(1793498400, 0)
	for text, want := range map[string]time.Time{
		"": now.Add(-time.Hour), "now": now, " now ": now, "now-30s": now.Add(-30 * time.Second), "now-1h": now.Add(-time.Hour), "now-2hours": now.Add(-2 * time.Hour),
		"now-3m": now.Add(-3 * time.Minute), "now-3min": now.Add(-3 * time.Minute), "now-1M": now.Add(-30 * day), "now-1mon": now.Add(-30 * day), "now-1w": now.Add(-7 * day), "now-1y": now.Add(-365 * day),
		"20260131": time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), "20261399": time.Unix(20261399, 0), "0": time.Unix(0, 0), "1793498400": now, "1793498400001": now.Add(time.Millisecond),
		"1793498400000001": now.Add(time.Microsecond), "1793498400000000001": now.Add(1),
	} {
		if got, err := moment(text, now, now.Add(-time.Hour)); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"-1", "+1", "now+1h", "now-", "now-1", "now-1x", "now--1h", "1e9", "17934984000", "99999999999999999999", "now-999999999y", "\x00"} {
		if got, err := moment(text, now, now); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// FuzzRender holds that whatever is asked is answered, with a bounded course, or refused.
func FuzzRender(f *testing.F) {
	f.Add("process_cpu:cpu:nanoseconds:cpu:nanoseconds{a=\"b\"}", "now-1h", "now", "100")
	f.Add("a:b:c:d:e", "0", "9223372036854775807", "")
	f.Fuzz(func(t *testing.T, query, from, until, most string) {
		q, w := httptest.NewRequest("GET", RenderPath+"?"+url.Values{"query": {query}, "from": {from}, "until": {until}, "max-nodes": {most}}.Encode(), nil), httptest.NewRecorder()
		Render(nowhere{}, func() time.Time { return start }).ServeHTTP(w, q)
		var a rendered
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != 200 && w.Code != 400 || w.Code == 200 && len(a.Timeline.Samples) > mostPoints {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
	})
}

// nowhere is a store that has nothing.
type nowhere struct{ store.Reader }

func (nowhere) Stacks(context.Context, store.Selection) (store.Stacks, error) {
	return store.Stacks{}, nil
}

func (nowhere) Series(context.Context, store.Selection, time.Duration, store.By) (store.SeriesSet, error) {
	return store.SeriesSet{}, nil
}
