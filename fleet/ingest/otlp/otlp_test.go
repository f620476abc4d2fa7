package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otel "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	zip "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/store"
)

// serve serves a store until the test ends, over HTTP/1.1 and HTTP/2.
func serve(t testing.TB, w store.Writer, o ingest.Options) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(Handler(w, o))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// dial returns the client of OpenTelemetry, over the gRPC of others.
func dial(t testing.TB, s *httptest.Server) collector.ProfilesServiceClient {
	t.Helper()
	c, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(s.URL, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return collector.NewProfilesServiceClient(c)
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// post sends over HTTP.
func post(t testing.TB, s *httptest.Server, media, encoding string, data []byte) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.URL+HTTPPath, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	r.Header.Set("Content-Encoding", encoding)
	r.Header.Set("X-Scope-OrgID", "red")
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, body
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ways are how a request is sent: each gives the answer as it was read by others.
var ways = map[string]func(testing.TB, *httptest.Server, *collector.ExportProfilesServiceRequest) (*collector.ExportProfilesServiceResponse, error){
	"protobuf": func(t testing.TB, s *httptest.Server, r *collector.ExportProfilesServiceRequest) (*collector.ExportProfilesServiceResponse, error) {
		return answered(post(t, s, "application/x-protobuf", "", marshal(t, r)))
	},
	"protobuf, gzip": func(t testing.TB, s *httptest.Server, r *collector.ExportProfilesServiceRequest) (*collector.ExportProfilesServiceResponse, error) {
		return answered(post(t, s, "application/x-protobuf", "gzip", gzipped(marshal(t, r))))
	},
	"JSON": func(t testing.TB, s *httptest.Server, r *collector.ExportProfilesServiceRequest) (*collector.ExportProfilesServiceResponse, error) {
		data, err := protojson.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return answered(post(t, s, "application/json", "", data))
	},
	"JSON, names of the .proto file": func(t testing.TB, s *httptest.Server, r *collector.ExportProfilesServiceRequest) (*collector.ExportProfilesServiceResponse, error) {
		data, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return answered(post(t, s, "application/json; charset=utf-8", "gzip", gzipped(data)))
	},
	"gRPC": func(t testing.TB, s *httptest.Server, r *collector.ExportProfilesServiceRequest) (*collector.ExportProfilesServiceResponse, error) {
		return dial(t, s).Export(metadata.AppendToOutgoingContext(t.Context(), "x-scope-orgid", "red"), r)
	},
	"gRPC, gzip": func(t testing.TB, s *httptest.Server, r *collector.ExportProfilesServiceRequest) (*collector.ExportProfilesServiceResponse, error) {
		return dial(t, s).Export(metadata.AppendToOutgoingContext(t.Context(), "x-scope-orgid", "red"), r, grpc.UseCompressor(zip.Name))
	},
}

// answered reads an answer over HTTP, a failure as the status of gRPC that it has.
func answered(r *http.Response, body []byte) (*collector.ExportProfilesServiceResponse, error) {
	read := proto.Unmarshal
	if r.Header.Get("Content-Type") == "application/json" {
		read = protojson.Unmarshal
	}
	if r.StatusCode != http.StatusOK {
		failure := status.New(codes.OK, "").Proto()
		if err := read(body, failure); err != nil {
			return nil, err
		}
		return nil, status.FromProto(failure).Err()
	}
	m := new(collector.ExportProfilesServiceResponse)
	return m, read(body, m)
}

// TestWays sends the same over each way, twice: what is kept is what the generated types
// say, and once.
func TestWays(t *testing.T) {
	for name, send := range ways {
		t.Run(name, func(t *testing.T) {
			m := &keeper{}
			s := serve(t, m, ingest.Options{})
			want := map[string]int64{}
			for seed := range uint64(3) {
				request := random(seed)
				sums, err := reference(request)
				if err != nil {
					t.Fatal(err)
				}
				for k, v := range sums {
					want[k] += v
				}
				request.ResourceProfiles[0].ScopeProfiles[0].Scope = &common.InstrumentationScope{Name: "profiler"}
				for range 2 {
					if answer, err := send(t, s, request); err != nil || answer.GetPartialSuccess() != nil {
						t.Fatalf("%v, %v", answer, err)
					}
				}
			}
			compare(t, m.kept(), want)
			if m.writes != 2*len(m.batches) || len(m.batches) < 20 {
				t.Errorf("%d batches of %d writes", len(m.batches), m.writes)
			}
			for _, b := range m.batches {
				if b.Source.Tenant != "red" {
					t.Fatalf("source of tenant %q, want red", b.Source.Tenant)
				}
			}
		})
	}
}

func compare(t *testing.T, got, want map[string]int64) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s\n got %d\nwant %d", k, got[k], v)
			return
		}
	}
	t.Errorf("%d sums, want %d", len(got), len(want))
}

// TestFailures holds that clients learn which failures they may repeat, and when.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		fail  error
		code  codes.Code
		http  int
		again bool
	}{
		{store.ErrFull, codes.ResourceExhausted, 429, true},
		{store.ErrClosed, codes.Unavailable, 503, true},
		{fmt.Errorf("write /srv/secret: %w", syscall.ENOSPC), codes.Unavailable, 503, true},
		{errors.New("write /srv/secret: I/O error"), codes.Internal, 500, false},
	} {
		s := serve(t, &keeper{fail: c.fail}, ingest.Options{RetryAfter: 7 * time.Second})
		for name, send := range ways {
			_, err := send(t, s, random(1))
			failure, _ := status.FromError(err)
			if failure.Code() != c.code || strings.Contains(failure.Message(), "secret") {
				t.Errorf("%v over %s: %v", c.fail, name, err)
			}
			if !strings.HasPrefix(name, "gRPC") {
				continue
			}
			details := failure.Proto().Details
			if c.again != (len(details) == 1) {
				t.Errorf("%v over %s: %v", c.fail, name, details)
			} else if c.again {
				var after durationpb.Duration
				value := details[0].Value
				if err := proto.Unmarshal(value[2:], &after); err != nil || value[0] != 1<<3|2 || after.AsDuration() != 7*time.Second || !strings.HasSuffix(details[0].TypeUrl, "/google.rpc.RetryInfo") {
					t.Errorf("%v over %s: %v, %v", c.fail, name, details, err)
				}
			}
		}
		r, _ := post(t, s, "application/x-protobuf", "", marshal(t, random(1)))
		if r.StatusCode != c.http || c.again != (r.Header.Get("Retry-After") == "7") {
			t.Errorf("%v: %d, Retry-After %q", c.fail, r.StatusCode, r.Header.Get("Retry-After"))
		}
	}
}

// TestPartial holds that one bad profile harms no other, and that nothing but bad ones is
// a failure.
func TestPartial(t *testing.T) {
	for name, send := range ways {
		m := &keeper{}
		s := serve(t, m, ingest.Options{})
		b := newBook()
		stack := b.stack("main.work")
		good := &otel.Profile{SampleType: b.kind("cpu", "nanoseconds"), Samples: []*otel.Sample{{StackIndex: stack, Values: []int64{7}}}}
		bad := &otel.Profile{SampleType: b.kind("cpu", "nanoseconds"), Samples: []*otel.Sample{{StackIndex: 99, Values: []int64{7}}}}
		answer, err := send(t, s, b.request([]*common.KeyValue{texted("service.name", "shop")}, bad, good, bad))
		if err != nil || answer.GetPartialSuccess().GetRejectedProfiles() != 2 || !strings.Contains(answer.PartialSuccess.ErrorMessage, "stack 99") || len(m.batches) != 1 {
			t.Errorf("%s: %v, %v, %d batches", name, answer, err, len(m.batches))
		}
		if _, err := send(t, s, b.request(nil, bad)); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "stack 99") {
			t.Errorf("%s: only bad ones: %v", name, err)
		}
	}
}

// TestIdentity holds that the same is kept once in whatever order its dictionary is, and
// that what differs is not the same.
func TestIdentity(t *testing.T) {
	m := &keeper{}
	send := func(first string, change func(*otel.Profile), service string) {
		b := newBook()
		b.stack(first)
		p := &otel.Profile{SampleType: b.kind("cpu", "nanoseconds"), TimeUnixNano: 1_790_000_000 * second, DurationNano: second,
			Samples: []*otel.Sample{{StackIndex: b.stack("main.work"), Values: []int64{7}}, {StackIndex: b.stack("main.other"), Values: []int64{8}}}}
		change(p)
		out, err := export(m, marshal(t, b.request([]*common.KeyValue{texted("service.name", service)}, p)))
		if err != nil || out.rejected != 0 {
			t.Fatalf("export() rejects %d (%v), error %v, want none", out.rejected, out.first, err)
		}
	}
	same := func(*otel.Profile) {}
	send("main.a", same, "shop")
	send("main.b", same, "shop")
	send("main.a", func(p *otel.Profile) { p.Samples[0], p.Samples[1] = p.Samples[1], p.Samples[0] }, "shop")
	if len(m.batches) != 1 {
		t.Errorf("%d batches, want 1", len(m.batches))
	}
	send("main.a", same, "cart")
	send("main.a", func(p *otel.Profile) { p.TimeUnixNano++ }, "shop")
	send("main.a", func(p *otel.Profile) { p.DurationNano++ }, "shop")
	send("main.a", func(p *otel.Profile) { p.Samples[0].Values[0]++ }, "shop")
	send("main.a", func(p *otel.Profile) { p.ProfileId = []byte{1} }, "shop")
	if len(m.batches) != 6 {
		t.Errorf("%d batches, want 6", len(m.batches))
	}
}

// export hands a request over without a server.
func export(m *keeper, data []byte) (outcome, error) {
	h := &service{writer: m, options: ingest.Options{}.WithDefaults()}
	return h.export(context.Background(), "", data)
}
