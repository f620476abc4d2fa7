package server

import (
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

func TestSeries(t *testing.T) {
	value := func(n int64) map[string]int64 { return map[string]int64{"main": n} }
	r := kept(t, []sent{
		{"shop", "v1", "a", time.Minute, value(5), store.CPU},
		{"shop", "v1", "b", time.Minute, value(7), store.CPU},
		{"shop", "v2", "a", 11 * time.Minute, value(20), store.CPU},
		{"shop", "v2", "a", 59 * time.Minute, value(9), store.InuseSpace},
		{"cart", "v1", "a", time.Minute, value(100), store.CPU},
	})
	for query, want := range map[string]string{
		"service=shop&step=10m":            `{"step_ns":600000000000,"series":[{"key":"","total":32,"points":[[1000000000000,12],[1000000600000,20]]}],"omitted":0}`,
		"service=shop&step=10m&by=version": `"series":[{"key":"v2","total":20,"points":[[1000000600000,20]]},{"key":"v1","total":12,"points":[[1000000000000,12]]}]`,
		"by=service&limit=1":               `{"step_ns":18000000000,"series":[{"key":"cart","total":100,"points":[[1000000054000,100]]}],"omitted":1}`,
		"type=inuse_space&by=instance":     `"series":[{"key":"a","total":9,`,
		"by=label:zone":                    `"series":[{"key":"","total":132,`,
		"service=none":                     `"series":[],`,
		"step=1s":                          `makes more than 2000 points of 1h0m0s`,
		"step=1us":                         `is no duration of a millisecond or more`,
		"step=often":                       `is no duration`,
		"by=type":                          `by \"type\" is unknown`,
		"by=label:":                        `is unknown`,
	} {
		status, body := question(t, r, "series?from=now-1h&"+query, nil)
		if !strings.Contains(body, want) || (status == 200) != strings.Contains(want, "series") {
			t.Errorf("%s: %d %s, want %s", query, status, body, want)
		}
	}
}

// TestLevels holds that a level is the last of each process, once, whatever it was before.
func TestLevels(t *testing.T) {
	value := func(n int64) map[string]int64 { return map[string]int64{"main": n} }
	r := kept(t, []sent{
		{"shop", "v1", "gone", 10 * time.Minute, value(1000), store.InuseSpace},
		{"shop", "v1", "a", 50 * time.Minute, value(500), store.InuseSpace},
		{"shop", "v1", "a", 51 * time.Minute, value(5), store.InuseSpace},
		{"shop", "v1", "b", 52 * time.Minute, value(7), store.InuseSpace},
		{"shop", "v2", "b", 53 * time.Minute, value(70), store.InuseSpace},
		{"cart", "v1", "a", 53 * time.Minute, map[string]int64{"main": 1, "main;f": 2}, store.InuseSpace},
		{"idle", "v1", "a", 53 * time.Minute, value(3), store.CPU},
	})
	for query, want := range map[string]string{
		"": `{"levels":[{"service":"cart","version":"v1","instances":1,"value":3},{"service":"shop","version":"v1","instances":1,"value":5},` +
			`{"service":"shop","version":"v2","instances":1,"value":70}],"omitted":0}`,
		"&limit=1":      `{"levels":[{"service":"cart","version":"v1","instances":1,"value":3}],"omitted":3}`,
		"&service=none": `{"levels":[],"omitted":0}`,
	} {
		if status, body := question(t, r, "levels?type=inuse_space&from=now-1h"+query, nil); status != 200 || strings.TrimSpace(body) != want {
			t.Errorf("%q: %d %s, want %s", query, status, body, want)
		}
	}
}

func TestValues(t *testing.T) {
	r := new(storetest.Reference)
	b := &store.Batch{Source: store.Source{Service: "shop", Instance: "a", Labels: []store.Label{{Name: "region", Value: "east"}, {Name: "zone", Value: "z1"}}}, From: epoch, Until: epoch.Add(time.Minute)}
	if err := r.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"by=labels":         `{"values":["region","zone"],"omitted":0}`,
		"by=labels&limit=1": `{"values":["region"],"omitted":1}`,
		"by=label:zone":     `{"values":["z1"],"omitted":0}`,
		"by=service":        `{"values":["shop"],"omitted":0}`,
		"by=heat":           `is unknown`,
	} {
		if status, body := question(t, r, "values?"+query, nil); !strings.Contains(body, want) || (status == 200) != strings.HasPrefix(want, "{") {
			t.Errorf("%s: %d %s, want %s", query, status, body, want)
		}
	}
}
