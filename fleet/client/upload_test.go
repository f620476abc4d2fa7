package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/server"
)

// A road is a server of recordings whose connections break, and which ends in the middle.
type road struct {
	t     *testing.T
	dir   string
	store *runs.Store
	h     http.Handler
	// cuts are after how many bytes the body of each PATCH breaks off; 0 is not.
	cuts   []int64
	mu     sync.Mutex // one request at a time
	pieces []int64    // of bytes that were to be sent
	killed bool       // the server ends after a cut, and another begins on what it left
	status int        // of each answer, where it is set
}

func (r *road) open() {
	store, err := runs.Open(r.dir, runs.Options{})
	if err != nil {
		r.t.Error(err)
		return
	}
	r.store, r.h = store, server.RunsHandler(store, server.NewPlan(store, sampling.Options{}, time.Now), nil, time.Now)
}

func (r *road) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status != 0 {
		w.WriteHeader(r.status)
		return
	}
	if q.Method == http.MethodPatch {
		r.pieces = append(r.pieces, q.ContentLength)
		if len(r.cuts) > 0 {
			cut := r.cuts[0]
			if r.cuts = r.cuts[1:]; cut > 0 {
				q.Body = io.NopCloser(io.MultiReader(io.LimitReader(q.Body, cut), broken{}))
				r.h.ServeHTTP(httptest.NewRecorder(), q)
				if r.killed {
					r.store.Close()
					r.open()
				}
				panic(http.ErrAbortHandler) // no answer arrives
			}
		}
	}
	r.h.ServeHTTP(w, q)
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestPush sends a recording over connections that break and servers that end, and holds
// that what arrived is not sent again.
func TestPush(t *testing.T) {
	var b bytes.Buffer
	s := recording.NewStream(&b)
	if err := s.Add("note.txt", bytes.Repeat([]byte("note"), 1<<18)); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(recording.Manifest{Schema: recording.Schema, Start: time.Now(), End: time.Now().Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.gowhy")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	n := int64(b.Len())
	for name, c := range map[string]struct {
		cuts   []int64
		killed bool
		want   []int64 // pieces
		waits  int
	}{
		"well":               {want: []int64{n}},
		"it breaks once":     {cuts: []int64{1000}, want: []int64{n, n - 1000}, waits: 1},
		"after a byte":       {cuts: []int64{1, 1}, want: []int64{n, n - 1, n - 2}, waits: 2},
		"the server ends":    {cuts: []int64{1000, 1 << 19}, killed: true, want: []int64{n, n - 1000, n - 1000 - 1<<19}, waits: 2},
		"more than once":     {cuts: []int64{9, 9, 9, 9, 9, 9, 9, 9}, want: []int64{n, n - 9, n - 18, n - 27, n - 36, n - 45, n - 54, n - 63, n - 72}, waits: 8},
		"the answer is gone": {cuts: []int64{n}, want: []int64{n, 0}, waits: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := &road{t: t, dir: t.TempDir(), cuts: c.cuts, killed: c.killed}
			r.open()
			defer func() { r.store.Close() }()
			web := httptest.NewServer(r)
			defer web.Close()
			client, err := New(web.URL, "blue")
			if err != nil {
				t.Fatal(err)
			}
			waits := 0
			client.pause = func(context.Context, time.Duration) error { waits++; return nil }
			run, err := client.Push(t.Context(), file, map[string][]string{"service": {"cart"}, "why": {"w"}})
			if err != nil {
				t.Fatal(err)
			}
			if run.Service != "cart" || run.Why != "w" || run.Bytes != n || run.Tenant != "blue" {
				t.Errorf("Push() = service %q, why %q, %d bytes, tenant %q, want cart, w, %d, blue",
					run.Service, run.Why, run.Bytes, run.Tenant, n)
			}
			r.mu.Lock()
			pieces := r.pieces
			r.mu.Unlock()
			if len(pieces) != len(c.want) || waits != c.waits {
				t.Fatalf("pieces of %v after %d waits, want %v after %d", pieces, waits, c.want, c.waits)
			}
			for i, want := range c.want {
				if pieces[i] != want {
					t.Errorf("pieces of %v, want %v", pieces, c.want)
				}
			}
			var got bytes.Buffer
			if err := client.Fetch(t.Context(), run.ID, &got); err != nil || !bytes.Equal(got.Bytes(), b.Bytes()) {
				t.Errorf("%d bytes came back of %d, %v", got.Len(), n, err)
			}
		})
	}
}

// TestPushFails holds when it gives up: at once where another try is the same, and after
// some where it may not be.
func TestPushFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.gowhy")
	if err := os.WriteFile(file, []byte("no recording"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &road{t: t, dir: t.TempDir()}
	r.open()
	defer r.store.Close()
	web := httptest.NewServer(r)
	defer web.Close()
	const nobody = "http://127.0.0.1:1" // a port that no other process is given
	for name, c := range map[string]struct {
		url    string
		status int
		waits  int
		is     func(err error) bool
	}{
		"no recording": {web.URL, 0, 0, func(err error) bool {
			var s *Status
			return errors.As(err, &s) && s.Code == http.StatusUnprocessableEntity
		}},
		"no token":     {web.URL, http.StatusUnauthorized, 0, func(err error) bool { return errors.Is(err, ErrToken) }},
		"out of order": {web.URL, http.StatusBadGateway, pushTries - 1, func(err error) bool { var s *Status; return errors.As(err, &s) && s.Code == http.StatusBadGateway }},
		"nobody there": {nobody, 0, 0, func(err error) bool { return errors.Is(err, ErrUnreachable) }},
	} {
		r.mu.Lock()
		r.status = c.status
		r.mu.Unlock()
		client, err := New(c.url, "")
		if err != nil {
			t.Fatal(err)
		}
		waits := 0
		client.pause = func(context.Context, time.Duration) error { waits++; return nil }
		if _, err := client.Push(t.Context(), file, nil); !c.is(err) || waits != c.waits {
			t.Errorf("%s: %v after %d waits, want %d", name, err, waits, c.waits)
		}
	}
	r.mu.Lock()
	r.status = http.StatusServiceUnavailable
	r.mu.Unlock()
	client, err := New(web.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	ended := errors.New("ended")
	client.pause = func(context.Context, time.Duration) error { return ended }
	if _, err := client.Push(t.Context(), file, nil); !errors.Is(err, ended) {
		t.Errorf("an end while it waits: %v", err)
	}
}

// A server says in seconds or as a moment when to come again, and not for hours.
func TestStatusAfter(t *testing.T) {
	wait := func(after string) time.Duration {
		return StatusOf(&http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {after}}}, nil).After
	}
	for after, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-5": 0, "7": 7 * time.Second, "999999": mostAfter,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat):    0,
		time.Now().Add(9 * time.Hour).UTC().Format(http.TimeFormat): mostAfter,
	} {
		if got := wait(after); got != want {
			t.Errorf("Retry-After %q waits %v, want %v", after, got, want)
		}
	}
	begun := time.Now()
	after := begun.Add(time.Minute).UTC().Format(http.TimeFormat) // in whole seconds
	if got := wait(after); got > time.Minute || got < 59*time.Second-time.Since(begun) {
		t.Errorf("Retry-After %q waits %v, want a minute less a second, and less what asking took", after, got)
	}
}
