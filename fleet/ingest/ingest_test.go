package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/ingest/sdktest"
	"github.com/gowhy/gowhy/fleet/store"
)

// A keeper is a store that keeps batches by ID.
type keeper struct {
	mu      sync.Mutex
	batches map[[16]byte]*store.Batch
	fail    error
}

func (m *keeper) Write(_ context.Context, b *store.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	if m.batches == nil {
		m.batches = map[[16]byte]*store.Batch{}
	}
	m.batches[b.ID] = b
	return nil
}

// totals returns the sums by type.
func (m *keeper) totals() map[store.Type]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	sums := map[store.Type]int64{}
	for _, b := range m.batches {
		for _, p := range b.Profiles {
			for _, s := range p.Samples {
				sums[p.Type] += s.Value
			}
		}
	}
	return sums
}

// heap returns a heap profile of this process.
func heap(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSDK holds that what is written has the sums that were sent, and their source.
func TestSDK(t *testing.T) {
	m := &keeper{}
	want := sdktest.Push(t, Handler(m, Options{}))
	if got := m.totals(); !maps.Equal(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
	for _, b := range m.batches {
		s := b.Source
		if s.Tenant != sdktest.Tenant || s.Service != sdktest.Service || s.Version != sdktest.Version || s.Instance != sdktest.Instance {
			t.Errorf("source of tenant %q, service %q, version %q, instance %q, want %q, %q, %q, %q",
				s.Tenant, s.Service, s.Version, s.Instance,
				sdktest.Tenant, sdktest.Service, sdktest.Version, sdktest.Instance)
		}
		if d := b.Until.Sub(b.From); d < 0 || d > time.Minute {
			t.Errorf("a span of %v", d)
		}
	}
}

func TestConnect(t *testing.T) {
	data := heap(t)
	want := map[store.Type]int64{}
	if err := sdktest.Add(want, "memory", data); err != nil {
		t.Fatal(err)
	}
	request := func(profile []byte) *connect.Request[pushv1.PushRequest] {
		return connect.NewRequest(&pushv1.PushRequest{Series: []*pushv1.RawProfileSeries{{
			Labels:  []*typesv1.LabelPair{{Name: "__name__", Value: "memory"}, {Name: "service_name", Value: "shop"}, {Name: "pod", Value: "p1"}},
			Samples: []*pushv1.RawSample{{RawProfile: profile, ID: "a"}},
		}}})
	}
	for name, options := range map[string][]connect.ClientOption{
		"proto": nil,
		"json":  {connect.WithProtoJSON()},
		"gzip":  {connect.WithSendGzip()},
	} {
		t.Run(name, func(t *testing.T) {
			m := &keeper{}
			server := httptest.NewServer(Handler(m, Options{}))
			defer server.Close()
			client := pushv1connect.NewPusherServiceClient(server.Client(), server.URL, options...)
			for range 2 { // a repeat is kept once
				if _, err := client.Push(t.Context(), request(data)); err != nil {
					t.Fatal(err)
				}
			}
			if got := m.totals(); len(m.batches) != 1 || !maps.Equal(got, want) {
				t.Errorf("%d batches\n got %v\nwant %v", len(m.batches), got, want)
			}
			for _, b := range m.batches {
				if b.Source.Service != "shop" || b.Source.Instance != "p1" {
					t.Errorf("source of service %q, instance %q, want shop, p1", b.Source.Service, b.Source.Instance)
				}
			}
			_, err := client.Push(t.Context(), request([]byte("no profile")))
			if connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "profile") {
				t.Errorf("a bad profile: %v", err)
			}
			m.fail = store.ErrFull
			_, err = client.Push(t.Context(), request(data))
			var failure *connect.Error
			if !errors.As(err, &failure) || failure.Code() != connect.CodeResourceExhausted || failure.Meta().Get("Retry-After") != "5" {
				t.Errorf("a full store: %v", err)
			}
		})
	}
}

// directory is of the server, and nothing that a client learns.
const directory = "/var/lib/gowhy"

func TestRefusals(t *testing.T) {
	data := string(heap(t))
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 32<<20))
	z.Close()
	form := func(name, data string) (string, string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		f, _ := w.CreateFormFile(name, "x")
		io.WriteString(f, data)
		w.Close()
		return b.String(), w.FormDataContentType()
	}
	previous, previousType := form("prev_profile", data)
	other, otherType := form("other", data)
	types, typesType := form("sample_type_config", "{"+strings.Repeat(`"cpu":{},`, longestConfig/9+1)+`"x":{}}`)
	at := func(ahead time.Duration) string { return fmt.Sprint(time.Now().Add(ahead).Unix()) }
	label := func(n int) string { return "a{" + strings.Repeat("x=1,", n) + "}" }
	for _, c := range []struct {
		what, path, media, encoding, body string
		fail                              error
		want                              int
	}{
		{"a raw body", "/ingest?name=a", "", "", data, nil, 200},
		{"seconds", "/ingest?name=a&from=1700000000&until=1700000015", "", "", data, nil, 200},
		{"a time of 1970", "/ingest?name=a&from=1&until=16", "", "", data, nil, 422},
		{"a time of 2100", "/ingest?name=a&from=4102444800&until=4102444815", "", "", data, nil, 422},
		{"a time of 2262", "/ingest?name=a&from=9223372036&until=9223372036", "", "", data, nil, 422},
		{"an hour ahead", "/ingest?name=a&from=" + at(time.Hour) + "&until=" + at(time.Hour), "", "", data, nil, 200},
		{"two days ahead", "/ingest?name=a&from=" + at(48*time.Hour) + "&until=" + at(48*time.Hour), "", "", data, nil, 422},
		{"no name", "/ingest", "", "", data, nil, 400},
		{"no brace", "/ingest?name=a{b=c", "", "", data, nil, 400},
		{"too many labels", "/ingest?name=" + label(40), "", "", data, nil, 400},
		{"a label twice", "/ingest?name=" + label(2), "", "", data, nil, 400},
		{"an escape", "/ingest?name=a{b=%1b[2J}", "", "", data, nil, 400},
		{"a span backwards", "/ingest?name=a&from=1700000900&until=1700000000", "", "", data, nil, 400},
		{"until cut to the interval", "/ingest?name=a&from=1700000007&until=1700000000", "", "", data, nil, 200},
		{"half a span", "/ingest?name=a&from=1700000015", "", "", data, nil, 400},
		{"a time of letters", "/ingest?name=a&from=x&until=y", "", "", data, nil, 400},
		{"another format", "/ingest?name=a&format=jfr", "", "", data, nil, 400},
		{"a bad profile", "/ingest?name=a", "", "", "x", nil, 422},
		{"a bomb as a profile", "/ingest?name=a", "", "", bomb.String(), nil, 413},
		{"many small ones", PushPath, "application/proto", "", pushOf(200, padded(1<<20)), nil, 413},
		{"a bomb as an encoding", "/ingest?name=a", "", "gzip", bomb.String(), nil, 413},
		{"a long body", "/ingest?name=a", "", "", strings.Repeat("x", 16<<20+1), nil, 413},
		{"an unknown encoding", "/ingest?name=a", "", "br", data, nil, 415},
		{"prev_profile", "/ingest?name=a", previousType, "", previous, nil, 400},
		{"a form without a profile", "/ingest?name=a", otherType, "", other, nil, 400},
		{"a cut form", "/ingest?name=a", otherType, "", other[:20], nil, 400},
		{"types without end", "/ingest?name=a", typesType, "", types, nil, 400},
		{"a full store", "/ingest?name=a", "", "", data, store.ErrFull, 429},
		{"a closed store", "/ingest?name=a", "", "", data, store.ErrClosed, 503},
		{"a full disk", "/ingest?name=a", "", "", data, fmt.Errorf("log %s: %w", directory, syscall.ENOSPC), 503},
		{"a broken store", "/ingest?name=a", "", "", data, fmt.Errorf("log %s: I/O error", directory), 500},
		{"another media type", PushPath, "text/plain", "", "", nil, 415},
		{"no JSON", PushPath, "application/json", "", "{", nil, 400},
		{"a list without end", PushPath, "application/json", "", `{"series":[` + strings.Repeat("0,", 1<<20), nil, 400},
		{"many series", PushPath, "application/proto", "", strings.Repeat("\n\x00", mostSeries+1), nil, 400},
		{"a cut message", PushPath, "application/proto", "", "\n\xff", nil, 400},
		{"no series", PushPath, "application/proto", "", "", nil, 200},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
			r.URL.Path, r.URL.RawQuery, _ = strings.Cut(c.path, "?")
			r.Header.Set("Content-Type", c.media)
			r.Header.Set("Content-Encoding", c.encoding)
			w, m := httptest.NewRecorder(), &keeper{fail: c.fail}
			Handler(m, Options{}).ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, c.want)
			}
			if (w.Code == 429 || w.Code == 503) != (w.Header().Get("Retry-After") != "") {
				t.Errorf("%d with Retry-After %q", w.Code, w.Header().Get("Retry-After"))
			}
			if strings.Contains(w.Body.String(), directory) {
				t.Errorf("a client is told of %s", w.Body)
			}
			if c.want != 200 && len(m.batches) > 0 && c.what != "many small ones" {
				t.Error("a refused request was kept")
			}
		})
	}
}

// What one process sends twice is the same; what differs in source or span is not.
func TestIdentity(t *testing.T) {
	m := &keeper{}
	h := Handler(m, Options{})
	data := heap(t)
	for i, name := range []string{"a", "a", "a{host=x}", "b", "a{host=y}"} {
		for _, span := range []string{"", "&from=1700000000&until=1700000015"} {
			r := httptest.NewRequest(http.MethodPost, "/ingest?name="+url.QueryEscape(name)+span, bytes.NewReader(data))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				t.Fatalf("%d: %d %s", i, w.Code, w.Body)
			}
		}
	}
	if len(m.batches) != 8 {
		t.Errorf("%d batches, want 8", len(m.batches))
	}
}

// A request of a million samples without a profile has two megabytes, and would take as long
// as a million batches.
func TestManySamples(t *testing.T) {
	series := "\n\xd0\x0f" + strings.Repeat("\x12\x00", mostSeries)
	asJSON := `{"samples":[{}` + strings.Repeat(",{}", mostSeries-1) + `]}`
	for media, body := range map[string]string{
		"application/proto": strings.Repeat(series, mostSamples/mostSeries+1),
		"application/json":  `{"series":[` + asJSON + strings.Repeat(","+asJSON, mostSamples/mostSeries) + `]}`,
	} {
		r := httptest.NewRequest(http.MethodPost, PushPath, strings.NewReader(body))
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		Handler(&keeper{}, Options{}).ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "10000 samples in all") {
			t.Errorf("%s: %d %s", media, w.Code, w.Body)
		}
	}
}

func FuzzHandler(f *testing.F) {
	data := heap(f)
	f.Add(PushPath, "application/proto", "", []byte("\n\x00"))
	f.Add(PushPath, "application/json", "", []byte(`{"series":[{"labels":[{"name":"service_name","value":"a"}],"samples":[{"rawProfile":"AA=="}]}]}`))
	f.Add(IngestPath, "", "name=a{b=c}&from=1&until=2", data)
	f.Add(IngestPath, "multipart/form-data; boundary=x", "name=a", []byte("--x\r\nContent-Disposition: form-data; name=\"profile\"\r\n\r\nab\r\n--x--"))
	h := Handler(&keeper{}, Options{})
	f.Fuzz(func(t *testing.T, path, media, query string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.URL.Path, r.URL.RawQuery = path, query
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("an internal error: %s", w.Body)
		}
	})
}

// cpuProfile returns as large as 15 s of a busy service: 300 stacks of 24 frames.
func cpuProfile(t testing.TB) []byte {
	t.Helper()
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
	}
	for i := range 600 {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprintf("example.com/shop/orders.(*Service).method%d", i), Filename: fmt.Sprintf("example.com/shop/orders/file%d.go", i/10)}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: f.ID, Address: uint64(i), Line: []profile.Line{{Function: f, Line: int64(i)}}})
	}
	for i := range 300 {
		s := &profile.Sample{Value: []int64{int64(i + 1), int64(i+1) * 1e7}}
		for depth := range 24 {
			s.Location = append(s.Location, p.Location[(i*7+depth*31)%600])
		}
		p.Sample = append(p.Sample, s)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func BenchmarkIngest(b *testing.B) {
	data := cpuProfile(b)
	b.Run("handler", func(b *testing.B) {
		h := Handler(&keeper{}, Options{})
		for b.Loop() {
			r := httptest.NewRequest(http.MethodPost, "/ingest?name=a", bytes.NewReader(data))
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
	})
	b.Run("google", func(b *testing.B) { // only its parser
		for b.Loop() {
			if _, err := profile.ParseData(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// padded returns a profile that packs well: so many bytes of a field that nobody reads.
func padded(n int) []byte {
	plain := protowire.AppendTag(nil, 100, protowire.BytesType)
	plain = protowire.AppendBytes(plain, make([]byte, n-16))
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(plain)
	z.Close()
	return b.Bytes()
}

// pushOf returns a PushRequest that has a profile again and again.
func pushOf(times int, profile []byte) string {
	field := func(number protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), body)
	}
	s := field(1, append(field(1, []byte("service_name")), field(2, []byte("a"))...))
	s = append(s, field(1, append(field(1, []byte("__name__")), field(2, []byte("memory"))...))...)
	for range times {
		s = append(s, field(2, field(1, profile))...)
	}
	return string(field(1, s))
}
