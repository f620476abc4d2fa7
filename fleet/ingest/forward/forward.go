// Package forward passes what is pushed on to another server.
//
// It hides a bounded queue, its retries and what was dropped. The client's answer is this
// server's own and never waits for the other: what the queue has no room for, or what the
// other does not take in time, is dropped and counted.
//
// To a Pyroscope requests of Pyroscope's clients go on as they came ([Forwarder.Handler]),
// but for what says who sent them: the tenant is the one that this server knows, and the
// client's credentials stay here. To a server of OpenTelemetry goes what any client sent and
// this server kept, as OTLP profiles over HTTP ([Forwarder.Writer]).
package forward

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/exposition"
)

// A Protocol is what the other server speaks.
type Protocol string

// The protocols that there are.
const (
	Pyroscope Protocol = "pyroscope"
	OTLP      Protocol = "otlp"
)

// Options are where and how. The zero values but of URL are usable.
type Options struct {
	URL      string   // of the other server; a path of it comes before that of requests
	Protocol Protocol // Pyroscope where it is ""
	// Bearer is called for each request; nil sends no credentials.
	Bearer func() (string, error)
	// Requests and Bytes bound what waits; 1000 and 64 MiB where they are 0.
	Requests, Bytes int
	// Patience is how long a request is tried, from its first attempt on; a minute.
	Patience time.Duration
	Log      *slog.Logger // nil is none

	transport http.RoundTripper // a test's
}

const (
	senders = 4
	// mostBody is what a request may have to be passed on, as ingest takes it.
	mostBody = 16 << 20
	// timeout is of one attempt.
	timeout = 10 * time.Second
	// The pause after a failed attempt doubles from the first to the longest.
	firstPause, longestPause = 500 * time.Millisecond, 15 * time.Second
	// drain is how long what waits may take when the server ends.
	drain = 5 * time.Second
)

// headers are those that go on.
var headers = []string{"Content-Type", "Content-Encoding", "Connect-Protocol-Version", "User-Agent", "X-Scope-OrgID"}

// A request waits to be passed on.
type request struct {
	path   string // with its query
	header http.Header
	body   []byte
	id     [16]byte // of the batch, for OTLP
}

// A Forwarder passes requests on.
type Forwarder struct {
	options Options
	base    string
	client  *http.Client
	queue   chan *request

	mu      sync.Mutex
	waiting int // bytes, those on their way included
	recent  recent
	sent    int64
	dropped [len(reasons)]int64
	logged  [len(reasons)]int64 // of dropped
	lastErr error
}

// The reasons to drop.
var reasons = [...]string{"queue_full", "too_long", "refused", "unreachable", "ended"}

const (
	queueFull = iota
	tooLong
	refused
	unreachable
	ended
)

// New returns a forwarder, which [Forwarder.Run] starts.
func New(o Options) (*Forwarder, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is no URL of a server to forward to, without credentials", o.URL)
	}
	if o.Protocol = cmp.Or(o.Protocol, Pyroscope); o.Protocol != Pyroscope && o.Protocol != OTLP {
		return nil, fmt.Errorf("protocol %q is neither %s nor %s", o.Protocol, Pyroscope, OTLP)
	}
	o.Requests, o.Bytes, o.Patience = cmp.Or(o.Requests, 1000), cmp.Or(o.Bytes, 64<<20), cmp.Or(o.Patience, time.Minute)
	if o.transport == nil {
		o.transport = &http.Transport{MaxIdleConnsPerHost: senders, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}
	}
	return &Forwarder{options: o, base: strings.TrimSuffix(o.URL, "/"), queue: make(chan *request, o.Requests), client: &http.Client{
		Transport:     o.transport,
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Handler passes on what next takes, and what next refuses for ever: the other server may
// know a format that this one does not. What the client will send again waits until then.
// Of another protocol than [Pyroscope] it is next.
func (f *Forwarder) Handler(next http.Handler) http.Handler {
	if f.options.Protocol != Pyroscope {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, mostBody+1))
		rest := io.Reader(r.Body)
		if err != nil {
			rest = failing{err}
		}
		inner := r.Clone(r.Context())
		inner.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), rest), r.Body}
		answer := &watched{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(answer, inner)
		switch {
		case err != nil || answer.status == http.StatusTooManyRequests || answer.status >= 500:
		case len(body) > mostBody:
			f.drop(tooLong, nil)
		default:
			f.add(&request{path: r.URL.RequestURI(), header: chosen(r.Header), body: body})
		}
	})
}

// failing is the end of a body that could not be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// watched remembers the status of an answer.
type watched struct {
	http.ResponseWriter
	status int
}

func (w *watched) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func chosen(from http.Header) http.Header {
	to := http.Header{}
	for _, name := range headers {
		if values := from.Values(name); len(values) > 0 {
			to[http.CanonicalHeaderKey(name)] = values
		}
	}
	return to
}

// add queues a request, or drops it where there is no room.
func (f *Forwarder) add(r *request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting+len(r.body) <= f.options.Bytes {
		select {
		case f.queue <- r:
			f.waiting += len(r.body)
			if f.options.Protocol == OTLP {
				f.recent.add(r.id)
			}
			return
		default:
		}
	}
	f.dropped[queueFull]++
}

// Run sends what is queued until the context ends, and then for a moment more.
func (f *Forwarder) Run(ctx context.Context) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() { f.sendAll(ctx, late) })
	}
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-tick.C:
			f.report()
		case <-ctx.Done():
			running = false
		}
	}
	deadline := time.AfterFunc(drain, cancel)
	defer deadline.Stop()
	wg.Wait()
	for {
		select {
		case <-f.queue:
			f.drop(ended, nil)
			continue
		default:
		}
		break
	}
	f.report()
	f.client.CloseIdleConnections()
}

// sendAll sends until the context ends, and then what waits until late ends.
func (f *Forwarder) sendAll(ctx, late context.Context) {
	for late.Err() == nil {
		select {
		case r := <-f.queue:
			f.send(ctx, late, r)
			continue
		default:
		}
		select {
		case r := <-f.queue:
			f.send(ctx, late, r)
		case <-ctx.Done():
			return // nothing waits
		}
	}
}

// send tries a request until it is taken, refused or too old. When the context has ended
// one attempt is all.
func (f *Forwarder) send(ctx, late context.Context, r *request) {
	defer func() {
		f.mu.Lock()
		f.waiting -= len(r.body)
		f.mu.Unlock()
	}()
	begin, out := time.Now(), r
	if f.options.Protocol == OTLP {
		out = encodeRequest(r)
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		wait, err := f.try(late, out)
		if err == nil {
			f.mu.Lock()
			f.sent++
			f.mu.Unlock()
			return
		}
		if errors.Is(err, errRefused) {
			f.drop(refused, err)
			return
		}
		wait = max(wait, pause/2+rand.N(pause/2))
		if time.Since(begin)+wait > f.options.Patience {
			f.drop(unreachable, err)
			return
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			f.drop(ended, err)
			return
		}
	}
}

// errRefused is what no second attempt changes.
var errRefused = errors.New("the other server refuses it")

// try sends a request once. After an error that may pass it says how long the other
// server wants to have peace.
func (f *Forwarder) try(ctx context.Context, r *request) (wait time.Duration, err error) {
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, f.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errRefused, err)
	}
	out.Header = r.header.Clone()
	if f.options.Bearer != nil {
		token, err := f.options.Bearer()
		if err != nil {
			return 0, err
		}
		out.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := f.client.Do(out)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	// To the end, so that the connection can be used again.
	said, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return 0, err
	}
	switch s := answer.StatusCode; {
	case s < 300 && f.options.Protocol == OTLP:
		if err := rejectedProfiles(said); err != nil {
			return 0, fmt.Errorf("%w: %w", errRefused, err)
		}
		return 0, nil
	case s < 300:
		return 0, nil
	case f.repeatable(s, said):
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
			wait = time.Duration(min(seconds, 3600)) * time.Second
		}
		return wait, fmt.Errorf("it answers with status %d: %.200q", s, said)
	default:
		return 0, fmt.Errorf("%w with status %d: %.200q", errRefused, s, said)
	}
}

// repeatable reports whether an answer is one after which a request is tried again.
func (f *Forwarder) repeatable(status int, said []byte) bool {
	if f.options.Protocol == OTLP {
		return repeatable[status]
	}
	// Pyroscope has one status for what it cannot read and for its rate limit (seen with 1.6).
	return status == http.StatusTooManyRequests || status >= 500 || status == http.StatusUnprocessableEntity && bytes.Contains(said, []byte("resource_exhausted"))
}

func (f *Forwarder) drop(reason int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropped[reason]++
	if err != nil {
		f.lastErr = err
	}
}

// report logs what was dropped since the last report.
func (f *Forwarder) report() {
	f.mu.Lock()
	defer f.mu.Unlock()
	var what []any
	for i, n := range f.dropped {
		if since := n - f.logged[i]; since > 0 {
			what = append(what, reasons[i], since)
		}
	}
	f.logged = f.dropped
	if len(what) == 0 || f.options.Log == nil {
		return
	}
	if f.lastErr != nil {
		what = append(what, "last_error", f.lastErr)
		f.lastErr = nil
	}
	f.options.Log.Warn("profiles were not forwarded", what...)
}

// Metrics writes the counters as Prometheus reads them.
func (f *Forwarder) Metrics(w io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	exposition.Counter(w, "gowhy_fleet_forwarded_total", "Requests that were passed on.").Int(f.sent)
	dropped := exposition.Counter(w, "gowhy_fleet_forward_dropped_total", "Requests that were not passed on.")
	for i, reason := range reasons {
		dropped.Int(f.dropped[i], "reason", reason)
	}
	exposition.Gauge(w, "gowhy_fleet_forward_waiting_bytes", "Bytes that wait to be passed on.").Int(int64(f.waiting))
}
