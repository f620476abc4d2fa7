package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// other is a server in memory: it answers as answer says and remembers what it took.
type other struct {
	mu     sync.Mutex
	seen   []string
	answer func(*http.Request) (*http.Response, error)
}

func (o *other) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	o.mu.Lock()
	o.seen = append(o.seen, fmt.Sprintf("%s %s %s", r.Method, r.URL, body))
	o.mu.Unlock()
	return o.answer(r)
}

func (o *other) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.seen)
}

func status(code int, header ...string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		r := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("said"))}
		if len(header) == 2 {
			r.Header.Set(header[0], header[1])
		}
		return r, nil
	}
}

// run runs a forwarder in a bubble of time, and gives a function that ends it.
func run(t *testing.T, o Options) (f *Forwarder, end func()) {
	t.Helper()
	o.URL = "http://other/base/"
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { f.Run(ctx); close(done) }()
	return f, func() { stop(); <-done }
}

// push sends a body through the handler, whose own answer is a status.
func push(f *Forwarder, own int, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	f.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(own)
	})).ServeHTTP(w, httptest.NewRequest("POST", "/ingest?name=shop", strings.NewReader(body)))
	return w
}

func metrics(f *Forwarder) string {
	var b strings.Builder
	f.Metrics(&b)
	return b.String()
}

func want(t *testing.T, f *Forwarder, lines ...string) {
	t.Helper()
	m := metrics(f)
	for _, line := range lines {
		if !strings.Contains(m, line+"\n") {
			t.Errorf("no %q in\n%s", line, m)
		}
	}
}

// TestUnchanged has what arrives at the other server.
func TestUnchanged(t *testing.T) {
	type arrived struct {
		header http.Header
		uri    string
		body   []byte
	}
	got := make(chan arrived, 1)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- arrived{r.Header, r.RequestURI, body}
	}))
	defer target.Close()
	f, err := New(Options{URL: target.URL + "/base", Bearer: func() (string, error) { return "ours", nil }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	body := []byte("\x1f\x8b\x00profile")
	r := httptest.NewRequest("POST", "/ingest?name=a%7Bb=c%7D&until=2&from=1", bytes.NewReader(body))
	for _, h := range []string{"Content-Type: multipart/form-data; boundary=x", "Content-Encoding: gzip", "User-Agent: sdk/1", "X-Scope-OrgID: red",
		"Authorization: Bearer theirs", "Cookie: a=b", "X-Forwarded-For: 1.2.3.4"} {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	f.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if own, _ := io.ReadAll(r.Body); !bytes.Equal(own, body) {
			t.Errorf("this server reads %q", own)
		}
		w.WriteHeader(http.StatusTeapot)
	})).ServeHTTP(w, r)
	a := <-got
	const uri = "/base/ingest?name=a%7Bb=c%7D&until=2&from=1"
	if w.Code != http.StatusTeapot || a.uri != uri || !bytes.Equal(a.body, body) {
		t.Errorf("status %d, forwarded %q to %s, want %d, %q to %s",
			w.Code, a.body, a.uri, http.StatusTeapot, body, uri)
	}
	for name, value := range map[string]string{"Content-Type": "multipart/form-data; boundary=x", "Content-Encoding": "gzip", "User-Agent": "sdk/1",
		"X-Scope-Orgid": "red", "Authorization": "Bearer ours", "Cookie": "", "X-Forwarded-For": ""} {
		if got := a.header.Get(name); got != value {
			t.Errorf("%s is %q", name, got)
		}
	}
	stop()
	running.Wait()
	want(t, f, "gowhy_fleet_forwarded_total 1", "gowhy_fleet_forward_waiting_bytes 0")
}

// TestWhich has what is passed on by this server's own answer.
func TestWhich(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &other{answer: status(200)}
		f, end := run(t, Options{transport: o})
		for own, passes := range map[int]bool{200: true, 400: true, 422: true, 429: false, 500: false, 503: false} {
			before := o.count()
			if w := push(f, own, "x"); w.Code != own {
				t.Errorf("the client reads %d, not %d", w.Code, own)
			}
			synctest.Wait()
			if (o.count() > before) != passes {
				t.Errorf("own answer %d: passed on %v", own, o.count() > before)
			}
		}
		push(f, 413, strings.Repeat("x", mostBody+1))
		broken := httptest.NewRequest("POST", "/ingest", io.MultiReader(strings.NewReader("abc"), failing{errors.New("cut")}))
		f.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if body, err := io.ReadAll(r.Body); string(body) != "abc" || err == nil || err.Error() != "cut" {
				t.Errorf("%q, %v", body, err)
			}
		})).ServeHTTP(httptest.NewRecorder(), broken)
		f.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/ingest", nil))
		synctest.Wait()
		want(t, f, "gowhy_fleet_forwarded_total 3", `gowhy_fleet_forward_dropped_total{reason="too_long"} 1`)
		if o.seen[0] != "POST http://other/base/ingest?name=shop x" {
			t.Error(o.seen[0])
		}
		end()
	})
}

// TestRetries has how often and until when a request is tried.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(n int, r *http.Request) (*http.Response, error)
		want   []string
		tries  [2]int // least and most
	}{
		{"at once", func(_ int, r *http.Request) (*http.Response, error) { return status(200)(r) }, []string{"gowhy_fleet_forwarded_total 1"}, [2]int{1, 1}},
		{"at the third attempt", func(n int, r *http.Request) (*http.Response, error) {
			if n < 3 {
				return nil, errors.New("connection refused")
			}
			return status(200)(r)
		}, []string{"gowhy_fleet_forwarded_total 1"}, [2]int{3, 3}},
		{"dead", func(int, *http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }, []string{`gowhy_fleet_forward_dropped_total{reason="unreachable"} 1`}, [2]int{7, 12}},
		{"busy", func(_ int, r *http.Request) (*http.Response, error) { return status(429, "Retry-After", "25")(r) }, []string{`gowhy_fleet_forward_dropped_total{reason="unreachable"} 1`}, [2]int{3, 3}},
		{"refuses", func(_ int, r *http.Request) (*http.Response, error) { return status(422)(r) }, []string{`gowhy_fleet_forward_dropped_total{reason="refused"} 1`}, [2]int{1, 1}},
		{"over its rate", func(_ int, r *http.Request) (*http.Response, error) {
			a, err := status(422)(r)
			a.Body = io.NopCloser(strings.NewReader(`{"code":"unknown","message":"pushing IngestInput-pprof failed resource_exhausted: push rate limit (4.0 MiB) exceeded"}`))
			return a, err
		}, []string{`gowhy_fleet_forward_dropped_total{reason="unreachable"} 1`}, [2]int{7, 12}},
		{"elsewhere", func(_ int, r *http.Request) (*http.Response, error) {
			return status(307, "Location", "http://evil/")(r)
		}, []string{`gowhy_fleet_forward_dropped_total{reason="refused"} 1`}, [2]int{1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				o := &other{}
				o.answer = func(r *http.Request) (*http.Response, error) { n++; return c.answer(n, r) }
				f, end := run(t, Options{transport: o})
				push(f, 200, "x")
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				want(t, f, append(c.want, "gowhy_fleet_forward_waiting_bytes 0")...)
				if n := o.count(); n < c.tries[0] || n > c.tries[1] {
					t.Errorf("%d attempts", n)
				}
				end()
			})
		})
	}
}

// TestSlow holds that a server that never answers delays no client, takes a bounded
// memory, and that what is lost is counted and logged, once a minute.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := &other{answer: func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		f, end := run(t, Options{transport: o, Requests: 10, Bytes: 100, Log: slog.New(slog.NewTextHandler(&log, nil))})
		begin := time.Now()
		for range 5 {
			push(f, 200, strings.Repeat("x", 40)) // two fit
		}
		want(t, f, `gowhy_fleet_forward_dropped_total{reason="queue_full"} 3`, "gowhy_fleet_forward_waiting_bytes 80")
		for range 40 {
			push(f, 200, "") // senders and the queue have ten and some
		}
		if d := time.Since(begin); d != 0 {
			t.Errorf("the clients waited %v", d)
		}
		synctest.Wait()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := strings.Count(log.String(), "profiles were not forwarded"); n < 2 || n > 9 {
			t.Errorf("%d lines in ten minutes:\n%s", n, log.String())
		}
		if !strings.Contains(log.String(), "queue_full=") || !strings.Contains(log.String(), "unreachable=") || !strings.Contains(log.String(), "last_error=") {
			t.Error(log.String())
		}
		want(t, f, "gowhy_fleet_forward_waiting_bytes 0")
		end()
	})
}

// TestEnd holds that what waits is sent when the server ends, for a moment.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &other{answer: func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return status(200)(r)
		}}
		f, end := run(t, Options{transport: slow})
		for range 40 {
			push(f, 200, "x")
		}
		begin := time.Now()
		end()
		if d := time.Since(begin); d < 4*time.Second || d > 2*drain {
			t.Errorf("it ended after %v", d)
		}
		m := metrics(f)
		var sent, lost int
		for line := range strings.Lines(m) {
			fmt.Sscanf(line, "gowhy_fleet_forwarded_total %d", &sent)
			fmt.Sscanf(line, `gowhy_fleet_forward_dropped_total{reason="ended"} %d`, &lost)
		}
		if sent < 16 || lost < 1 || sent+lost != 40 {
			t.Errorf("%d sent and %d lost", sent, lost)
		}
	})
}

func TestNew(t *testing.T) {
	for url, ok := range map[string]bool{"http://a": true, "https://a:1/b/": true, "": false, "a": false, "ftp://a": false, "http://a?b": false, "http://u:p@a": false, "http://": false} {
		if _, err := New(Options{URL: url}); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestBearer holds that a file of a token that cannot be read is no reason to send without one.
func TestBearer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &other{answer: status(200)}
		f, end := run(t, Options{transport: o, Bearer: func() (string, error) { return "", errors.New("no file") }})
		push(f, 200, "x")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if o.count() > 0 {
			t.Errorf("%q", o.seen)
		}
		want(t, f, `gowhy_fleet_forward_dropped_total{reason="unreachable"} 1`)
		end()
	})
}

// TestSaid holds that the log has what the other server says of its refusal.
func TestSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f, end := run(t, Options{transport: &other{answer: status(422)}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		push(f, 200, "x")
		end()
		if !strings.Contains(log.String(), `status 422: \"said\"`) {
			t.Error(log.String())
		}
	})
}
