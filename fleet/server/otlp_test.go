package server

import (
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otel "go.opentelemetry.io/proto/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// TestOpenTelemetry sends a profile over gRPC to the port that has everything else, asks
// for it, and holds that failures are counted. The server ends while its client is there.
func TestOpenTelemetry(t *testing.T) {
	var c *grpc.ClientConn
	t.Cleanup(func() { c.Close() }) // after the server has ended
	url := started(t, new(storetest.Reference))
	c, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	text := func(key, value string) *common.KeyValue {
		return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
	}
	sample := &otel.Sample{StackIndex: 1, Values: []int64{70}}
	request := &collector.ExportProfilesServiceRequest{
		Dictionary: &otel.ProfilesDictionary{
			StringTable: []string{"", "cpu", "nanoseconds", "main.work", "main.go"}, FunctionTable: []*otel.Function{{}, {NameStrindex: 3, FilenameStrindex: 4}},
			LocationTable: []*otel.Location{{}, {Lines: []*otel.Line{{FunctionIndex: 1, Line: 7}}}}, StackTable: []*otel.Stack{{}, {LocationIndices: []int32{1}}},
		},
		ResourceProfiles: []*otel.ResourceProfiles{{
			Resource: &resource.Resource{Attributes: []*common.KeyValue{text("service.name", "shop"), text("service.version", "v1"), text("host.name", "a")}},
			ScopeProfiles: []*otel.ScopeProfiles{{Profiles: []*otel.Profile{{
				SampleType: &otel.ValueType{TypeStrindex: 1, UnitStrindex: 2}, TimeUnixNano: uint64(time.Now().Add(-5 * time.Second).UnixNano()), DurationNano: 1e9, Samples: []*otel.Sample{sample}}}}},
		}},
	}
	client := collector.NewProfilesServiceClient(c)
	if _, err := client.Export(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	sample.StackIndex = 9
	if _, err := client.Export(t.Context(), request); err == nil {
		t.Error("a stack that is not there was kept")
	}
	for path, want := range map[string]string{
		"/api/v1/services": `"name":"shop","version":"v1","instances":1`,
		"/api/v1/folded":   "main.work 70\n",
		"/metrics":         "requests_total{status=\"2xx\"} 1\n",
	} {
		if _, body := get(t, url+path); !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", path, body, want)
		}
	}
	if _, body := get(t, url+"/metrics"); !strings.Contains(body, "requests_total{status=\"4xx\"} 1\n") {
		t.Error(body)
	}
}
