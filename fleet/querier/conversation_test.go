package querier

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gowhy/gowhy/fleet/store"
)

// TestConversation asks, over plain HTTP, what a data source of Grafana asks from its menus to
// a panel, in Connect's two codecs: both give the same answer, whose types are exact, and
// fields that a later protocol has do no harm.
func TestConversation(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle(Handler(filled(t)))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	from, until := span()
	nodes := int64(16384)
	for _, c := range []struct {
		method      string
		asks, wants proto.Message
		has         string
	}{
		{"ProfileTypes", &querierv1.ProfileTypesRequest{Start: from, End: until}, new(querierv1.ProfileTypesResponse), `"ID":"` + string(store.CPU) + `"`},
		{"LabelNames", &typesv1.LabelNamesRequest{Start: from, End: until, Matchers: []string{"{}"}}, new(typesv1.LabelNamesResponse), `"service_name"`},
		{"LabelValues", &typesv1.LabelValuesRequest{Name: "service_name", Start: from, End: until, Matchers: []string{`{zone="1"}`}}, new(typesv1.LabelValuesResponse), `"cart"`},
		{"Series", &querierv1.SeriesRequest{Start: from, End: until, LabelNames: []string{"service_name", "__profile_type__"}}, new(querierv1.SeriesResponse), `"value":"shop"`},
		{"SelectMergeStacktraces", &querierv1.SelectMergeStacktracesRequest{ProfileTypeID: string(store.CPU), LabelSelector: `{service_name="shop"}`, Start: from, End: until, MaxNodes: &nodes},
			new(querierv1.SelectMergeStacktracesResponse), `"flamegraph":{"names":["total"`},
		{"SelectSeries", &querierv1.SelectSeriesRequest{ProfileTypeID: string(store.CPU), LabelSelector: `{service_name="shop"}`, Start: from, End: until, Step: 600, GroupBy: []string{"zone"}},
			new(querierv1.SelectSeriesResponse), `"points":[{"value":`},
	} {
		ask := func(media string, body []byte) string {
			t.Helper()
			r, err := http.NewRequest("POST", server.URL+"/querier.v1.QuerierService/"+c.method, bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", media)
			r.Header.Set("Connect-Protocol-Version", "1")
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			said, err := io.ReadAll(a.Body)
			if err != nil || a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != media {
				t.Errorf("%s as %s: %d %s %s %v", c.method, media, a.StatusCode, a.Header.Get("Content-Type"), said, err)
			}
			return string(said)
		}
		binary, err := proto.Marshal(c.asks)
		if err != nil {
			t.Fatal(err)
		}
		text, err := protojson.Marshal(c.asks)
		if err != nil {
			t.Fatal(err)
		}
		later := append(bytes.TrimSuffix(text, []byte("}")), `,"exemplarType":"EXEMPLAR_TYPE_NONE","later":{"a":[1]}}`...)
		want, got := c.wants, c.wants.ProtoReflect().New().Interface()
		if err := proto.Unmarshal([]byte(ask("application/proto", binary)), want); err != nil {
			t.Errorf("%s: %v", c.method, err)
		}
		said := ask("application/json", later)
		if err := protojson.Unmarshal([]byte(said), got); err != nil || !proto.Equal(got, want) {
			t.Errorf("%s: as JSON %v, as proto %v, %v", c.method, got, want, err)
		}
		if plain := strings.ReplaceAll(said, " ", ""); !strings.Contains(plain, c.has) {
			t.Errorf("%s: %s, want %s in it", c.method, said, c.has)
		}
	}
}
