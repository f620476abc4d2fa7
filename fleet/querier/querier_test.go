package querier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

var start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// filled returns a store with two services of an hour, and one of another tenant.
func filled(t *testing.T) store.Reader {
	t.Helper()
	r := new(storetest.Reference)
	plan := simulate.Plan{Seed: 1, Start: start, Length: time.Hour, Step: 10 * time.Minute}
	for _, name := range []string{"cart", "shop"} {
		plan.Services = append(plan.Services, simulate.Service{Name: name, Processes: 3, Versions: []simulate.Version{{Name: "v1"}}})
	}
	for b := range plan.Batches() {
		b.Source.Labels = []store.Label{{Name: "zone", Value: b.Source.Instance[len(b.Source.Instance)-1:]}}
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	plan.Tenant, plan.Services = "other", []simulate.Service{{Name: "secret", Processes: 1, Versions: []simulate.Version{{Name: "v1"}}}}
	for b := range plan.Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// client is Pyroscope's own, of a server of a reader.
func client(t *testing.T, r store.Reader) querierv1connect.QuerierServiceClient {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(Handler(r))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return querierv1connect.NewQuerierServiceClient(http.DefaultClient, server.URL)
}

func span() (from, until int64) { return start.UnixMilli(), start.Add(2 * time.Hour).UnixMilli() }

// TestLists asks what Grafana's data source asks to fill its menus.
func TestLists(t *testing.T) {
	c := client(t, filled(t))
	from, until := span()
	types, err := c.ProfileTypes(t.Context(), connect.NewRequest(&querierv1.ProfileTypesRequest{Start: from, End: until}))
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(types.Msg.ProfileTypes, func(p *typesv1.ProfileType) bool { return p.ID == string(store.CPU) }); i < 0 ||
		types.Msg.ProfileTypes[i].Name != "process_cpu" || types.Msg.ProfileTypes[i].SampleUnit != "nanoseconds" || len(types.Msg.ProfileTypes) != 6 {
		t.Errorf("types %v", types.Msg.ProfileTypes)
	}
	names, err := c.LabelNames(t.Context(), connect.NewRequest(&typesv1.LabelNamesRequest{Start: from, End: until, Matchers: []string{`{service_name="shop"}`}}))
	if err != nil || fmt.Sprint(names.Msg.Names) != "[__profile_type__ service_name zone]" {
		t.Errorf("names %v, %v", names, err)
	}
	for name, want := range map[string]string{"service_name": "[cart shop]", "zone": "[0 1 2]", "nowhere": "[]"} {
		values, err := c.LabelValues(t.Context(), connect.NewRequest(&typesv1.LabelValuesRequest{Name: name, Start: from, End: until}))
		if err != nil || fmt.Sprint(values.Msg.Names) != want {
			t.Errorf("values of %s: %v, %v, want %s", name, values, err, want)
		}
	}
	series, err := c.Series(t.Context(), connect.NewRequest(&querierv1.SeriesRequest{Start: from, End: until, LabelNames: []string{"service_name"}}))
	if err != nil || len(series.Msg.LabelsSet) != 2 || series.Msg.LabelsSet[0].Labels[0].Value != "cart" {
		t.Errorf("series %v, %v", series, err)
	}
	request := connect.NewRequest(&typesv1.LabelValuesRequest{Name: "service_name"}) // without a time
	request.Header().Set("X-Scope-OrgID", "other")
	values, err := c.LabelValues(t.Context(), request)
	if err != nil || fmt.Sprint(values.Msg.Names) != "[secret]" {
		t.Errorf("another tenant's: %v, %v", values, err)
	}
}

// TestSelectSeries compares with what the store says: steps by their ends, from the one that
// ends at the start to the last that ends in the span.
func TestSelectSeries(t *testing.T) {
	r := filled(t)
	c := client(t, r)
	from, until := span()
	answer, err := c.SelectSeries(t.Context(), connect.NewRequest(&querierv1.SelectSeriesRequest{
		ProfileTypeID: string(store.CPU), LabelSelector: `{service_name="shop"}`, Start: from, End: until + 5*60*1000, Step: 600, GroupBy: []string{"zone"}}))
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Series(t.Context(), store.Selection{Service: "shop", Type: store.CPU, From: start.Add(-10 * time.Minute), Until: start.Add(2 * time.Hour)}, 10*time.Minute, store.ByLabel("zone"))
	if err != nil || len(want.Series) != 3 || len(answer.Msg.Series) != 3 {
		t.Fatalf("%d series of %d, %v", len(answer.Msg.Series), len(want.Series), err)
	}
	for i, s := range want.Series {
		got := answer.Msg.Series[i]
		if got.Labels[0].Name != "zone" || got.Labels[0].Value != s.Key || len(got.Points) != len(s.Points) {
			t.Errorf("series %v, want %v", got, s)
			continue
		}
		for k, p := range s.Points {
			if got.Points[k].Timestamp != p.At.Add(10*time.Minute).UnixMilli() || got.Points[k].Value != float64(p.Value) {
				t.Errorf("point %v, want %v", got.Points[k], p)
			}
		}
	}
}

// A bar is one of a flame graph, by its absolute place.
type bar struct {
	from, total, self int64
	name              string
}

func bars(t *testing.T, g *querierv1.FlameGraph) (levels [][]bar) {
	t.Helper()
	for _, l := range g.Levels {
		var level []bar
		end := int64(0)
		for i := 0; i+3 < len(l.Values); i += 4 {
			b := bar{end + l.Values[i], l.Values[i+1], l.Values[i+2], g.Names[l.Values[i+3]]}
			if l.Values[i] < 0 || b.total < b.self {
				t.Fatalf("bar of %s %d after the last, with %d itself of %d, "+
					"want it behind the last, with all of itself or less",
					b.name, l.Values[i], b.self, b.total)
			}
			end = b.from + b.total
			level = append(level, b)
		}
		levels = append(levels, level)
	}
	return levels
}

// TestFlame holds the flame graph to the sums of the stacks, whole and cut.
func TestFlame(t *testing.T) {
	r := filled(t)
	c := client(t, r)
	from, until := span()
	stacks, err := r.Stacks(t.Context(), store.Selection{Service: "shop", Type: store.CPU, From: start, Until: start.Add(2 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	selves := map[string]int64{}
	for _, s := range stacks.Samples {
		selves[stacks.Frames[s.Stack][0].Function] += s.Value
	}
	for _, most := range []int64{0, 10, 100} {
		request := &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: string(store.CPU), LabelSelector: `{service_name="shop"}`, Start: from, End: until}
		if most > 0 {
			request.MaxNodes = &most
		}
		answer, err := c.SelectMergeStacktraces(t.Context(), connect.NewRequest(request))
		if err != nil {
			t.Fatal(err)
		}
		g := answer.Msg.Flamegraph
		levels := bars(t, g)
		if root := levels[0]; len(root) != 1 || root[0].name != "total" || root[0].total != stacks.Total || g.Total != stacks.Total {
			t.Fatalf("the root level is %+v in a graph of %d, want one bar, total, of %d", root, g.Total, stacks.Total)
		}
		var all int64
		shown, others, is := 0, 0, map[string]int64{}
		for n, level := range levels {
			for _, b := range level {
				all += b.self
				is[b.name] += b.self
				if b.name == "other" {
					others++
				} else {
					shown++
				}
				if n > 0 && !slices.ContainsFunc(levels[n-1], func(p bar) bool { return p.from <= b.from && b.from+b.total <= p.from+p.total }) {
					t.Errorf("%+v of level %d is under none of the bars above, want it within one", b, n)
				}
			}
		}
		if all != stacks.Total {
			t.Errorf("at most %d nodes: they have %d themselves, of %d", most, all, stacks.Total)
		}
		if most == 0 && (others > 0 || fmt.Sprint(is) != fmt.Sprint(withRoot(selves, is))) {
			t.Errorf("whole: %d others, %v, want %v", others, is, selves)
		}
		if most > 0 && (others == 0 || int64(shown) < most || int64(shown) > most+20) {
			t.Errorf("at most %d nodes: %d and %d others", most, shown, others)
		}
	}
}

// withRoot adds the names that have nothing themselves.
func withRoot(selves, is map[string]int64) map[string]int64 {
	for name, v := range is {
		if v == 0 {
			selves[name] += 0
		}
	}
	return selves
}

func TestMatchers(t *testing.T) {
	for selector, want := range map[string]string{
		"": "[]", "{}": "[]", `{service_name="shop"}`: "[{service_name shop}]", `{ a = "b" , c="d\"e" }`: `[{a b} {c d"e}]`, `{a=~"plain"}`: "[{a plain}]",
		`{a=~".*", b!="", c=~".+"}`: "[]", `{a="b",}`: "[{a b}]",
		`process_cpu:cpu:nanoseconds:cpu:nanoseconds{a="b"}`: "[{__profile_type__ process_cpu:cpu:nanoseconds:cpu:nanoseconds} {a b}]",
		"a": "braces", `a:b{}`: "braces", `a:b:c:d:e`: "braces", "{": "braces", `{a}`: "read on", `{a="b" c="d"}`: "read on", `{a="b}`: "read on", `{a=~"x|y"}`: "equal", `{a!="b"}`: "equal", `{a="\q"}`: "quoted",
		// Each of these would be compared with each source, or compiled.
		"{" + strings.Repeat(`a="b",`, mostMatchers+1) + "}":      "more than 32 labels",
		"{" + strings.Repeat(`a=~".*",`, mostMatchers+1) + "}":    "more than 32 labels",
		`{` + strings.Repeat("a", store.LongestName+1) + `="b"}`:  "a name has at most",
		`{a="` + strings.Repeat("b", store.LongestValue+1) + `"}`: "a value 2048",
		`{a=~"` + strings.Repeat("(b|c)*", 300) + `"}`:            "only values that are equal",
		`{a=~"((((x{1000}){1000}){1000}){1000})"}`:                "only values that are equal",
		strings.Repeat(" ", longestSelector) + "{}":               "are the most",
		"{a=\"" + strings.Repeat("b", store.LongestValue) + "\"}": "[{a " + strings.Repeat("b", store.LongestValue) + "}]",
	} {
		got, err := matchers(selector)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", selector, got, err, want)
		}
	}
}

// partial is a store that lost a part, or cannot answer at all.
type partial struct {
	store.Reader
	err error
}

func (p partial) Stacks(context.Context, store.Selection) (store.Stacks, error) {
	return store.Stacks{Missing: store.Missing{"shard 2"}}, p.err
}

func (p partial) Values(context.Context, store.Selection, store.By) (store.Values, error) {
	return store.Values{Missing: store.Missing{"shard 2"}}, p.err
}

// TestRefusals holds that what cannot be answered is an error and no other answer.
func TestRefusals(t *testing.T) {
	from, until := span()
	whole, broken := client(t, filled(t)), client(t, partial{err: errors.New("open /secret: denied")})
	average := typesv1.TimeSeriesAggregationType_TIME_SERIES_AGGREGATION_TYPE_AVERAGE
	series := func(change func(*querierv1.SelectSeriesRequest)) error {
		m := &querierv1.SelectSeriesRequest{ProfileTypeID: string(store.CPU), LabelSelector: "{}", Start: from, End: until, Step: 60}
		change(m)
		_, err := whole.SelectSeries(t.Context(), connect.NewRequest(m))
		return err
	}
	flame := func(c querierv1connect.QuerierServiceClient, m *querierv1.SelectMergeStacktracesRequest) error {
		_, err := c.SelectMergeStacktraces(t.Context(), connect.NewRequest(m))
		return err
	}
	values := func(c querierv1connect.QuerierServiceClient) error {
		_, err := c.LabelValues(t.Context(), connect.NewRequest(&typesv1.LabelValuesRequest{Name: "zone"}))
		return err
	}
	names := func(selectors ...string) error {
		_, err := whole.LabelNames(t.Context(), connect.NewRequest(&typesv1.LabelNamesRequest{Matchers: selectors}))
		return err
	}
	many, long := slices.Repeat([]string{"zone"}, mostMatchers+1), strings.Repeat("z", store.LongestName+1)
	_, byMany := whole.Series(t.Context(), connect.NewRequest(&querierv1.SeriesRequest{LabelNames: many}))
	_, ofLong := whole.LabelValues(t.Context(), connect.NewRequest(&typesv1.LabelValuesRequest{Name: long}))
	_, diff := whole.Diff(t.Context(), connect.NewRequest(&querierv1.DiffRequest{}))
	_, byZone := whole.Series(t.Context(), connect.NewRequest(&querierv1.SeriesRequest{LabelNames: []string{"zone"}}))
	for name, c := range map[string]struct {
		err  error
		code connect.Code
	}{
		"well":                  {series(func(*querierv1.SelectSeriesRequest) {}), 0},
		"many steps":            {series(func(m *querierv1.SelectSeriesRequest) { m.Step = 0.001 }), connect.CodeInvalidArgument},
		"no step":               {series(func(m *querierv1.SelectSeriesRequest) { m.Step = 0 }), connect.CodeInvalidArgument},
		"backwards":             {series(func(m *querierv1.SelectSeriesRequest) { m.End = 1 }), connect.CodeInvalidArgument},
		"a mean":                {series(func(m *querierv1.SelectSeriesRequest) { m.Aggregation = &average }), connect.CodeUnimplemented},
		"two labels":            {series(func(m *querierv1.SelectSeriesRequest) { m.GroupBy = []string{"a", "b"} }), connect.CodeUnimplemented},
		"a bad selector":        {series(func(m *querierv1.SelectSeriesRequest) { m.LabelSelector = "{" }), connect.CodeInvalidArgument},
		"many selectors":        {names(slices.Repeat([]string{"{}"}, mostMatchers+1)...), connect.CodeInvalidArgument},
		"many labels of all":    {names(slices.Repeat([]string{`{a="b",c="d"}`}, mostMatchers/2+1)...), connect.CodeInvalidArgument},
		"series by many":        {byMany, connect.CodeInvalidArgument},
		"values of a long name": {ofLong, connect.CodeInvalidArgument},
		"series by a long name": {series(func(m *querierv1.SelectSeriesRequest) { m.GroupBy = []string{long} }), connect.CodeInvalidArgument},
		"a flame of no type":    {flame(whole, &querierv1.SelectMergeStacktracesRequest{}), connect.CodeInvalidArgument},
		"a tree":                {flame(whole, &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: "x", Format: querierv1.ProfileFormat_PROFILE_FORMAT_TREE}), connect.CodeUnimplemented},
		"a difference":          {diff, connect.CodeUnimplemented},
		"series by zone":        {byZone, connect.CodeUnimplemented},
		"a part is missing":     {flame(client(t, partial{}), &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: "x"}), connect.CodeUnavailable},
		"values without a part": {values(client(t, partial{})), connect.CodeUnavailable},
		"a broken store":        {flame(broken, &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: "x"}), connect.CodeInternal},
		"values of it":          {values(broken), connect.CodeInternal},
	} {
		if c.code == 0 && c.err != nil || c.code != 0 && connect.CodeOf(c.err) != c.code || c.err != nil && strings.Contains(c.err.Error(), "secret") {
			t.Errorf("%s: %v, want %v", name, c.err, c.code)
		}
	}
}

func FuzzMatchers(f *testing.F) {
	f.Add(`{service_name="shop", a=~"b"}`)
	f.Fuzz(func(t *testing.T, selector string) {
		labels, err := matchers(selector)
		if err == nil && len(labels) > strings.Count(selector, `"`)/2+1 {
			t.Fatalf("%q: %v", selector, labels)
		}
	})
}
