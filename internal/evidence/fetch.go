package evidence

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/recording"
)

// Limits on what a server may send, and on how long it may take.
const (
	maxProfileFetch = 256 << 20 // bytes
	maxMetricsFetch = 1 << 30
	// fetchSlack is how much longer than the recording an answer may take: a
	// starved server is late, and those are the interesting ones.
	fetchSlack = 30 * time.Second
	// snapshotLimit is for what is answered at once.
	snapshotLimit = 10 * time.Second
	probeLimit    = 2 * time.Second
)

// An endpoint is where a program can be asked about itself.
type endpoint struct {
	client *http.Client
	base   string // of the handlers, with a slash at its end
	query  url.Values
	agent  bool   // ours, else net/http/pprof
	local  bool   // a socket that was made for this recording
	index  []byte // its first page, nil when it has none
	// traceLimit is at how many bytes the agent ends the trace by itself.
	traceLimit int64
}

const (
	agentPath  = "/debug/gowhy/"
	pprofPath  = "/debug/pprof/"
	agentGreet = "gowhy agent 1" // the first line of the agent's index
)

// at returns the URL of one handler. Arguments come in pairs.
func (e *endpoint) at(path string, args ...string) string {
	q := url.Values{}
	for k, v := range e.query {
		q[k] = v
	}
	for i := 0; i+1 < len(args); i += 2 {
		q.Set(args[i], args[i+1])
	}
	if len(q) == 0 {
		return e.base + path
	}
	return e.base + path + "?" + q.Encode()
}

// lasting returns the URL of a handler that takes some time to answer.
func (e *endpoint) lasting(path string, d time.Duration) string {
	if e.agent {
		args := []string{"d", d.String()}
		if path == "trace" {
			args = append(args, "limit", fmt.Sprint(e.traceLimit))
		}
		return e.at(path, args...)
	}
	return e.at(path, "seconds", fmt.Sprint(wholeSeconds(d)))
}

// wholeSeconds is what net/http/pprof understands.
func wholeSeconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// shown is the endpoint's address without what nobody should read: a password
// or a token in the query.
func (e *endpoint) shown() string {
	if e.local {
		return ""
	}
	return withoutSecrets(e.base)
}

func withoutSecrets(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// parseURL returns where the handlers of net/http/pprof and of the agent are
// when the user gives s, each with a slash at its end; one of them is empty
// when s names the other.
func parseURL(s string) (pprof, agent string, query url.Values, err error) {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", nil, &Problem{What: fmt.Sprintf("%q is not an http URL", s), Hint: "gowhy record -o run.gowhy -d 5s --url http://localhost:6060"}
	}
	query = u.Query()
	for _, own := range []string{"seconds", "debug", "gc", "d"} { // of a pasted …/trace?seconds=5
		query.Del(own)
	}
	u.RawQuery, u.Fragment = "", ""
	path := strings.TrimSuffix(u.Path, "/")
	at := func(path string) string {
		u.Path = path + "/"
		return u.String()
	}
	if i := strings.Index(path, "/gowhy"); i >= 0 {
		return "", at(path[:i] + "/gowhy"), query, nil
	}
	if i := strings.Index(path, "/pprof"); i >= 0 {
		return at(path[:i] + "/pprof"), at(path[:i] + "/gowhy"), query, nil
	}
	return at(path + "/debug/pprof"), at(path + "/debug/gowhy"), query, nil
}

func checkURL(s string) error {
	_, _, _, err := parseURL(s)
	return err
}

// remoteClient talks to the host that the user named and to no other.
func remoteClient() *http.Client {
	return &http.Client{Transport: transport(), CheckRedirect: sameHost}
}

// localClient talks to ports of this machine, never through a proxy.
func localClient() *http.Client {
	t := transport()
	t.Proxy = nil
	return &http.Client{Transport: t, CheckRedirect: sameHost}
}

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	t.MaxIdleConnsPerHost = 2
	return t
}

// unixClient talks to the socket at path, whatever host its URLs name.
func unixClient(path string) *http.Client {
	var d net.Dialer
	return &http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, "unix", path)
		}},
		CheckRedirect: sameHost,
	}
}

func sameHost(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host || len(via) > 5 {
		return fmt.Errorf("it redirects to %s", req.URL.Host)
	}
	return nil
}

// find looks for the endpoint at a URL that the user gave. The agent is
// preferred: it knows more, and sets rates for the time of the recording.
func find(ctx context.Context, target string) (*endpoint, error) {
	pprof, agent, query, err := parseURL(target)
	if err != nil {
		return nil, err
	}
	client := remoteClient()
	e := &endpoint{client: client, base: agent, query: query, agent: true}
	switch err := e.probe(ctx, snapshotLimit); {
	case err == nil:
		return e, nil
	case pprof == "":
		return nil, noEndpoint(e.shown(), err)
	case unreachable(err):
		return nil, noEndpoint(withoutSecrets(pprof), err)
	}
	e = &endpoint{client: client, base: pprof, query: query}
	if err := e.probe(ctx, snapshotLimit); err != nil {
		return nil, noEndpoint(e.shown(), err)
	}
	return e, nil
}

// probe reads the index. Programs that mount single handlers of
// net/http/pprof on a mux of their own often leave it out.
func (e *endpoint) probe(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body, err := e.get(ctx, e.at(""), 1<<16)
	if e.agent {
		if err == nil && !bytes.HasPrefix(body, []byte(agentGreet)) {
			err = errors.New("something else answers")
		}
		e.index = body
		return err
	}
	if err == nil && bytes.Contains(body, []byte("goroutine")) && bytes.Contains(body, []byte("profile")) {
		e.index = body
		return nil
	}
	if err != nil && !answered(err) {
		return err
	}
	for _, path := range []string{"cmdline", "allocs", "heap", "threadcreate"} {
		body, herr := e.get(ctx, e.at(path), maxProfileFetch)
		if herr == nil && sniff(body) != isHTML && !e.always(ctx, body) {
			return nil
		}
		err = cmp.Or(err, herr)
	}
	return cmp.Or(err, errors.New("something else answers"))
}

// always reports whether the server gives the same answer for what cannot be
// there: it is one that answers everything.
func (e *endpoint) always(ctx context.Context, answer []byte) bool {
	body, err := e.get(ctx, e.at("no-profile-of-this-name"), int64(len(answer))+1)
	return err == nil && bytes.Equal(body, answer)
}

// offers reports whether the index names a profile.
func (e *endpoint) offers(name string) bool { return bytes.Contains(e.index, []byte(name)) }

// A statusError is an answer other than 200 OK.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answered %d %s: %q", e.code, http.StatusText(e.code), e.text)
}

func answered(err error) bool {
	var status *statusError
	return errors.As(err, &status)
}

// unreachable reports whether nobody listens at an address.
func unreachable(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

// noEndpoint says why a URL cannot be recorded.
func noEndpoint(base string, err error) error {
	var status *statusError
	p := &Problem{None: true, Err: err}
	switch {
	case errors.As(err, &status) && (status.code == http.StatusUnauthorized || status.code == http.StatusForbidden):
		p.What = fmt.Sprintf("%s is not open to us: %v", base, err)
		p.Hint = "gowhy record --url http://USER:PASSWORD@HOST:PORT   # or a port of the program that asks for none"
	case errors.As(err, &status) && status.code == http.StatusNotFound, err.Error() == "something else answers":
		p.What = fmt.Sprintf("there are no profiling handlers at %s", base)
		p.Hint = `import _ "net/http/pprof" in the program, or give the path: --url http://HOST:PORT/PREFIX/pprof`
	case errors.Is(err, context.DeadlineExceeded):
		p.What = fmt.Sprintf("%s does not answer", base)
		p.Hint = "is it the right port? On the program's machine:   gowhy record --pid PID"
	default:
		p.What = fmt.Sprintf("cannot reach %s: %v", base, cause(err))
		p.Hint = "is the program running and the port right?   curl " + quote(base)
	}
	return p
}

// cause is what went wrong without the request around it.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (e *endpoint) request(ctx context.Context, u string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
		resp.Body.Close()
		return nil, &statusError{resp.StatusCode, firstLine(text)}
	}
	return resp, nil
}

// get returns an answer that is held in memory.
func (e *endpoint) get(ctx context.Context, u string, limit int64) ([]byte, error) {
	resp, err := e.request(ctx, u)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		return nil, fmt.Errorf("more than %d MiB were sent", limit>>20)
	}
	return body, err
}

// profile returns a profile and its bytes as pprof files have them. A server
// may have called its own compression a transfer encoding, which the
// transport then took off.
func (e *endpoint) profile(ctx context.Context, u string) (*profile.Profile, []byte, error) {
	data, err := e.get(ctx, u, maxProfileFetch)
	if err != nil {
		return nil, nil, err
	}
	switch sniff(data) {
	case isGzip:
	case isHTML:
		return nil, nil, errors.New("the answer is a web page")
	case isBinary:
	default:
		return nil, nil, errors.New("the answer is something else")
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, nil, fmt.Errorf("the answer is no profile: %v", err)
	}
	if sniff(data) != isGzip {
		data = nil // to be packed again
	}
	return p, data, nil
}

// cmdline asks a program for its command line; it may well refuse.
func (e *endpoint) cmdline(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	body, err := e.get(ctx, e.at("cmdline"), 1<<16)
	if err != nil || len(body) == 0 || sniff(body) == isHTML {
		return nil
	}
	return strings.Split(strings.TrimRight(string(body), "\n\x00"), "\x00")
}

// A fetch is the recording of one endpoint.
type fetch struct {
	*recorder
	at     *endpoint
	before map[string]*profile.Profile // snapshots of profiles that count since the program's start
	taken  map[string]time.Time        // when
	mu     sync.Mutex
	// firstPiece is the length of a profile's first piece, if not the usual.
	firstPiece time.Duration
}

// snapshots are what is answered at once. A cumulative one is had twice, and
// the recording gets the difference: unlike asking the server for it, that
// still works when the recording is ended early.
var snapshots = []struct {
	source, path, start, end string
	cumulative               bool
}{
	{source: "heap", path: "heap", start: recording.HeapStartMember, end: recording.HeapEndMember},
	{source: "goroutine", path: "goroutine", start: recording.GoroutineStartMember, end: recording.GoroutineEndMember},
	{source: "threadcreate", path: "threadcreate", end: recording.ThreadCreateMember},
	{source: "goroutineleak", path: "goroutineleak", end: recording.LeakMember},
	{source: "allocs", path: "allocs", end: recording.AllocsMember, cumulative: true},
	{source: "block", path: "block", end: recording.BlockMember, cumulative: true},
	{source: "mutex", path: "mutex", end: recording.MutexMember, cumulative: true},
}

// begin takes the snapshots of the start.
func (f *fetch) begin(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, snapshotLimit)
	defer cancel()
	f.before, f.taken = map[string]*profile.Profile{}, map[string]time.Time{}
	var wg sync.WaitGroup
	for _, s := range snapshots {
		if !f.wants(s.source) || s.start == "" && (!s.cumulative || f.at.agent) {
			continue
		}
		wg.Go(func() {
			p, data, err := f.at.profile(ctx, f.at.at(s.path))
			switch {
			case err != nil && s.start != "":
				f.refuse(s.start, explain(err))
			case err != nil: // the end will tell why
			case s.cumulative:
				f.mu.Lock()
				f.before[s.source], f.taken[s.source] = p, f.clock.now()
				f.mu.Unlock()
			default:
				f.keep(s.start, p, data)
			}
		})
	}
	wg.Wait()
}

// end takes the snapshots of the end. The recording may have been interrupted
// by now, which is no reason to go without them.
func (f *fetch) end() {
	ctx, cancel := context.WithTimeout(context.Background(), snapshotLimit)
	defer cancel()
	var wg sync.WaitGroup
	for _, s := range snapshots {
		if !f.wants(s.source) || s.cumulative && f.at.agent {
			continue
		}
		if s.source == "goroutineleak" && !f.at.offers("goroutineleak") {
			continue // the runtime has it when it was built for it
		}
		wg.Go(func() {
			p, data, err := f.at.profile(ctx, f.at.at(s.path))
			if err == nil && s.cumulative {
				p, err = f.since(s.source, p)
				data = nil
			}
			switch {
			case errors.Is(err, errRateOff):
				f.refuse(s.end, Refusal{Why: err.Error(), How: rateHint[s.source]})
				return
			case err != nil:
				f.refuse(s.end, explain(err))
				return
			}
			f.keep(s.end, p, data)
		})
	}
	wg.Wait()
}

// since returns what a profile counted since the first snapshot.
func (f *fetch) since(source string, p *profile.Profile) (*profile.Profile, error) {
	f.mu.Lock()
	before, at := f.before[source], f.taken[source]
	f.mu.Unlock()
	if before == nil {
		return nil, errors.New("its state at the start could not be had")
	}
	if rateHint[source] != "" && len(before.Sample)+len(p.Sample) == 0 {
		return nil, errRateOff
	}
	if source == "allocs" {
		onlyAllocated(before)
		onlyAllocated(p)
	}
	before.Scale(-1)
	d, err := profile.Merge([]*profile.Profile{before, p})
	if err != nil {
		return nil, err
	}
	d.TimeNanos, d.DurationNanos = at.UnixNano(), int64(f.clock.now().Sub(at))
	return d, nil
}

// errRateOff is what an empty profile of delays means: that nobody asked for
// one, and not that nobody waited.
var errRateOff = errors.New("the program has it switched off")

var rateHint = map[string]string{
	"block": `runtime.SetBlockProfileRate(10000) in the program, or import _ "github.com/gowhy/gowhy/agent", which does it for the recording`,
	"mutex": `runtime.SetMutexProfileFraction(100) in the program, or import _ "github.com/gowhy/gowhy/agent", which does it for the recording`,
}

// onlyAllocated takes out what is in use: the difference of that is no
// profile, and the heap profiles have it.
func onlyAllocated(p *profile.Profile) {
	var columns []int
	var types []*profile.ValueType
	for i, t := range p.SampleType {
		if strings.HasPrefix(t.Type, "alloc_") {
			columns, types = append(columns, i), append(types, t)
		}
	}
	for _, s := range p.Sample {
		values := make([]int64, len(columns))
		for i, c := range columns {
			values[i] = s.Value[c]
		}
		s.Value = values
	}
	p.SampleType = types
}

// lasting are the sources that a window of time is given to.
var lasting = []struct {
	source, member string
	agentOnly      bool
}{
	{source: "trace", member: recording.TraceMember},
	{source: "cpu", member: recording.CPUMember},
	{source: "metrics", member: recording.MetricsMember, agentOnly: true},
	{source: "allocs", member: recording.AllocsMember, agentOnly: true},
	{source: "block", member: recording.BlockMember, agentOnly: true},
	{source: "mutex", member: recording.MutexMember, agentOnly: true},
}

// during records what takes time, until the given moment, or until stop when
// it is zero. It returns when all answers are there. started is called when
// all requests were sent.
func (f *fetch) during(stop context.Context, until time.Time, started func()) {
	f.at.traceLimit = max(f.o.TraceLimit, minTraceLimit)
	ctx, cancel := f.answering(stop)
	defer cancel()
	var wg, sent sync.WaitGroup
	for _, s := range lasting {
		if !f.wants(s.source) || s.agentOnly && !f.at.agent {
			continue
		}
		sent.Add(1)
		once := sync.OnceFunc(sent.Done)
		// The agent's answer begins when the source does.
		begun := &httptrace.ClientTrace{GotFirstResponseByte: once}
		if !f.at.agent {
			begun = &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { once() }}
		}
		w := &windowed{stop: stop, until: until, ctx: httptrace.WithClientTrace(ctx, begun)}
		wg.Go(func() {
			defer once()
			var err error
			switch s.source {
			case "trace", "metrics":
				err = f.stream(w, s.source, s.member)
			default:
				err = f.pieces(w, s.source, s.member)
			}
			if err != nil {
				f.refuse(s.member, explain(err))
			}
		})
	}
	sent.Wait()
	started()
	f.about(ctx)
	wg.Wait()
}

// about takes over what the agent knows of the program while it is recorded.
func (f *fetch) about(ctx context.Context) {
	if !f.at.agent {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	text, err := f.at.get(ctx, f.at.at("about"), 1<<20)
	var m recording.Manifest
	if err != nil || json.Unmarshal(text, &m) != nil {
		return
	}
	f.man.Go, f.man.Procs = cmp.Or(f.man.Go, m.Go), cmp.Or(f.man.Procs, m.Procs)
	f.man.Rates = m.Rates
	if len(f.man.Env) == 0 {
		f.man.Env = m.Env
	}
	if f.wants("build") && !f.has(recording.BuildMember) { // on another machine
		if text, err := f.at.get(ctx, f.at.at("build"), 1<<20); err == nil {
			_ = f.w.Add(recording.BuildMember, text) // without it there is less
		}
	}
}

// A windowed request asks for what lasts until a moment, zero for until stop.
// Its answer may take longer, until ctx is done.
type windowed struct {
	stop, ctx context.Context
	until     time.Time
}

// How long an answer may take when the recording has ended: the agent was
// asked to end it, or the program has ended and some of it is on its way.
const (
	agentGrace = 10 * time.Second
	goneGrace  = 2 * time.Second
)

// answering returns a context for requests that outlives stop when answers
// are still to come: net/http/pprof ends a profile only when its time has run
// out, and then cannot send it any more; the agent ends it when it is told.
func (f *fetch) answering(stop context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(stop))
	go func() {
		select {
		case <-stop.Done():
		case <-ctx.Done():
			return
		}
		switch {
		case errors.Is(context.Cause(stop), errProgramGone):
			sleepUntil(ctx, time.Now().Add(goneGrace))
		case f.at.agent:
			asked, done := context.WithTimeout(ctx, probeLimit)
			_, _ = f.at.get(asked, f.at.at("stop"), 1<<16) // without it there is less
			done()
			sleepUntil(ctx, time.Now().Add(agentGrace))
		}
		cancel(context.Cause(stop))
	}()
	return ctx, func() { cancel(nil) }
}

// agentTail is how much the agent may send beyond the limit and a quarter of
// it, for the trace to be whole.
const agentTail = 32 << 20

// minTraceLimit is the least that the agent takes.
const minTraceLimit = 1 << 20

// openEnd is what is asked for when the end is not known: the connection is
// closed before.
const openEnd = 24 * time.Hour

// stream writes an answer into its member as it comes, and keeps what had come
// when it is cut.
func (f *fetch) stream(w *windowed, path, member string) error {
	d, ctx := openEnd, w.ctx
	if !w.until.IsZero() {
		d = time.Until(w.until)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(w.ctx, d+fetchSlack)
		defer cancel()
	}
	stop := w.stop
	resp, err := f.at.request(ctx, f.at.lasting(path, d))
	if err != nil {
		return ended(stop, err)
	}
	defer resp.Body.Close()
	limit := int64(maxMetricsFetch)
	if path == "trace" {
		if limit = f.o.TraceLimit; f.at.agent {
			limit += limit/4 + agentTail // it ends it well, but not to the byte
		}
	}
	began := time.Now()
	n, err := f.fill(member, resp.Body, limit)
	full := n == limit || path == "trace" && n >= f.o.TraceLimit
	if err == nil && full {
		f.refuse(member, Refusal{Why: fmt.Sprintf("it reached its limit of %s after %.1f s and ends there",
			binarySize(min(n, max(f.o.TraceLimit, 1))), time.Since(began).Seconds()), How: "--trace-limit 2GB raises it, --without trace goes without it"})
	}
	if kind := sniffFile(f.w.Path(member)); kind != isTrace && kind != isGzip && path == "trace" {
		os.Remove(f.w.Path(member))
		switch {
		case err != nil:
		case kind == isHTML:
			err = errors.New("the answer is a web page")
		default:
			err = errors.New("the answer is something else")
		}
	}
	if err != nil && f.has(member) && stopped(stop) {
		return nil // what came before the end is of use
	}
	return ended(stop, err)
}

// fill writes a member from a stream, as much as there is and at most limit.
func (r *recorder) fill(member string, from io.Reader, limit int64) (int64, error) {
	to, err := os.Create(r.w.Path(member))
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(to, io.LimitReader(from, limit))
	return n, errors.Join(err, to.Close())
}

// Pieces of a profile whose end is not known begin short and grow: what is
// lost when the program ends is the last one. Between two the profiler is
// off, for less than the tenth of a second that it takes to end one.
const (
	firstPiece = time.Second
	lastPiece  = 8 * time.Second
	// maxPiece is for a profile of known length, which is rarely cut.
	maxPiece = 15 * time.Second
)

// pieces records a profile, in more than one piece when it is long, and joins
// them.
func (f *fetch) pieces(w *windowed, source, member string) error {
	stop, until := w.stop, w.until
	path := source
	if source == "cpu" {
		path = "profile"
	}
	var all *profile.Profile
	var only []byte
	piece := cmp.Or(f.firstPiece, firstPiece)
	for n := 0; stop.Err() == nil; n++ {
		d := piece
		if !until.IsZero() {
			if d = min(time.Until(until), maxPiece); d < firstPiece/2 && n > 0 {
				break
			}
		}
		asked := time.Now()
		p, data, err := f.piece(w.ctx, path, d)
		if err != nil {
			if all == nil {
				return ended(stop, err)
			}
			if !stopped(stop) {
				f.refuse(member, Refusal{Why: "it ends early: " + explain(err).Why})
			}
			break
		}
		if only = data; all != nil {
			only = nil
			if p, err = profile.Merge([]*profile.Profile{all, p}); err != nil {
				return err
			}
		}
		all, piece = p, min(2*piece, lastPiece)
		if time.Since(asked) < d/2 {
			break // it does not wait, and would be asked without an end
		}
	}
	if all == nil {
		return ended(stop, context.Canceled)
	}
	f.keep(member, all, only)
	return nil
}

func (f *fetch) piece(ctx context.Context, path string, d time.Duration) (*profile.Profile, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, d+fetchSlack)
	defer cancel()
	return f.at.profile(ctx, f.at.lasting(path, d))
}

// stopped reports whether the recording has ended, or does so at once: the
// connection to a program that ends breaks before its end is noticed.
func stopped(stop context.Context) bool {
	sleepUntil(stop, time.Now().Add(2*goneEvery))
	return stop.Err() != nil
}

// ended puts the reason of an error before its symptom.
func ended(stop context.Context, err error) error {
	if err != nil && !answered(err) && stopped(stop) {
		return errEnded(stop)
	}
	return err
}

func sniffFile(path string) kind {
	f, err := os.Open(path)
	if err != nil {
		return isEmpty
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return sniff(head[:n])
}

// explain says why something could not be fetched and what would help.
func explain(err error) Refusal {
	var status *statusError
	r := Refusal{Why: cause(err).Error()}
	if errors.Is(err, context.DeadlineExceeded) {
		r.Why = "the server did not answer in time"
	}
	if !errors.As(err, &status) {
		return r
	}
	switch {
	case strings.Contains(status.text, "WriteTimeout"):
		r.How = "record for less with -d, or take http.Server's WriteTimeout away"
	case strings.Contains(status.text, "already"):
		r.How = "somebody else records it: wait until they are done"
	case status.code == http.StatusNotFound:
		r.Why = "the program does not offer it"
	}
	return r
}

func binarySize(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", (n+1023)>>10)
}
