// Package sdktest has the SDK that most Go programs push with, Pyroscope's, push the
// profiles of a test, and holds what takes them to what was sent.
//
// It hides the SDK, its load, and how its requests are read a second time: by other parsers
// than those that are tested.
package sdktest

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/grafana/pyroscope-go"

	"github.com/gowhy/gowhy/fleet/store"
)

// What the SDK says of itself.
const (
	Tenant, Service, Version, Instance = "red", "shop.api", "v1.8.2", "web-1/7"
)

// timeVariable has a duration for which the SDK pushes, where a second and a half is too
// short to say anything.
const timeVariable = "GOWHY_SDK_TIME"

func length(t testing.TB) time.Duration {
	t.Helper()
	text := os.Getenv(timeVariable)
	if text == "" {
		return 1500 * time.Millisecond
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("%s is %q, not a duration like 1m", timeVariable, text)
	}
	return d
}

// Push has the SDK push all types of profiles of this process to a handler, once a second,
// and gives the sums by type of what the handler acknowledged.
func Push(t testing.TB, h http.Handler) map[store.Type]int64 {
	t.Helper()
	sums, posts := map[store.Type]int64{}, 0
	var longest time.Duration
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer, begin := httptest.NewRecorder(), time.Now()
		h.ServeHTTP(answer, r)
		mu.Lock()
		defer mu.Unlock()
		posts++
		longest = max(longest, time.Since(begin))
		if answer.Code != http.StatusOK {
			t.Errorf("%s: %d %s", r.URL, answer.Code, answer.Body)
		} else if err := sent(sums, r.Header, body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(answer.Code)
	}))
	defer server.Close()
	p, err := pyroscope.Start(pyroscope.Config{
		ApplicationName: Service, ServerAddress: server.URL, TenantID: Tenant, UploadRate: time.Second,
		Tags: map[string]string{"version": Version, "hostname": "web-1", "pid": "7"},
		ProfileTypes: append(pyroscope.DefaultProfileTypes, pyroscope.ProfileGoroutines,
			pyroscope.ProfileMutexCount, pyroscope.ProfileMutexDuration, pyroscope.ProfileBlockCount, pyroscope.ProfileBlockDuration),
	})
	if err != nil {
		t.Fatal(err)
	}
	load(length(t))
	p.Flush(true)
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	server.Close() // which waits for requests that are there
	if posts < 4 || sums[store.CPU] == 0 || sums[store.AllocSpace] == 0 || sums[store.Goroutines] == 0 {
		t.Errorf("%d pushes of %v", posts, sums)
	}
	t.Logf("%d pushes, acknowledged after %v at most", posts, longest.Round(time.Millisecond))
	return sums
}

// load allocates, and has one goroutine after another wait for a mutex.
func load(length time.Duration) {
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	runtime.SetBlockProfileRate(1)
	defer runtime.SetBlockProfileRate(0)
	var sink [][]byte
	var mu sync.Mutex
	var waiting sync.WaitGroup
	for begin := time.Now(); time.Since(begin) < length; {
		mu.Lock()
		waiting.Go(func() {
			mu.Lock()
			defer mu.Unlock()
		})
		for range 200 {
			sink = append(sink[:len(sink)%64], make([]byte, 64<<10))
		}
		mu.Unlock()
		waiting.Wait()
	}
}

// Run holds a store, to which a handler writes, to what it acknowledged: the sums of each
// type, by service and by stack, are those of the profiles, to the last digit.
func Run(t *testing.T, r store.Reader, h http.Handler) {
	t.Helper()
	want := Push(t, h)
	s := store.Selection{Tenant: Tenant, From: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Minute)}
	all, err := r.Services(t.Context(), s)
	if err != nil || len(all.Services) != 1 || len(all.Missing) > 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	of := all.Services[0]
	if of.Name != Service || of.Version != Version || of.Instances != 1 {
		t.Errorf("service %+v", of)
	}
	byService, byStack := map[store.Type]int64{}, map[store.Type]int64{}
	for _, total := range of.Totals {
		byService[total.Type] = total.Value
		s.Type = total.Type
		stacks, err := r.Stacks(t.Context(), s)
		if err != nil || len(stacks.Missing) > 0 {
			t.Fatalf("%s: %v, %v", total.Type, stacks.Missing, err)
		}
		for _, sample := range stacks.Samples {
			byStack[total.Type] += sample.Value
		}
	}
	if !maps.Equal(byService, want) || !maps.Equal(byStack, want) {
		t.Errorf("sent       %v\nby service %v\nby stack   %v", want, byService, byStack)
	}
	t.Logf("%d types, the same sums: %v", len(want), want)
}

// kinds are what the display names of the SDK's configuration stand for.
var kinds = []struct{ text, kind string }{
	{"mutex_count", "mutex"}, {"block_count", "block"}, {"goroutine_leak", "goroutine_leak"},
	{"goroutine", "goroutines"}, {"alloc_space", "memory"}, {"", "process_cpu"},
}

// sent adds the sums of a request.
func sent(sums map[store.Type]int64, header http.Header, body []byte) error {
	_, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return err
	}
	form, err := multipart.NewReader(bytes.NewReader(body), parameters["boundary"]).ReadForm(1 << 30)
	if err != nil {
		return err
	}
	part := func(name string) (data []byte) {
		if files := form.File[name]; len(files) > 0 {
			if f, err := files[0].Open(); err == nil {
				data, _ = io.ReadAll(f) // of memory
			}
		}
		return data
	}
	config := string(part("sample_type_config"))
	for _, k := range kinds {
		if strings.Contains(config, k.text) {
			return Add(sums, k.kind, part("profile"))
		}
	}
	return nil
}

// Add adds the sums of a profile of a kind, as google/pprof reads it.
func Add(sums map[store.Type]int64, kind string, data []byte) error {
	p, err := profile.ParseData(data)
	if err != nil {
		return err
	}
	for i, st := range p.SampleType {
		name := fmt.Sprintf("%s:%s:%s:%s:%s", kind, st.Type, st.Unit, p.PeriodType.Type, p.PeriodType.Unit)
		for _, s := range p.Sample {
			if s.Value[i] != 0 {
				sums[store.Type(name)] += s.Value[i]
			}
		}
	}
	return nil
}
