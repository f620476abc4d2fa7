package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

const (
	// greeting is the first line of the index page, by which a recorder knows
	// the agent and its version.
	greeting = "gowhy agent 1"

	defaultLength = 5 * time.Second
	maxRecord     = 10 * time.Minute // its parts but the trace are held in memory
	maxSingle     = 24 * time.Hour   // who asks for it closes the connection before

	defaultLimit = 512 << 20 // bytes of trace

	// writeLimit is how long a client may take to accept one write.
	writeLimit = 30 * time.Second
)

// A handler answers one request whose arguments were understood.
type handler struct {
	what string // for the index
	max  time.Duration
	f    func(c *conn, o options) error
}

var handlers = map[string]handler{
	"record":  {"d=10s   a whole recording, as gowhy record writes it", maxRecord, serveRecord},
	"trace":   {"d=10s   execution trace", maxSingle, serveTrace},
	"metrics": {"d=10s   runtime/metrics ten times a second, lines of JSON", maxSingle, serveMetrics},
	"profile": {"d=10s   CPU profile", maxSingle, func(c *conn, o options) error { return c.serveWindow(&cpu{redact: o.redact}, o) }},
	"allocs": {"d=10s   what was allocated meanwhile", maxSingle, func(c *conn, o options) error {
		return c.serveWindow(&delta{name: "allocs", redact: o.redact, collect: o.collect}, o)
	}},
	"block": {"d=10s   waiting meanwhile", maxSingle, func(c *conn, o options) error {
		return c.serveWindow(&block{delta: delta{name: "block", redact: o.redact}, rate: o.blockRate, window: o.blockWindow()}, o)
	}},
	"mutex": {"d=10s   waiting for locks meanwhile", maxSingle, func(c *conn, o options) error {
		return c.serveWindow(&mutex{delta: delta{name: "mutex", redact: o.redact}, fraction: o.mutexFraction}, o)
	}},
	"heap":          {"        memory in use", 0, serveState("heap")},
	"goroutine":     {"        goroutines", 0, serveState("goroutine")},
	"threadcreate":  {"        what made threads", 0, serveState("threadcreate")},
	"goroutineleak": {"        goroutines that nothing can wake", 0, serveState("goroutineleak")},
	"heapdump":      {"        a heap dump, while which the program is stopped", 0, serveHeapDump},
	"cmdline":       {"        command line", 0, serveCommand},
	"build":         {"        what the program was built from", 0, serveBuild},
	"about":         {"        version, clocks, rates and CPU time, as a manifest", 0, serveAbout},
	"start":         {"        a recorder has sent its requests", 0, serveStart},
	"stop":          {"        end what is being recorded", 0, serveStop},
}

func serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if err := foreign(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/") || r.URL.Path == "" {
		serveIndex(w)
		return
	}
	name := path.Base(r.URL.Path)
	h, ok := handlers[name]
	if !ok || profiles[name] && pprof.Lookup(name) == nil {
		http.Error(w, fmt.Sprintf("there is no %q here; the index is at the path that ends with a slash", name), http.StatusNotFound)
		return
	}
	o, err := parse(r.URL.Query(), h.max)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	newConn(w, r).serve(h, o)
}

// profiles are those that not every runtime has.
var profiles = map[string]bool{"goroutineleak": true}

// foreign refuses what a browser asks for on behalf of another site: a page
// could otherwise make its visitor's services record, and read what they say. A
// page may let its own name stand for any address, so that names that anybody can
// register are refused too.
func foreign(r *http.Request) error {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return errors.New("this request was made by a page of another site")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return errors.New("this request was made by a page of another site")
		}
	}
	if name := hostName(r.Host); !ownName(name) {
		return fmt.Errorf("%q may be anybody's name for this machine: ask by its address, or set %s=%s in the program's environment", name, hostsVariable, name)
	}
	return nil
}

// hostsVariable names the hosts, with commas, for which the handler answers.
const hostsVariable = "GOWHY_AGENT_HOSTS"

// hostName returns a Host header without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// ownDomains are not to be had in public.
var ownDomains = []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".test", ".svc", ".cluster.local"}

// ownName reports whether only somebody of this network can have given a name:
// an address, one without a domain, this machine's, or one that was allowed.
func ownName(name string) bool {
	if name == "" || !strings.Contains(name, ".") || net.ParseIP(name) != nil {
		return true
	}
	for _, d := range ownDomains {
		if strings.HasSuffix(name, d) {
			return true
		}
	}
	if own, err := os.Hostname(); err == nil && strings.EqualFold(own, name) {
		return true
	}
	return slices.Contains(strings.Split(strings.ToLower(os.Getenv(hostsVariable)), ","), name)
}

func serveIndex(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	var names []string
	for name := range handlers {
		if (!profiles[name] || pprof.Lookup(name) != nil) && (name != "heapdump" || heapDumpAllowed()) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	fmt.Fprintln(w, greeting)
	fmt.Fprintln(w)
	for _, name := range names {
		fmt.Fprintf(w, "%-14s %s\n", name, handlers[name].what)
	}
}

// parse reads the arguments. longest is 0 for what is answered at once.
func parse(q url.Values, longest time.Duration) (o options, err error) {
	o = options{d: defaultLength, limit: defaultLimit, blockRate: defaultBlockRate, mutexFraction: defaultMutexFraction}
	for name, read := range map[string]func(string) error{
		"d":     func(v string) error { o.d, err = length(v, longest); return err },
		"limit": func(v string) error { o.limit, err = size(v); return err },
		"blockrate": func(v string) error {
			o.blockRate, err = wholeNumber("blockrate", v, 1_000_000_000)
			o.blockWhole = true
			return err
		},
		"mutexfraction": func(v string) error { o.mutexFraction, err = wholeNumber("mutexfraction", v, 1_000_000); return err },
		"redact":        func(v string) error { o.redact, err = strconv.ParseBool(v); return err },
		"gc":            func(v string) error { o.collect, err = strconv.ParseBool(v); return err },
		"sources":       func(v string) error { o.sources, err = sourceNames(v); return err },
	} {
		if v := q.Get(name); v != "" {
			if err := read(v); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

func length(v string, longest time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil {
		var s float64
		if s, err = strconv.ParseFloat(v, 64); err == nil {
			d = time.Duration(s * float64(time.Second))
		}
	}
	if longest == 0 {
		return 0, nil
	}
	if err != nil || d <= 0 || d > longest {
		return 0, outOf("d", v, fmt.Sprintf("a duration like 10s, at most %v", longest))
	}
	return d, nil
}

func size(v string) (int64, error) {
	number, unit := v, int64(1)
	for _, u := range []struct {
		name string
		n    int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}} {
		if n, ok := strings.CutSuffix(v, u.name); ok {
			number, unit = n, u.n
			break
		}
	}
	const least, most = 1 << 20, 64 << 30
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > most/unit || n*unit < least {
		return 0, outOf("limit", v, "a size like 512MiB, from 1MiB to 64GiB")
	}
	return n * unit, nil
}

func wholeNumber(name, v string, most int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > most {
		return 0, outOf(name, v, fmt.Sprintf("a number from 1 to %d", most))
	}
	return n, nil
}

func outOf(name, value, want string) error {
	return fmt.Errorf("%s=%q: want %s", name, value, want)
}

var allSources = []string{"trace", "cpu", "allocs", "heap", "block", "mutex", "goroutine", "threadcreate", "goroutineleak", "metrics"}

func sourceNames(v string) ([]string, error) {
	names := strings.Split(v, ",")
	for _, n := range names {
		if !slices.Contains(allSources, n) {
			return nil, outOf("sources", v, "some of "+strings.Join(allSources, ","))
		}
	}
	return names, nil
}

// A conn is a connection to which an answer is written while it comes to be.
// No write waits longer than writeLimit, and the deadlines that the program's
// server has for ordinary answers do not count.
type conn struct {
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	sent    bool // the header
	cancel  context.CancelFunc
	ctx     context.Context
}

func newConn(w http.ResponseWriter, r *http.Request) *conn {
	c := &conn{w: w, r: r, control: http.NewResponseController(w)}
	c.ctx, c.cancel = context.WithCancel(r.Context())
	// A ResponseWriter that somebody wrapped may know neither deadlines nor
	// flushing. Then the server's own apply. That of reading ends with the
	// request's head.
	c.control.SetWriteDeadline(time.Time{})
	w.Header().Set("Connection", "close") // our deadlines must not stay for other requests
	return c
}

func (c *conn) serve(h handler, o options) {
	defer c.cancel()
	err := h.f(c, o)
	switch {
	case err == nil || c.ctx.Err() != nil:
	case c.sent:
		// The client must not take half an answer for a whole one.
		panic(http.ErrAbortHandler)
	case isBusy(err):
		c.refuse(http.StatusConflict, err)
	default:
		c.refuse(http.StatusServiceUnavailable, err)
	}
}

func (c *conn) refuse(code int, err error) {
	c.w.Header().Del("Content-Disposition")
	http.Error(c.w, err.Error(), code)
}

// begin sends the header: what was asked for is now going on.
func (c *conn) begin(contentType, name string) {
	h := c.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	c.sent = true
	c.w.WriteHeader(http.StatusOK)
	c.control.Flush()
}

func (c *conn) Write(p []byte) (int, error) {
	c.control.SetWriteDeadline(time.Now().Add(writeLimit))
	n, err := c.w.Write(p)
	if err == nil {
		if err = c.control.Flush(); errors.Is(err, http.ErrNotSupported) {
			err = nil
		}
	}
	c.control.SetWriteDeadline(time.Time{})
	if err != nil {
		c.cancel()
	}
	return n, err
}

func isBusy(err error) bool {
	var b *busy
	return errors.As(err, &b)
}

const binaryType = "application/octet-stream"

func serveRecord(c *conn, o options) error {
	release, err := front.claim("a whole recording")
	if err != nil {
		return err
	}
	defer release()
	w := front.open(c.ctx, o.d)
	defer front.close(w)
	c.begin("application/zip", "run.gowhy")
	return record(c, w, o)
}

// serveWindow answers with what a source has when the window is over.
func (c *conn) serveWindow(s windowSource, o options) error {
	w := front.open(c.ctx, o.d)
	defer front.close(w)
	if err := s.start(); err != nil {
		return err
	}
	c.begin(binaryType, path.Base(c.r.URL.Path)+".pb.gz")
	w.wait(nil)
	content, err := s.stop()
	if err != nil || w.gone() {
		return err
	}
	_, err = c.Write(content)
	return err
}

func serveTrace(c *conn, o options) error {
	w := front.open(c.ctx, o.d)
	defer front.close(w)
	t := &tracer{limit: o.limit}
	if err := t.start(); err != nil {
		return err
	}
	c.begin(binaryType, "trace.out")
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		w.wait(t.quit)
		t.end()
	}()
	err := t.copyTo(c) // on an error the context is done as well
	<-stopped
	return err
}

func serveMetrics(c *conn, o options) error {
	release, err := front.claim("runtime/metrics")
	if err != nil {
		return err
	}
	defer release()
	w := front.open(c.ctx, o.d)
	defer front.close(w)
	stop := make(chan struct{})
	go func() {
		w.wait(nil)
		close(stop)
	}()
	return sampleTo(&headerWriter{c: c, contentType: "application/jsonl", name: recording.MetricsMember}, startClock(), nil, stop)
}

// A headerWriter sends the header of its answer with the first write. A program that waits
// for its recorder goes on when that sees the header: what was measured before
// must be so by then.
type headerWriter struct {
	c                 *conn
	contentType, name string
}

func (b *headerWriter) Write(p []byte) (int, error) {
	if !b.c.sent {
		b.c.begin(b.contentType, b.name)
	}
	return b.c.Write(p)
}

func serveState(name string) func(*conn, options) error {
	return func(c *conn, o options) error {
		if o.collect && name == "heap" {
			runtime.GC()
		}
		content, err := snapshot(name, o.redact)
		if err != nil {
			return err
		}
		c.begin(binaryType, name+".pb.gz")
		_, err = c.Write(content)
		return err
	}
}

func serveCommand(c *conn, o options) error {
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := io.WriteString(c.w, strings.Join(os.Args, "\x00"))
	return err
}

func serveBuild(c *conn, o options) error {
	c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := c.w.Write(buildText(o.redact))
	return err
}

// serveAbout answers with a manifest of this moment. Two of them tell the CPU
// time between them, which nobody on another machine could measure.
func serveAbout(c *conn, o options) error {
	clock := startClock()
	m := manifest(o.redact)
	m.Schema = recording.Schema
	m.Start = clock.start.Round(0)
	if a, ok := clock.anchor(); ok {
		m.Clock = append(m.Clock, a)
	}
	m.Rates = rates(nil, nil)
	if d, ok := cpuTime(); ok {
		m.Cost = &recording.Cost{TargetCPU: d.Seconds()}
	}
	c.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(c.w).Encode(m)
}

func serveStart(c *conn, o options) error {
	letGo()
	_, err := io.WriteString(c.w, "started\n")
	return err
}

func serveStop(c *conn, o options) error {
	ctx, cancel := context.WithTimeout(c.ctx, finishLimit)
	defer cancel()
	n := front.endAll(ctx)
	_, err := fmt.Fprintf(c.w, "%d ended\n", n)
	return err
}
