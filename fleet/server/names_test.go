package server

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	collector "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otel "go.opentelemetry.io/proto/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// odd is what a name becomes that is not UTF-8: placeholder is of the same length, in texts
// of which libraries take no other.
const odd, clean, placeholder = "main.\xff\xfework", "main.\uFFFDwork", "main.@@work"

// oddNames returns a request of a client whose names are not UTF-8: a function's, a file's, a
// label's and a unit's.
func oddNames(data []byte) []byte {
	return bytes.ReplaceAll(data, []byte(placeholder), []byte(odd))
}

func oddPprof() []byte {
	var p []byte
	message := func(number protowire.Number, body []byte) {
		p = protowire.AppendBytes(protowire.AppendTag(p, number, protowire.BytesType), body)
	}
	for _, text := range []string{"", "cpu", "nanoseconds", odd} {
		message(6, []byte(text))
	}
	message(1, []byte{1 << 3, 1, 2 << 3, 2})
	message(11, []byte{1 << 3, 1, 2 << 3, 2})
	message(5, []byte{1 << 3, 1, 2 << 3, 3, 4 << 3, 3})
	message(4, append(protowire.AppendTag([]byte{1 << 3, 1}, 4, protowire.BytesType), 4, 1<<3, 1, 2<<3, 7))
	message(2, append(protowire.AppendTag([]byte{1 << 3, 1}, 2, protowire.BytesType), 1, 70))
	return p
}

func oddOTLP(t *testing.T) []byte {
	t.Helper()
	text := func(key, value string) *common.KeyValue {
		return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
	}
	data, err := proto.Marshal(&collector.ExportProfilesServiceRequest{
		Dictionary: &otel.ProfilesDictionary{
			StringTable: []string{"", "cpu", "nanoseconds", placeholder}, FunctionTable: []*otel.Function{{}, {NameStrindex: 3, FilenameStrindex: 3}},
			LocationTable: []*otel.Location{{}, {Lines: []*otel.Line{{FunctionIndex: 1, Line: 7}}}}, StackTable: []*otel.Stack{{}, {LocationIndices: []int32{1}}},
		},
		ResourceProfiles: []*otel.ResourceProfiles{{
			Resource: &resource.Resource{Attributes: []*common.KeyValue{text("service.name", "shop"), text("zone", placeholder)}},
			ScopeProfiles: []*otel.ScopeProfiles{{Profiles: []*otel.Profile{{
				SampleType: &otel.ValueType{TypeStrindex: 1, UnitStrindex: 2}, TimeUnixNano: uint64(time.Now().Add(-5 * time.Second).UnixNano()), DurationNano: 1e9,
				Samples: []*otel.Sample{{StackIndex: 1, Values: []int64{70}}}}}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return oddNames(data)
}

// TestNamesAreText sends names that are not UTF-8 in every way in, and asks as Grafana does:
// one such name once took away the flame graph of its service.
func TestNamesAreText(t *testing.T) {
	post := func(t *testing.T, url, media string, body []byte) {
		t.Helper()
		a, err := http.Post(url, media, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if said, _ := io.ReadAll(a.Body); a.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", a.StatusCode, said)
		}
	}
	field := func(number protowire.Number, body ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), bytes.Join(body, nil))
	}
	label := func(name, value string) []byte {
		return field(1, field(1, []byte(name)), field(2, []byte(value)))
	}
	at := fmt.Sprintf("&from=%d&until=%d", time.Now().Unix()-15, time.Now().Unix())
	for way, send := range map[string]func(t *testing.T, base string){
		"push": func(t *testing.T, base string) {
			series := field(1, label("service_name", "shop"), label("__name__", "process_cpu"), label("zone", odd), field(2, field(1, oddPprof())))
			post(t, base+"/push.v1.PusherService/Push", "application/proto", series)
		},
		"ingest": func(t *testing.T, base string) {
			post(t, base+"/ingest?name="+url.QueryEscape("shop{zone="+odd+"}")+at, "application/octet-stream", oddPprof())
		},
		"a form": func(t *testing.T, base string) {
			var b bytes.Buffer
			w := multipart.NewWriter(&b)
			f, _ := w.CreateFormFile("profile", "profile.pprof")
			f.Write(oddPprof())
			w.Close()
			post(t, base+"/ingest?name="+url.QueryEscape("shop{zone="+odd+"}")+at, w.FormDataContentType(), b.Bytes())
		},
		"OTLP": func(t *testing.T, base string) {
			post(t, base+"/v1development/profiles", "application/x-protobuf", oddOTLP(t))
		},
		"gRPC": func(t *testing.T, base string) {
			data := oddOTLP(t)
			body := append([]byte{0, 0, 0, byte(len(data) >> 8), byte(len(data))}, data...)
			r, _ := http.NewRequestWithContext(t.Context(), "POST", base+"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export", bytes.NewReader(body))
			r.Header.Set("Content-Type", "application/grpc+proto")
			two := &http.Transport{Protocols: new(http.Protocols)}
			two.Protocols.SetUnencryptedHTTP2(true)
			defer two.CloseIdleConnections()
			a, err := two.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Body.Close()
			io.Copy(io.Discard, a.Body)
			if code := a.Trailer.Get("Grpc-Status") + a.Header.Get("Grpc-Status"); code != "0" {
				t.Fatalf("gRPC status %s", code)
			}
		},
	} {
		t.Run(way, func(t *testing.T) {
			base := started(t, new(storetest.Reference))
			send(t, base)
			looksClean(t, base, store.CPU)
		})
	}
	t.Run("a scrape", func(t *testing.T) {
		program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(oddPprof()) }))
		defer program.Close()
		targets := func() ([]scrape.Target, error) {
			return []scrape.Target{{Source: store.Source{Service: "shop"}, URL: program.URL, Interval: 50 * time.Millisecond, Profiles: []string{"process_cpu"}, CPU: time.Millisecond}}, nil
		}
		base := startedWith(t, new(storetest.Reference), Options{Settings: Settings{Targets: targets}})
		for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(50 * time.Millisecond) {
			if _, body := get(t, base+"/api/v1/services?from=now-1h"); strings.Contains(body, "shop") {
				break
			}
		}
		looksClean(t, base, store.CPU)
	})
}

// looksClean asks for the flame graph and the values of labels, as Grafana does.
func looksClean(t *testing.T, base string, kind store.Type) {
	t.Helper()
	c := querierv1connect.NewQuerierServiceClient(http.DefaultClient, base)
	now := time.Now()
	from, until := now.Add(-time.Hour).UnixMilli(), now.Add(time.Minute).UnixMilli()
	flame, err := c.SelectMergeStacktraces(t.Context(), connect.NewRequest(&querierv1.SelectMergeStacktracesRequest{
		ProfileTypeID: string(kind), LabelSelector: `{service_name="shop"}`, Start: from, End: until}))
	if err != nil {
		t.Fatalf("the flame graph: %v", err)
	}
	if names := flame.Msg.Flamegraph.Names; len(names) != 2 || names[1] != clean {
		t.Errorf("functions are %q, want %q", names, clean)
	}
	series, err := c.SelectSeries(t.Context(), connect.NewRequest(&querierv1.SelectSeriesRequest{
		ProfileTypeID: string(kind), LabelSelector: `{service_name="shop"}`, Start: from, End: until, Step: 15, GroupBy: []string{"zone"}}))
	if err != nil {
		t.Errorf("the course by label: %v", err)
		return
	}
	for _, s := range series.Msg.Series {
		if zone := s.Labels[0].Value; zone != "" && zone != clean {
			t.Errorf("a label is %q, want %q", zone, clean)
		}
	}
}
