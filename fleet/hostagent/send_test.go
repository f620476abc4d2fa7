package hostagent

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/client"
)

// A gate is a server that is as the test says, answer by answer, and then takes all.
type gate struct {
	mu      sync.Mutex
	answers []func(http.ResponseWriter)
	got     []string
	headers []http.Header
	taken   chan struct{}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.got = append(g.got, string(body))
	g.headers = append(g.headers, r.Header)
	if len(g.answers) > 0 {
		a := g.answers[0]
		g.answers = g.answers[1:]
		a(w)
		return
	}
	g.taken <- struct{}{}
}

func status(n int, retry string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if retry != "" {
			w.Header().Set("Retry-After", retry)
		}
		w.WriteHeader(n)
	}
}

// sending returns a sender whose waits the test sees and that take no time.
func sending(t *testing.T, url string, most int64) (*sender, *counters, *[]time.Duration) {
	t.Helper()
	var c counters
	s, err := newSender(Options{Server: url, Token: "secret", Tenant: "t", Log: slog.New(slog.DiscardHandler)}, newSpool(most, &c), &c)
	if err != nil {
		t.Fatal(err)
	}
	waits := new([]time.Duration)
	s.wait = func(_ context.Context, d time.Duration) { *waits = append(*waits, d) }
	return s, &c, waits
}

// TestSend sends to a server that is full, fails, moves and refuses in turn.
func TestSend(t *testing.T) {
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer stranger.Close()
	g := &gate{taken: make(chan struct{}), answers: []func(http.ResponseWriter){
		status(429, "7"),
		status(503, ""),
		status(401, ""), // somebody may mend the token
		func(w http.ResponseWriter) { w.Header().Set("Location", stranger.URL); w.WriteHeader(307) },
		status(429, "999999"),
		func(w http.ResponseWriter) {},
		status(422, ""), // b
	}}
	server := httptest.NewServer(g)
	defer server.Close()
	s, count, waits := sending(t, server.URL+"/", 100)
	for _, body := range []string{"a", "b", "c"} {
		s.spool.add([]byte(body))
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.run(ctx, t.Context()); close(done) }()
	<-g.taken
	stop()
	<-done
	if want := []string{"a", "a", "a", "a", "a", "a", "b", "c"}; !slices.Equal(g.got, want) {
		t.Errorf("%q came, want %q", g.got, want)
	}
	if h := g.headers[0]; h.Get("Authorization") != "Bearer secret" || h.Get("X-Scope-OrgID") != "t" || h.Get("Content-Type") != "application/proto" {
		t.Errorf("%v", h)
	}
	if w := *waits; len(w) != 5 || w[0] != 7*time.Second || w[4] != 10*time.Minute || w[2] < 2*time.Second || w[2] > 4*time.Second {
		t.Errorf("waits of %v", w)
	}
	if count.sent.Load() != 2 || count.rejected.Load() != 1 || count.retries.Load() != 5 || s.spool.left() != 0 || count.spooled.Load() != 0 {
		t.Errorf("sent %d, rejected %d, retries %d, left %d", count.sent.Load(), count.rejected.Load(), count.retries.Load(), s.spool.left())
	}
}

// A server that nobody has begun yet gets what waits for it when it is there.
func TestServerComesBack(t *testing.T) {
	const nobody = "127.0.0.1:1" // a port that no other process is given
	s, count, _ := sending(t, nobody, 2)
	for _, body := range []string{"a", "b", "c", "too long"} { // a has no room
		s.spool.add([]byte(body))
	}
	g := &gate{taken: make(chan struct{})}
	back := httptest.NewServer(g)
	defer back.Close()
	there, err := client.New(back.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	s.wait = func(context.Context, time.Duration) { s.to = there }
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.run(ctx, t.Context()); close(done) }()
	<-g.taken
	<-g.taken
	stop()
	<-done
	if want := []string{"b", "c"}; !slices.Equal(g.got, want) || count.dropped.Load() != 2 || count.retries.Load() == 0 {
		t.Errorf("%q came, %d dropped, %d retries", g.got, count.dropped.Load(), count.retries.Load())
	}
}

// TestSendEnds holds that a server that is away does not keep the agent from ending.
func TestSendEnds(t *testing.T) {
	s, _, _ := sending(t, "127.0.0.1:1", 100)
	s.spool.add([]byte("a"))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s.run(ctx, t.Context())
	if s.spool.left() != 1 {
		t.Error("what was not sent is not counted")
	}
}

func TestServerURL(t *testing.T) {
	for url, ok := range map[string]bool{"127.0.0.1:4040": true, "https://a.example/prefix": true, "http://[::1]:1": true,
		"": false, "ftp://a": false, "http://": false, "http://a?x=1": false, "http://a b": false} {
		_, err := newSender(Options{Server: url, Log: slog.New(slog.DiscardHandler)}, nil, nil)
		if (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
	var said strings.Builder
	if _, err := newSender(Options{Server: "http://a.example", Token: "secret", Log: slog.New(slog.NewTextHandler(&said, nil))}, nil, nil); err != nil ||
		!strings.Contains(said.String(), "unencrypted") || strings.Contains(said.String(), "secret") {
		t.Errorf("%v, %s", err, said.String())
	}
}
