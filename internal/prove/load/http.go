package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpguts"
)

// ErrHeader is in the error about a header that HTTP has no form for.
var ErrHeader = errors.New("no header of HTTP")

// A Request is what HTTP sends, the same each time.
type Request struct {
	URL    string // http or https
	Method string // "" is GET, or POST with a body
	Header http.Header
	Body   []byte
	// Reconnect opens a connection for each request.
	Reconnect bool
	// Insecure accepts any certificate.
	Insecure bool
}

// HTTP is HTTP/1.1 by a client that does little: the request's bytes are made
// once, and of an answer only what finds its end is looked at. A status from
// 200 to 399 is well. Redirects are not followed, cookies not kept, proxies not
// asked, compressed answers not unpacked. The error says what is wrong with the
// request.
func HTTP(q Request) (Protocol, error) {
	u, err := url.Parse(q.URL)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no http or https URL", q.URL)
	}
	p := &httpProtocol{secure: u.Scheme == "https", keep: !q.Reconnect}
	p.address = net.JoinHostPort(u.Hostname(), orElse(u.Port(), map[bool]string{false: "80", true: "443"}[p.secure]))
	p.tls = &tls.Config{ServerName: u.Hostname(), InsecureSkipVerify: q.Insecure, NextProtos: []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	if err := p.write(q, u); err != nil {
		return nil, err
	}
	u.User = nil
	p.name = p.method + " " + u.String()
	return p, nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

type httpProtocol struct {
	name, address, method string
	secure, keep          bool
	idempotent            bool // a request may be sent twice without harm
	tls                   *tls.Config
	request               []byte
}

// write makes the bytes of the request. net/http does, so that what it refuses
// is refused here.
func (p *httpProtocol) write(q Request, u *url.URL) error {
	p.method = strings.ToUpper(q.Method)
	if p.method == "" {
		p.method = http.MethodGet
		if len(q.Body) > 0 {
			p.method = http.MethodPost
		}
	}
	req, err := http.NewRequest(p.method, u.String(), bytes.NewReader(q.Body))
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "net/http: "))
	}
	for name, values := range q.Header {
		wrong := func(value string) bool { return !httpguts.ValidHeaderFieldValue(value) }
		if !httpguts.ValidHeaderFieldName(name) || slices.ContainsFunc(values, wrong) {
			return fmt.Errorf("%q is %w", name+": "+strings.Join(values, ", "), ErrHeader)
		}
	}
	if q.Header != nil {
		req.Header = q.Header.Clone()
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	if u.User != nil && req.Header.Get("Authorization") == "" {
		password, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), password)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "gowhy-load")
	}
	req.Close = !p.keep
	var b bytes.Buffer
	if err := req.Write(&b); err != nil {
		return err
	}
	p.request = b.Bytes()
	switch p.method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		p.idempotent = true
	}
	return nil
}

func (p *httpProtocol) String() string { return p.name }

// 256 connections at once are about what keeps a server of some cores busy
// whose answers take 100 ms.
func (p *httpProtocol) Limits() Limits { return Limits{Connections: 256, Depth: 1} }

func (p *httpProtocol) Dial(ctx context.Context) (Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", p.address)
	if err != nil {
		return nil, err
	}
	if p.secure {
		t := tls.Client(c, p.tls)
		if err := t.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		c = t
	}
	return &httpConn{p: p, c: c, r: bufio.NewReaderSize(c, 4<<10)}, nil
}

type httpConn struct {
	p    *httpProtocol
	c    net.Conn
	r    *bufio.Reader
	seq  int64
	used bool // it has given an answer

	scratch []byte // for bodies
}

func (c *httpConn) Close() error { return c.c.Close() }

func (c *httpConn) Send(seq int64, deadline time.Time) error {
	c.seq = seq
	if c.r.Buffered() > 0 { // it said something unasked, which is a good-bye
		return ErrStale
	}
	if err := c.c.SetDeadline(deadline); err != nil {
		return err
	}
	_, err := c.c.Write(c.p.request)
	return c.stale(err)
}

func (c *httpConn) Receive(time.Time) (Reply, error) {
	if _, err := c.r.Peek(1); err != nil {
		return Reply{}, c.stale(err)
	}
	a, err := c.answer()
	if err != nil {
		return Reply{}, broken(err)
	}
	c.used = true
	reply := Reply{Seq: c.seq, Bytes: a.bytes, Last: a.last || !c.p.keep}
	if a.status < 200 || a.status >= 400 {
		reply.Err = StatusError(a.status)
	}
	return reply, nil
}

// stale tells a connection that was closed while idle from one that broke.
func (c *httpConn) stale(err error) error {
	gone := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	if gone && c.used && c.p.idempotent {
		return ErrStale
	}
	return broken(err)
}

// errSlow ends a connection: an answer that comes after its time would be
// taken for the next one's.
var errSlow = fmt.Errorf("%w", os.ErrDeadlineExceeded)

func broken(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errSlow
	}
	return err
}

// An answer is what matters of one: it ends where its length, its chunks or its
// connection do.
type answer struct {
	status int
	bytes  int64
	last   bool

	length  int64 // -1 when not said
	chunked bool
}

const maxHead = 1 << 20 // bytes of a status line and headers

func (c *httpConn) answer() (a answer, err error) {
	for {
		if a, err = c.head(); err != nil {
			return a, err
		}
		if a.status >= 200 || a.status == http.StatusSwitchingProtocols {
			break // others announce the answer that follows
		}
	}
	return a, c.body(&a)
}

var errNotHTTP = errors.New("the answer is not HTTP/1")

// head reads a status line and headers.
func (c *httpConn) head() (a answer, err error) {
	a.length = -1
	line, err := c.line()
	if err != nil {
		return a, err
	}
	a.bytes = int64(len(line))
	// "HTTP/1.1 200 OK"
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) || line[8] != ' ' {
		return a, errNotHTTP
	}
	for _, digit := range line[9:12] {
		if digit < '0' || digit > '9' {
			return a, errNotHTTP
		}
		a.status = 10*a.status + int(digit-'0')
	}
	a.last = line[7] == '0'
	for {
		if line, err = c.line(); err != nil {
			return a, err
		}
		if a.bytes += int64(len(line)); a.bytes > maxHead {
			return a, errLongHead
		}
		name, value, ok := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		if len(name) == 0 {
			return a, nil
		}
		if !ok {
			return a, errNotHTTP
		}
		if err := a.header(name, bytes.TrimSpace(value)); err != nil {
			return a, err
		}
	}
}

var errLongHead = fmt.Errorf("the answer's headers are longer than %d MiB", maxHead>>20)

// line returns a line with its end. One that is longer than the buffer is
// copied.
func (c *httpConn) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if err == nil {
		return line, nil
	}
	var all []byte
	for errors.Is(err, bufio.ErrBufferFull) {
		if all = append(all, line...); len(all) > maxHead {
			return nil, errLongHead
		}
		line, err = c.r.ReadSlice('\n')
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return append(all, line...), err
}

func (a *answer) header(name, value []byte) error {
	switch {
	case is(name, "content-length"):
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || n < 0 {
			return errNotHTTP
		}
		a.length = n
	case is(name, "transfer-encoding"):
		if !bytes.EqualFold(value, []byte("chunked")) {
			return fmt.Errorf("answers with transfer encoding %q are not understood", value)
		}
		a.chunked = true
	case is(name, "connection"):
		a.last = bytes.EqualFold(value, []byte("close")) || a.last && !bytes.EqualFold(value, []byte("keep-alive"))
	}
	return nil
}

// is compares with a name in lower case.
func is(name []byte, lower string) bool {
	return len(name) == len(lower) && strings.EqualFold(lower, string(name))
}

// body reads past the body.
func (c *httpConn) body(a *answer) error {
	var n int64
	var err error
	switch {
	case c.p.method == http.MethodHead, a.status == http.StatusNoContent, a.status == http.StatusNotModified, a.status < 200:
		a.last = a.last || a.status < 200
	case a.chunked:
		n, err = io.Copy(io.Discard, httputil.NewChunkedReader(c.r))
		if err == nil {
			err = c.trailer()
		}
	case a.length >= 0:
		n, err = c.skip(a.length)
	default:
		a.last = true
		n, err = io.Copy(io.Discard, c.r)
	}
	a.bytes += n
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// skip reads past n bytes, more at a time than the buffer has.
func (c *httpConn) skip(n int64) (read int64, err error) {
	if n > int64(c.r.Size()) && c.scratch == nil {
		c.scratch = make([]byte, 64<<10)
	}
	if c.scratch == nil {
		m, err := c.r.Discard(int(n))
		return int64(m), err
	}
	for read < n && err == nil {
		var m int
		m, err = c.r.Read(c.scratch[:min(n-read, int64(len(c.scratch)))])
		read += int64(m)
	}
	if read == n {
		err = nil
	}
	return read, err
}

// trailer reads what follows the last chunk, to an empty line.
func (c *httpConn) trailer() error {
	for size := 0; ; {
		line, err := c.line()
		if err != nil {
			return err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return nil
		}
		if size += len(line); size > maxHead {
			return errLongHead
		}
	}
}
