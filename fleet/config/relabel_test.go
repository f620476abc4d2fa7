package config

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gowhy/gowhy/fleet/store"
)

// TestRelabel has the targets that rules make of groups.
func TestRelabel(t *testing.T) {
	for _, c := range []struct {
		rules, groups string
		want          []string // SERVICE INSTANCE URL LABELS
		wrong         string
	}{
		{"[]", "[{targets: [a:1], labels: {job: cart, zone: z}}]", []string{"cart a:1 http://a:1/debug/pprof zone=z"}, ""},
		{"[]", "[{targets: [a:1], labels: {job: cart, service_name: s}}]", []string{"s a:1 http://a:1/debug/pprof job=cart"}, ""},
		{"[]", "[{targets: [a:1], labels: {__scheme__: https, __profile_path_prefix__: /p, __meta_x: y}}]", []string{"shop a:1 https://a:1/p "}, ""},
		{"[{source_labels: [__meta_app], target_label: service_name}, {action: labelmap, regex: __meta_label_(.+)}]",
			"[{targets: [a:1], labels: {__meta_app: cart, __meta_label_zone: z}}]", []string{"cart a:1 http://a:1/debug/pprof zone=z"}, ""},
		{"[{source_labels: [__meta_app], target_label: job}, {source_labels: [job, __scheme__, __profile_path_prefix__], separator: '', target_label: all}]",
			"[{targets: [a:1], labels: {__meta_app: cart}}]", []string{"cart a:1 http://a:1/debug/pprof all=carthttp/debug/pprof"}, ""},
		{"[{source_labels: [__address__], regex: '([^:]+):.*', target_label: __address__, replacement: '$1:6060'}, {target_label: instance, replacement: one}]",
			"[{targets: ['a:80']}]", []string{"shop one http://a:6060/debug/pprof instance=one"}, ""},
		{"[{source_labels: [__address__], regex: 'a.*', action: drop}]", "[{targets: ['a:1', 'b:1']}]", []string{"shop b:1 http://b:1/debug/pprof "}, ""},
		{"[{regex: zone, action: labeldrop}]", "[{targets: [a], labels: {zone: z, b: c}}]", []string{"shop a http://a/debug/pprof b=c"}, ""},
		{"[{source_labels: [zone], regex: z, target_label: __address__, replacement: 'u@h'}]", "[{targets: [a, b], labels: {zone: z}}, {targets: [c]}]",
			[]string{"shop c http://c/debug/pprof "}, `a target "a" of job "shop": target "u@h" is not a HOST:PORT like shop-1:6060; and 1 more of its targets`},
		{"[{target_label: __scheme__, replacement: ftp}]", "[{targets: [a]}]", nil, `__scheme__ is "ftp", not http or https`},
		{"[{target_label: __profile_path_prefix__, replacement: ''}]", "[{targets: [a]}]", nil, `__profile_path_prefix__ is "", not a path`},
		{"[{target_label: __address__, replacement: ''}]", "[{targets: [a]}]", nil, `target "" is not a HOST:PORT`},
	} {
		f, err := Load(write(t, t.TempDir(), "fleet.yaml", "scrape_configs: [{job_name: shop, relabel_configs: "+c.rules+", static_configs: "+c.groups+"}]"))
		if err != nil {
			t.Errorf("%s: %v", c.rules, err)
			continue
		}
		targets, err := f.Discovery(nil).Targets()
		if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", c.rules, err, c.wrong)
		}
		var got []string
		for _, x := range targets {
			var labels []string
			for _, l := range x.Source.Labels {
				labels = append(labels, l.Name+"="+l.Value)
			}
			got = append(got, fmt.Sprint(x.Source.Service, " ", x.Source.Instance, " ", x.URL, " ", strings.Join(labels, ",")))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s\n got %q\nwant %q", c.rules, got, c.want)
		}
	}
}

// TestHTTPDiscovery runs a discovery that asks a server: the list of one token, a failure
// that changes nothing, and another configuration that knows what the one before it knew.
func TestHTTPDiscovery(t *testing.T) {
	var status atomic.Int64
	status.Store(http.StatusOK)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer first" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.Load()))
		fmt.Fprint(w, `[{"targets": ["a:1", "b:1"], "labels": {"__meta_dc": "london", "__metrics_path__": "/metrics"}}, {"targets": ["c:1"]}]`)
	}))
	defer s.Close()
	dir := t.TempDir()
	write(t, dir, "token", "first")
	const rules = "relabel_configs: [{source_labels: [__meta_dc, __meta_url], regex: '(.+);http://.*/list', target_label: dc}]"
	load := func(before *Discovery, more string) *Discovery {
		t.Helper()
		c, err := Load(write(t, dir, "fleet.yaml", "scrape_configs: [{job_name: 'sh\"op', http_sd_configs: [{url: "+s.URL+"/list, bearer_token_file: token}], "+rules+more+"}]"))
		if err != nil {
			t.Fatal(err)
		}
		return c.Discovery(before)
	}
	// once runs a discovery until it says something.
	once := func(d *Discovery) (err error) {
		ctx, stop := context.WithCancel(t.Context())
		d.Run(ctx, func(e error) { err = e; stop() })
		stop()
		return err
	}
	urls := func(d *Discovery) (all []string) {
		t.Helper()
		targets, err := d.Targets()
		if err != nil {
			t.Error(err)
		}
		for _, x := range targets {
			all = append(all, x.URL)
		}
		if len(targets) == 3 && !reflect.DeepEqual(targets[0].Source.Labels, []store.Label{{Name: "dc", Value: "london"}}) {
			t.Errorf("the first target has the labels %v, want [{dc london}]", targets[0].Source.Labels)
		}
		return all
	}
	listed := []string{"http://a:1/debug/pprof", "http://b:1/debug/pprof", "http://c:1/debug/pprof"}
	d := load(nil, "")
	if got := urls(d); got != nil {
		t.Errorf("before it ran: %q", got)
	}
	if err := once(d); err != nil {
		t.Error(err)
	}
	if got := urls(d); !slices.Equal(got, listed) {
		t.Errorf("%q", got)
	}
	status.Store(http.StatusBadGateway)
	d = load(d, ", scrape_interval: 30s")
	if err := once(d); err == nil || !strings.Contains(err.Error(), `job "sh\"op": http_sd `+s.URL+"/list: the answer has status 502") {
		t.Error(err)
	}
	write(t, dir, "token", "second")
	if err := once(d); err == nil || !strings.Contains(err.Error(), "status 401") {
		t.Error(err)
	}
	if got := urls(d); !slices.Equal(got, listed) {
		t.Errorf("after failures: %q", got)
	}
	var metrics strings.Builder
	d.Metrics(&metrics)
	for _, want := range []string{`gowhy_fleet_http_sd_failures_total{job="sh\"op"} 2` + "\n", `gowhy_fleet_http_sd_targets{job="sh\"op"} 3` + "\n"} {
		if !strings.Contains(metrics.String(), want) {
			t.Errorf("no %s in\n%s", want, metrics.String())
		}
	}
}
