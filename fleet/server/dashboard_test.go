package server

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"

	"github.com/gowhy/gowhy/fleet/config"
	"github.com/gowhy/gowhy/fleet/store"
)

// A dashboard is what a test looks at of a file for Grafana.
type dashboard struct {
	Templating struct {
		List []struct {
			Name, Type string
			Query      any
			Datasource source
		}
	}
	Panels []struct {
		ID         int
		Title      string
		Datasource source
		Targets    []struct{ RefID, Expr, LegendFormat, ProfileTypeID, LabelSelector string }
	}
}

type source struct{ Type, UID string }

// TestDashboard holds the dashboard of fleet/deploy to what the server prints and answers:
// each metric is there, with the labels that the dashboard groups by, and the service that
// it offers has a flame graph.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../deploy/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	listed := (&config.Config{Scrapes: []config.Scrape{{Job: "cart", HTTP: []config.HTTPDiscovery{{URL: "http://127.0.0.1:1", Interval: time.Minute}},
		Static: []config.Group{{Targets: []string{"127.0.0.1:1"}}}, Interval: time.Minute, Scheme: "http", Prefix: "/"}}}).Discovery(nil)
	url := startedWith(t, judged(t, time.Now().Truncate(time.Millisecond)), Options{Memory: 256 << 20, Settings: Settings{Targets: listed.Targets, Metrics: listed.Metrics}})
	if a, said := do(t, http.DefaultClient, "POST", url+"/ingest?name=shop", "", "", pprofOf(t, 1)); a.StatusCode != 200 {
		t.Fatal(said)
	}
	_, printed := do(t, http.DefaultClient, "GET", url+"/metrics", "", "", nil)
	labels := map[string][]string{} // by metric
	for _, line := range regexp.MustCompile(`(?m)^(\w+)(?:\{(.*)\})? [0-9.e+-]+$`).FindAllStringSubmatch(printed, -1) {
		labels[line[1]] = []string{}
		for _, l := range regexp.MustCompile(`(\w+)="(?:[^"\\]|\\.)*"`).FindAllStringSubmatch(line[2], -1) {
			labels[line[1]] = append(labels[line[1]], l[1])
		}
	}
	variables := map[string]string{} // the types of data sources
	for _, v := range d.Templating.List {
		if kind, ok := v.Query.(string); ok && v.Type == "datasource" {
			variables["${"+v.Name+"}"] = kind
		}
	}
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || variables[p.Datasource.UID] != p.Datasource.Type || len(p.Targets) == 0 {
			t.Errorf("%q: id %d, data source %q of type %q, %d targets, want an id of its own, type %q, some targets",
				p.Title, p.ID, p.Datasource.UID, p.Datasource.Type, len(p.Targets), variables[p.Datasource.UID])
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			switch p.Datasource.Type {
			case "prometheus":
				if wrong := expression(labels, target.Expr, target.LegendFormat); wrong != "" {
					t.Errorf("%q %s: %s: %s", p.Title, target.RefID, target.Expr, wrong)
				}
			default:
				grafanaFlame(t, url, target.ProfileTypeID, strings.ReplaceAll(target.LabelSelector, "$service", "shop"))
			}
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		query, _ := v.Query.(map[string]any)
		name, _ := query["labelName"].(string)
		kind, _ := query["profileTypeId"].(string)
		values, err := querierv1connect.NewQuerierServiceClient(http.DefaultClient, url).LabelValues(t.Context(),
			connect.NewRequest(&typesv1.LabelValuesRequest{Name: name, Matchers: []string{kind + "{}"}})) // as Grafana asks
		if err != nil || variables[v.Datasource.UID] != v.Datasource.Type || !slices.Contains(values.Msg.GetNames(), "shop") {
			t.Errorf("variable %s: %v, %v", v.Name, values, err)
		}
	}
}

// expression returns what is wrong with one of Prometheus, which has one metric, by the labels
// of metrics.
func expression(labels map[string][]string, expr, legend string) string {
	names := regexp.MustCompile(`\bgowhy_\w+`).FindAllString(expr, -1)
	if len(names) != 1 {
		return "it does not have one metric"
	}
	known, ok := labels[names[0]]
	if !ok {
		return "/metrics has no " + names[0]
	}
	var by []string
	for _, m := range regexp.MustCompile(`\bby \(([\w, ]+)\)`).FindAllStringSubmatch(expr, -1) {
		by = append(by, strings.Split(m[1], ", ")...)
	}
	for _, l := range by {
		if !slices.Contains(known, l) {
			return names[0] + " has no label " + l
		}
	}
	for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(legend, -1) {
		if !slices.Contains(by, m[1]) {
			return "the legend has " + m[1] + ", which the expression does not keep"
		}
	}
	return ""
}

// grafanaFlame asks for a flame graph as Grafana does.
func grafanaFlame(t *testing.T, url, kind, selector string) {
	t.Helper()
	c := querierv1connect.NewQuerierServiceClient(http.DefaultClient, url)
	now := time.Now()
	a, err := c.SelectMergeStacktraces(t.Context(), connect.NewRequest(&querierv1.SelectMergeStacktracesRequest{
		ProfileTypeID: kind, LabelSelector: selector, Start: now.Add(-time.Hour).UnixMilli(), End: now.Add(time.Minute).UnixMilli()}))
	if err != nil || kind != string(store.CPU) || a.Msg.GetFlamegraph().GetTotal() != 1 {
		t.Errorf("%s%s: %v, %v", kind, selector, a, err)
	}
}
