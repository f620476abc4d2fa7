package record

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// Limits on what a program may send, and on how long it may take.
const (
	maxProfileFetch = 32 << 20 // bytes of one, packed as a rule
	// All answers together but the trace, which has a limit of its own: two of each
	// profile take some MB of it, and what is asked for again and again less than this.
	allowance       = 64 << 20 // bytes
	allowancePerSec = 1 << 20
	// snapshotLimit is for what is answered at once.
	snapshotLimit = 5 * time.Second
	probeLimit    = 2 * time.Second
)

// An endpoint is where a program answers about itself.
type endpoint struct {
	client *http.Client
	base   string // of the handlers, with a slash at its end
	query  url.Values
	agent  bool   // ours, else net/http/pprof
	local  bool   // a socket that was made for this recording
	index  []byte // its first page, nil when it has none
	// spent counts the bytes of its answers since the first was asked for.
	spent atomic.Int64
	since atomic.Int64 // in nanoseconds
	// traceLimit is at how many bytes the agent ends the trace by itself.
	traceLimit int64
}

const (
	agentPath  = "/debug/gowhy/"
	pprofPath  = "/debug/pprof/"
	agentGreet = "gowhy agent 1" // the first line of the agent's index
)

// handlerURL returns the URL of one handler. Arguments come in pairs.
func (e *endpoint) handlerURL(path string, args ...string) string {
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

// windowURL returns the URL of a handler that takes some time to answer.
func (e *endpoint) windowURL(path string, d time.Duration) string {
	if e.agent {
		args := []string{"d", d.String()}
		if path == "trace" {
			args = append(args, "limit", fmt.Sprint(e.traceLimit))
		}
		return e.handlerURL(path, args...)
	}
	return e.handlerURL(path, "seconds", fmt.Sprint(wholeSeconds(d)))
}

// wholeSeconds writes seconds as net/http/pprof understands them.
func wholeSeconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// redactedAddress returns the endpoint's address without what nobody should read: a password
// or a token in the query.
func (e *endpoint) redactedAddress() string {
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
		return "", "", nil, problem.New(problem.Misuse, "gowhy record --url http://localhost:6060", "%q is not an http URL", s)
	}
	if u.Hostname() == "" { // as servers write where they listen, like ":6060"
		u.Host = "localhost:" + u.Port()
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
		return nil, noEndpoint(e.redactedAddress(), err)
	case unreachable(err), errors.Is(err, context.DeadlineExceeded):
		return nil, noEndpoint(withoutSecrets(pprof), err)
	}
	e = &endpoint{client: client, base: pprof, query: query}
	if err := e.probe(ctx, snapshotLimit); err != nil {
		return nil, elsewhere(ctx, client, target, noEndpoint(e.redactedAddress(), err))
	}
	return e, nil
}

// elsewhere improves the hint of an error when the handlers are at their
// usual place instead of the given one.
func elsewhere(ctx context.Context, client *http.Client, target string, p *problem.Error) error {
	if !strings.Contains(target, "://") {
		target = "http://" + target
	}
	u, err := url.Parse(target)
	if err != nil || strings.Trim(u.Path, "/") == "" || !errors.Is(p.Err, errElse) && !isStatusError(p.Err) {
		return p
	}
	u.Path, u.RawPath = "", ""
	pprof, _, query, err := parseURL(u.String())
	if e := (&endpoint{client: client, base: pprof, query: query}); err == nil && e.probe(ctx, probeLimit) == nil {
		p.Hint = "gowhy record --url " + shell.Word(withoutSecrets(u.String()))
	}
	return p
}

// probe reads the index. Programs that mount single handlers of
// net/http/pprof on a mux of their own often leave it out.
func (e *endpoint) probe(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := e.greet(ctx, limit)
	if err == nil || e.agent || !errors.Is(err, errElse) && !isStatusError(err) {
		return err
	}
	if errors.Is(err, errElse) {
		err = nil
	}
	for _, path := range []string{"symbol", "cmdline", "allocs", "heap", "threadcreate"} {
		body, herr := e.get(ctx, e.handlerURL(path), maxProfileFetch)
		if herr == nil && e.genuine(ctx, path, body) {
			return nil
		}
		err = cmp.Or(err, herr)
	}
	return cmp.Or(err, errElse)
}

// greet asks for the index, in one request.
func (e *endpoint) greet(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body, err := e.get(ctx, e.handlerURL(""), 1<<16)
	switch {
	case err != nil:
		return err
	case e.agent && !bytes.HasPrefix(body, []byte(agentGreet)),
		!e.agent && !(bytes.Contains(body, []byte("goroutine")) && bytes.Contains(body, []byte("profile"))):
		return errElse
	}
	e.index = body
	return nil
}

// errElse says that an answer is not that of profiling handlers.
var errElse = errors.New("something else answers")

// genuine reports whether an answer is that of net/http/pprof, and not of a
// server that answers everything, perhaps with the path that it was asked for.
func (e *endpoint) genuine(ctx context.Context, path string, body []byte) bool {
	switch path {
	case "symbol":
		return bytes.HasPrefix(body, []byte("num_symbols: "))
	case "cmdline":
		return len(body) > 0 && artifact.Sniff(body) != artifact.HTML && !bytes.Contains(body, []byte(pprofPath+path)) && !e.always(ctx, body)
	}
	_, err := profile.ParseData(body)
	return err == nil
}

// always reports whether the server gives the same answer for what cannot be
// there: it is one that answers everything.
func (e *endpoint) always(ctx context.Context, answer []byte) bool {
	body, err := e.get(ctx, e.handlerURL("no-profile-of-this-name"), int64(len(answer))+1)
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

func isStatusError(err error) bool {
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
func noEndpoint(base string, err error) *problem.Error {
	var status *statusError
	p := &problem.Error{Kind: problem.Absence, Err: err}
	switch {
	case errors.As(err, &status) && strings.Contains(status.text, "HTTP request to an HTTPS server"):
		p.What = fmt.Sprintf("%s speaks https", base)
		p.Hint = "gowhy record --url " + shell.Word("https"+strings.TrimPrefix(base, "http"))
	case errors.As(err, &status) && (status.code == http.StatusUnauthorized || status.code == http.StatusForbidden):
		p.What = fmt.Sprintf("%s is not open to us: %v", base, err)
		p.Hint = "gowhy record --url http://USER:PASSWORD@HOST:PORT   # or a port of the program that asks for none"
	case errors.As(err, &status) && status.code == http.StatusNotFound, errors.Is(err, errElse):
		p.What = fmt.Sprintf("there are no profiling handlers at %s", base)
		p.Hint = `import _ "net/http/pprof" in the program, or give the path: --url http://HOST:PORT/PREFIX/pprof`
	case errors.Is(err, context.DeadlineExceeded):
		p.What = fmt.Sprintf("%s does not answer", base)
		p.Hint = reachHint(base, err)
	default:
		p.What = fmt.Sprintf("cannot reach %s: %v", base, cause(err))
		p.Hint = reachHint(base, err)
	}
	return p
}

// reachHint says what to try when an address gives no answer in HTTP.
func reachHint(base string, err error) string {
	u, perr := url.Parse(base)
	var unknown x509.UnknownAuthorityError
	var plain tls.RecordHeaderError
	switch {
	case perr != nil:
		return "gowhy list"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &plain):
		return "gowhy record --url " + shell.Word("http://"+u.Host)
	case errors.As(err, &unknown):
		return "SSL_CERT_FILE=the-authority.pem gowhy record --url " + shell.Word(u.Scheme+"://"+u.Host)
	case net.ParseIP(u.Hostname()).IsLoopback(), u.Hostname() == "localhost":
		return "gowhy list   # which programs run here, and at which ports they listen"
	}
	return "curl " + shell.Word(base) + "   # is the program running, and are host and port right?"
}

// cause returns the error without the request around it.
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
		return nil, &statusError{resp.StatusCode, artifact.FirstLine(text)}
	}
	return resp, nil
}

// room returns how many bytes an endpoint may still send. A program that we have started is
// no stranger.
func (e *endpoint) room() int64 {
	if e.local {
		return math.MaxInt64
	}
	now := time.Now().UnixNano()
	e.since.CompareAndSwap(0, now)
	return allowance + int64(time.Duration(now-e.since.Load()).Seconds()*allowancePerSec) - e.spent.Load()
}

// A charged reader counts what an endpoint sends, and ends when that is too much.
type charged struct {
	r io.Reader
	e *endpoint
}

func (c charged) Read(p []byte) (int, error) {
	if c.e.room() <= 0 {
		return 0, errTooMuch
	}
	n, err := c.r.Read(p)
	c.e.spent.Add(int64(n))
	return n, err
}

// get returns an answer that is held in memory.
func (e *endpoint) get(ctx context.Context, u string, limit int64) ([]byte, error) {
	resp, err := e.request(ctx, u)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(charged{resp.Body, e}, limit+1))
	if err == nil && int64(len(body)) > limit {
		return nil, fmt.Errorf("more than %d MiB were sent", limit>>20)
	}
	return body, err
}

// errTooMuch is of an endpoint that sends without an end.
var errTooMuch = fmt.Errorf("the server sends more than programs do: %d MiB and %d MiB a second", allowance>>20, allowancePerSec>>20)

// profile returns a profile and its bytes as pprof files have them. A server
// may have called its own compression a transfer encoding, which the
// transport then took off.
func (e *endpoint) profile(ctx context.Context, u string) (*profile.Profile, []byte, error) {
	data, err := e.get(ctx, u, maxProfileFetch)
	if err != nil {
		return nil, nil, err
	}
	switch artifact.Sniff(data) {
	case artifact.Gzip:
	case artifact.HTML:
		return nil, nil, errors.New("the answer is a web page")
	case artifact.Binary:
	default:
		return nil, nil, errors.New("the answer is something else")
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, nil, fmt.Errorf("the answer is no profile: %v", err)
	}
	if artifact.Sniff(data) != artifact.Gzip {
		data = nil // to be packed again
	}
	return p, data, nil
}

// cmdline asks a program for its command line; it may well refuse.
func (e *endpoint) cmdline(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	body, err := e.get(ctx, e.handlerURL("cmdline"), 1<<16)
	if err != nil || len(body) == 0 || artifact.Sniff(body) == artifact.HTML {
		return nil
	}
	return strings.Split(strings.TrimRight(string(body), "\n\x00"), "\x00")
}
