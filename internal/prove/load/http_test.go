package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func protocol(t testing.TB, q Request) Protocol {
	t.Helper()
	p, err := HTTP(q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ask does some operations on one connection.
func ask(t *testing.T, p Protocol, timeout time.Duration, n int) (replies []Reply, err error) {
	t.Helper()
	c, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range n {
		deadline := time.Now().Add(timeout)
		if err := c.Send(int64(i), deadline); err != nil {
			return replies, err
		}
		r, err := c.Receive(deadline)
		if err != nil {
			return replies, err
		}
		if r.Seq != int64(i) {
			t.Errorf("answer to %d after question %d", r.Seq, i)
		}
		replies = append(replies, r)
	}
	return replies, nil
}

// canned answers every request on a connection with the same bytes, then
// closes it when told to.
func canned(t testing.TB, answer string, closes bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r := bufio.NewReader(c)
				for {
					q, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, q.Body)
					if _, err := io.WriteString(c, answer); err != nil || closes {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// Answers end where they should, and nothing of one is left for the next.
func TestHTTPAnswers(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, test := range []struct {
		name, answer, method string
		closes               bool
		want                 string // of each reply: bytes, status, last; or the error
	}{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "", false, "43 <nil> false"},
		{"nothing", "HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", "", false, "37 <nil> false"},
		{"long", "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + long, "", false, "200043 <nil> false"},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;ext=1\r\nfoo\r\n0\r\n\r\n", "", false, "55 <nil> false"},
		{"trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 5\r\nY: 1\r\n\r\n", "", false, "52 <nil> false"},
		{"head", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD", false, "38 <nil> false"},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "", false, "27 <nil> false"},
		{"not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", false, "48 <nil> false"},
		{"redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "", false, "72 <nil> false"},
		{"early hints", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!", "", false, "39 <nil> false"},
		{"missing", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "", false, "47 status 404 false"},
		{"switching", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "", false, "48 status 101 true"},
		{"says close", "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\n!", "", false, "58 <nil> true"},
		{"until closed", "HTTP/1.1 200 OK\r\n\r\nhello", "", true, "24 <nil> true"},
		{"1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n!", "", false, "39 <nil> true"},
		{"1.0 kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n!", "", false, "63 <nil> false"},
		{"bare newlines", "HTTP/1.1 200 OK\nContent-Length: 1\n\n!", "", false, "36 <nil> false"},
		{"long header", "HTTP/1.1 200 OK\r\nX: " + long + "\r\nContent-Length: 1\r\n\r\n!", "", false, "200044 <nil> false"},
		{"endless header", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 200_000), "", false, "headers are longer"},
		{"endless line", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat(long, 6), "", false, "headers are longer"},
		{"cut body", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", "", true, "unexpected EOF"},
		{"cut chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello", "", true, "unexpected EOF"},
		{"cut head", "HTTP/1.1 200", "", true, "unexpected EOF"},
		{"no answer", "", "", true, "EOF"},
		{"other protocol", "SSH-2.0-OpenSSH_9\r\n", "", false, "not HTTP/1"},
		{"bad status", "HTTP/1.1 2x0 OK\r\n\r\n", "", false, "not HTTP/1"},
		{"bad length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "", false, "not HTTP/1"},
		{"bad header", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "", false, "not HTTP/1"},
		{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "", false, "invalid byte"},
		{"unknown encoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "", false, `"gzip" are not understood`},
		{"late", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "", false, "timeout"},
	} {
		p := protocol(t, Request{URL: canned(t, test.answer, test.closes), Method: test.method})
		timeout, n := 20*time.Second, 3
		if test.name == "late" {
			timeout = 30 * ms
		}
		if strings.HasSuffix(test.want, "true") || test.closes {
			n = 1
		}
		replies, err := ask(t, p, timeout, n)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v, want %s", test.name, err, test.want)
			}
			continue
		}
		for _, r := range replies {
			if got := fmt.Sprint(r.Bytes, r.Err, r.Last); got != test.want && !(test.name == "chunks" || test.name == "trailer") || r.Err != nil != strings.Contains(test.want, "status") {
				t.Errorf("%s: reply %s, want %s", test.name, got, test.want)
			}
		}
	}
}

// What is sent is what was asked for.
func TestHTTPRequests(t *testing.T) {
	var got atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		user, password, _ := q.BasicAuth()
		got.Store(fmt.Sprintf("%s %s %s %s agent=%s x=%q type=%s auth=%s:%s close=%v", q.Method, q.Host, q.URL, body, q.UserAgent(), q.Header["X"], q.Header.Get("Content-Type"), user, password, q.Close))
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	for _, test := range []struct {
		q    Request
		want string
	}{
		{Request{URL: s.URL}, "GET HOST /  agent=gowhy-load x=[] type= auth=: close=false"},
		{Request{URL: s.URL + "/a/b?c=d%20e#f", Reconnect: true}, "GET HOST /a/b?c=d%20e  agent=gowhy-load x=[] type= auth=: close=true"},
		{Request{URL: s.URL, Body: []byte("hello")}, "POST HOST / hello agent=gowhy-load x=[] type= auth=: close=false"},
		{Request{URL: strings.Replace(s.URL, "http://", "http://me:secret@", 1), Method: "put", Body: []byte("1"),
			Header: http.Header{"X": {"1", "2"}, "User-Agent": {"mine"}, "Host": {"example.com"}, "Content-Type": {"text/x"}}},
			`PUT example.com / 1 agent=mine x=["1" "2"] type=text/x auth=me:secret close=false`},
	} {
		p := protocol(t, test.q)
		if replies, err := ask(t, p, 20*time.Second, 2); len(replies) == 0 || replies[0].Err != nil {
			t.Errorf("%v: %v, %v; want a reply", p, replies, err)
		}
		if want := strings.Replace(test.want, "HOST", host, 1); got.Load() != want {
			t.Errorf("got  %s\nwant %s", got.Load(), want)
		}
		if strings.Contains(p.String(), "secret") {
			t.Errorf("%v tells the password", p)
		}
	}
	for _, bad := range []Request{{URL: "ftp://x/"}, {URL: "http://"}, {URL: "://"}, {URL: "http://x/", Method: "a b"}, {URL: "http://x/", Header: http.Header{"a b": {"c"}}}, {URL: "http://x/", Header: http.Header{"A": {"b", "c\nd"}}}} {
		if _, err := HTTP(bad); err == nil {
			t.Errorf("HTTP() of %q by %q with %v gives no error, want one", bad.URL, bad.Method, bad.Header)
		}
	}
}

func TestHTTPS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	s.Config.ErrorLog = nil
	s.StartTLS()
	defer s.Close()
	if replies, err := ask(t, protocol(t, Request{URL: s.URL, Insecure: true}), 20*time.Second, 3); err != nil || len(replies) != 3 {
		t.Errorf("replies %v, %v; want 3", replies, err)
	}
	s.Config.ErrorLog = discardLog
	_, err := protocol(t, Request{URL: s.URL}).Dial(t.Context())
	if err == nil || !strings.Contains(Kind(err), "certificate") {
		t.Errorf("Dial() of an unknown certificate: error %v, want one of the certificate", err)
	}
}

// A connection that the server closed while it was idle is no failure of the
// program, where the request may be sent twice.
func TestStaleConnection(t *testing.T) {
	url := canned(t, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!", true) // without saying so
	for method, want := range map[string]error{"GET": ErrStale, "POST": nil} {
		_, err := ask(t, protocol(t, Request{URL: url, Method: method}), 20*time.Second, 3)
		if errors.Is(err, ErrStale) != (want != nil) || err == nil {
			t.Errorf("%s over a stale connection: error %v, want %v or, if that is nil, any other", method, err, want)
		}
	}
	r, err := Offer(t.Context(), Options{Protocol: protocol(t, Request{URL: url}), Closed: true, Count: 50, Connections: 2})
	if err != nil || r.Ops != 50 || r.Failed != 0 {
		t.Errorf("Offer() = %+v, %v; want 50 operations and no failure", r, err)
	}
}

// The whole way, in real time.
func TestOfferHTTP(t *testing.T) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%5 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	r, err := Offer(t.Context(), Options{Protocol: protocol(t, Request{URL: s.URL}), Rate: 400, Count: 100})
	if err != nil || r.Ops != 100 || r.Failed != 20 || n.Load() != 100 || r.Target != "GET "+s.URL || r.Bytes == 0 {
		t.Errorf("Offer() = %+v, %v, %d served; want 100 operations of GET %s, 20 failed", r, err, n.Load(), s.URL)
	}
	if r.Duration < 247*ms || time.Since(r.Start) < 247*ms {
		t.Errorf("%v from %v on, want 247 ms or more, which are over", r.Duration, r.Start)
	}
	tiled(t, r)
	// Nobody listens there any more.
	s.Close()
	r, err = Offer(t.Context(), Options{Protocol: protocol(t, Request{URL: s.URL}), Rate: 1000, Count: 5})
	if err != nil || r.Failed != 5 || r.Errors[0].What != "connection refused" {
		t.Errorf("Offer() to nobody = %+v, %v; want 5 refused connections", r, err)
	}
}

// An end from outside does not wait for a server that never answers.
func TestCancelledHTTP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
	defer cancel()
	start := time.Now()
	r, err := Offer(ctx, Options{Protocol: protocol(t, Request{URL: "http://" + l.Addr().String()}), Rate: 100, Duration: time.Hour, Timeout: time.Hour})
	if !errors.Is(err, context.DeadlineExceeded) || r.Failed != 0 || r.Duration > time.Minute || time.Since(start) > time.Minute {
		t.Errorf("Offer() to a mute server = %+v, %v; want no failure, and an end at the deadline", r, err)
	}
}

func TestKind(t *testing.T) {
	for want, err := range map[string]error{
		"no answer in time":                   fmt.Errorf("x: %w", os.ErrDeadlineExceeded),
		"connection closed without an answer": io.ErrUnexpectedEOF,
		"no address for host nowhere.invalid": &net.OpError{Op: "dial", Err: &net.DNSError{Name: "nowhere.invalid", Err: "no such host"}},
		"read: strange":                       &net.OpError{Op: "read", Source: &net.TCPAddr{Port: 4711}, Err: errors.New("strange")},
		"a b ?[31m":                           errors.New("a\n\tb \x1b[31m"),
		strings.Repeat("ä", 100) + "…":        errors.New(strings.Repeat("ä", 500)),
	} {
		if got := Kind(err); got != want {
			t.Errorf("Kind() = %q, want %q", got, want)
		}
	}
}

func FuzzHTTPAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), false)
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n"), false)
	f.Add([]byte("HTTP/1.1 103 x\r\n\r\nHTTP/1.0 404 x\r\nConnection: keep-alive\r\n\r\n"), true)
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n"), false)
	f.Fuzz(func(t *testing.T, answer []byte, head bool) {
		p := &httpProtocol{method: "GET", keep: true}
		if head {
			p.method = "HEAD"
		}
		in, out := net.Pipe()
		defer in.Close()
		go func() {
			_, _ = out.Write(answer)
			out.Close()
		}()
		c := &httpConn{p: p, c: in, r: bufio.NewReaderSize(in, 4<<10)}
		r, err := c.Receive(time.Time{})
		if err == nil && (r.Bytes < 12 || r.Bytes > int64(len(answer))) {
			t.Errorf("Receive() = %d bytes, want 12 to %d", r.Bytes, len(answer))
		}
	})
}
