package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// evilName has all that must show as text and nothing else.
const evilName = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e\xff&amp;\u2028"

// sampleView returns a run with something for most endpoints, and names that are up to
// no good.
func sampleView() *View {
	m := &model.Model{Run: model.Run{Go: "go1.26", Duration: time.Second, Procs: 2, Files: []string{"/home/somebody/" + evilName}}}
	stack := m.Stacks.Add([]model.Frame{{Func: evilName, File: evilName, Line: 1}, {Func: "main.main", File: "main.go", Line: 2}})
	m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Samples: []model.Sample{{Stack: stack, Values: []int64{1, 1e7}}}}
	m.Sched = &model.Sched{
		Groups: []model.Group{{Name: evilName, Count: 1, Times: model.Times{Running: time.Second}}, {Name: "main.main", Count: 1, Times: model.Times{Running: time.Second}}},
		Goroutines: []model.Goroutine{{ID: 1, Group: "main.main", Created: -1, Ended: -1, Times: model.Times{Running: time.Second}},
			{ID: 7, Group: evilName, Created: -1, Ended: -1, Times: model.Times{Running: time.Second}}},
		Procs: []model.Proc{{ID: 0, User: time.Second}},
	}
	m.Tasks = &model.Tasks{Tasks: []model.TaskType{{Name: evilName, Count: 1}}, Slow: []model.Task{{ID: 1 << 60, Name: evilName, End: time.Second}}}
	d := diagnosis.Run(m, nil, diagnosis.Options{})
	d.Findings = []diagnosis.Finding{{Rule: "evil", Title: evilName, Summary: evilName, Where: []diagnosis.Place{{Function: evilName}},
		Evidence: []fact.Fact{{Name: evilName, Text: evilName, Origin: fact.Words(evilName)}}, Groups: []string{evilName}}}
	return &View{
		Name: evilName, Model: m.Frozen(), Diagnosis: d, Members: []Member{{Name: "trace", Bytes: 3}, {Name: "../../etc/passwd", Bytes: 3}},
		Fetch: func(n string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("of " + n)), nil },
	}
}

// newTestServer has one run open. Files that it is given are runs of their own,
// unless their content says otherwise.
func newTestServer(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Sort == nil {
		o.Sort = func(files []string) (found Found, err error) {
			for _, f := range files {
				found.Runs = append(found.Runs, RunFiles{Name: filepath.Base(f), Files: []string{f}})
			}
			return found, nil
		}
	}
	if o.Open == nil {
		o.Open = func(_ context.Context, s RunFiles, _ func(read, size int64)) (*View, error) {
			data, err := os.ReadFile(s.Files[0])
			if err != nil {
				return nil, err
			}
			switch string(data) {
			case "bad":
				return nil, problem.New(problem.Failure, "gowhy record", "no evidence: %s", s.Files[0])
			case "panic":
				panic("a fault in a reader")
			}
			v := sampleView()
			v.Name = s.Name
			return v, nil
		}
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.page.addView(sampleView(), nil)
	return s
}

// do sends a request as the page does, changed by what edit does.
func do(s *Server, method, path string, body io.Reader, edit func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, s.prefix+path, body)
	r.Host = "127.0.0.1:4711"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func get(s *Server, path string) *httptest.ResponseRecorder { return do(s, "GET", path, nil, nil) }

func TestGuard(t *testing.T) {
	s := newTestServer(t, Options{})
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	header := func(pairs ...string) func(*http.Request) {
		return func(r *http.Request) {
			for i := 0; i < len(pairs); i += 2 {
				r.Header.Set(pairs[i], pairs[i+1])
			}
		}
	}
	raw := func(path string) func(*http.Request) {
		return func(r *http.Request) { r.URL = &url.URL{Path: path} }
	}
	wrongToken := "/t/" + strings.Repeat("0", 32) + "/api/session"
	for _, c := range []struct {
		what, method, path string
		edit               func(*http.Request)
		want               int
	}{
		{"the page", "GET", "", nil, 200},
		{"an answer", "GET", "api/session", nil, 200},
		{"its head", "HEAD", "api/session", nil, 200},
		{"localhost", "GET", "api/session", host("localhost:80"), 200},
		{"IPv6", "GET", "api/session", host("[::1]:4711"), 200},
		{"the far end of a tunnel", "GET", "api/session", host("127.0.0.1:9"), 200},
		{"a rebound name", "GET", "api/session", host("evil.example:4711"), 403},
		{"a name that begins well", "GET", "", host("127.0.0.1.evil.example"), 403},
		{"another machine", "GET", "api/session", host("192.168.0.1:4711"), 403},
		{"no host", "GET", "api/session", host(""), 403},
		{"no token", "GET", "api/session", raw("/api/session"), 404},
		{"a wrong token", "GET", "", raw(wrongToken), 404},
		{"half a token", "GET", "", raw(s.prefix[:20]), 404},
		{"the root", "GET", "", raw("/"), 404},
		{"another site", "GET", "api/session", header("Sec-Fetch-Site", "cross-site"), 403},
		{"another port", "GET", "api/session", header("Sec-Fetch-Site", "same-site"), 403},
		{"another origin", "GET", "api/session", header("Origin", "http://127.0.0.1:1"), 403},
		{"a null origin", "GET", "api/session", header("Origin", "null"), 403},
		{"its own origin", "GET", "api/session", header("Origin", "http://127.0.0.1:4711"), 200},
		{"a link to the page", "GET", "", header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), 200},
		{"a link to an answer", "GET", "api/session", header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), 403},
		{"the page as a picture", "GET", "", header("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"), 403},
		{"a form of another site", "POST", "api/upload", header("Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"), 403},
		{"a form typed", "POST", "api/upload", header("Sec-Fetch-Site", "none"), 403},
		{"an upload asked for", "GET", "api/upload", nil, 405},
		{"an answer posted to", "POST", "api/session", nil, 405},
		{"the page deleted", "DELETE", "", nil, 405},
		{"nothing", "GET", "api/nothing", nil, 404},
		{"a broken query", "GET", "api/findings?r=%zz", nil, 400},
		{"no such run", "GET", "api/findings?r=7", nil, 400},
		{"a run before the first", "GET", "api/findings?r=-1", nil, 400},
	} {
		w := do(s, c.method, c.path, nil, c.edit)
		if w.Code != c.want {
			t.Errorf("%s: status %d, want %d: %s", c.what, w.Code, c.want, w.Body)
		}
		if got := w.Header().Get("Content-Security-Policy"); got != policy {
			t.Errorf("%s: the policy is %q, want %q", c.what, got, policy)
		}
		for _, h := range []string{"X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"} {
			if w.Header().Get(h) == "" {
				t.Errorf("%s: no %s", c.what, h)
			}
		}
		var f Failure
		if c.want >= 400 && w.Header().Get("Content-Type") != "text/plain; charset=utf-8" && (json.Unmarshal(w.Body.Bytes(), &f) != nil || f.Error == "") {
			t.Errorf("%s: no words with it: %s", c.what, w.Body)
		}
		if c.want >= 400 && strings.Contains(w.Body.String(), s.prefix[3:20]) {
			t.Errorf("%s: the answer tells the token", c.what)
		}
	}
}

// The policy lets nothing in that a name of a recording could use.
func TestPolicy(t *testing.T) {
	if strings.Contains(policy, "unsafe") || !strings.HasPrefix(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("policy %q, want nothing unsafe, default-src 'none' first and frame-ancestors 'none'", policy)
	}
}

func TestInvitation(t *testing.T) {
	s := newTestServer(t, Options{})
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	u, err := url.Parse(s.Invitation(addr))
	if err != nil || strings.Contains(u.Path, s.prefix[3:30]) {
		t.Fatalf("Invitation() = %v, %v; want an address without the page's secret", u, err)
	}
	open := func(path string) *httptest.ResponseRecorder {
		return do(s, "GET", "", nil, func(r *http.Request) { r.URL = &url.URL{Path: path} })
	}
	if w := open("/once/" + strings.Repeat("0", 32)); w.Code != 404 {
		t.Errorf("a guess at the invitation: status %d, want 404", w.Code)
	}
	if w := open(u.Path); w.Code != 303 || w.Header().Get("Location") != s.prefix {
		t.Errorf("the invitation: status %d to %q, want 303 to %q", w.Code, w.Header().Get("Location"), s.prefix)
	}
	if w := open(u.Path); w.Code != 404 {
		t.Errorf("twice: %d", w.Code)
	}
}

func TestTraversal(t *testing.T) {
	s := newTestServer(t, Options{})
	for _, p := range []string{
		"../../go.mod", "..%2f..%2fgo.mod", "%2e%2e/%2e%2e/go.mod", "//etc/passwd", "/etc/passwd", "dist/index.html", "./index.html",
		"index.html/", "index.html%00", "api/../index.html", "tools/../index.html", "tools/..", `..\..\go.mod`, "INDEX.HTML", "api%2Fsession",
		"tools/%2e%2e%2fpprof", "index.html/../index.html", "wire.go", "report/index.html", "report/app.js", "report/",
	} {
		r := httptest.NewRequest("GET", s.prefix, nil)
		r.Host = "localhost"
		if u, err := url.Parse(s.prefix + p); err == nil {
			r.URL = u
		} else {
			r.URL.Path = s.prefix + p
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 404 {
			t.Errorf("GET %s: %d %.80s, want 404", p, w.Code, w.Body)
		}
	}
}

func TestMember(t *testing.T) {
	s := newTestServer(t, Options{})
	for n, want := range map[string]int{"trace": 200, "../../etc/passwd": 200, "../../etc/shadow": 404, "": 404, "trace/../trace": 404} {
		w := get(s, "api/member?name="+url.QueryEscape(n))
		if w.Code != want {
			t.Errorf("member %q: status %d, want %d", n, w.Code, want)
		}
		if want == 200 {
			if d := w.Header().Get("Content-Disposition"); !strings.HasPrefix(d, "attachment") || strings.Contains(d, "..") || w.Body.String() != "of "+n {
				t.Errorf("member %q: disposition %s, body %q; want an attachment of what it holds, under a name without dots", n, d, w.Body)
			}
		}
	}
}

func TestExport(t *testing.T) {
	s := newTestServer(t, Options{})
	if w := get(s, "api/export?format=folded&profile=cpu"); w.Code != 200 || !strings.Contains(w.Body.String(), "main.main") || strings.Contains(w.Body.String(), "\x1b") {
		t.Errorf("folded export: %d %q, want 200 and main.main without control characters", w.Code, w.Body)
	} else if d := w.Header().Get("Content-Disposition"); strings.ContainsAny(d, "<>\x1b&") || !utf8.ValidString(d) {
		t.Errorf("the name of the file is %q, want no markup and UTF-8", d)
	}
	for _, q := range []string{"format=exe", "format=folded&profile=mutex", "format=pprof&profile=nonsense", "format=csv&group=nobody", "format=csv&table=nothing"} {
		if w := get(s, "api/export?"+q); w.Code < 400 || w.Code >= 500 || w.Header().Get("Content-Disposition") != "" {
			t.Errorf("export %s: %d %v %q, want a status of 400 to 499 and no attachment", q, w.Code, w.Header(), w.Body)
		}
	}
}

func TestPacking(t *testing.T) {
	s := newTestServer(t, Options{})
	packed := do(s, "GET", "api/findings", nil, func(r *http.Request) { r.Header.Set("Accept-Encoding", "br, gzip;q=1.0") })
	z, err := gzip.NewReader(packed.Body)
	if err != nil || packed.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("packed findings: header %v, %v; want gzip", packed.Header(), err)
	}
	text, err := io.ReadAll(z)
	if plain := get(s, "api/findings"); err != nil || !bytes.Equal(text, plain.Body.Bytes()) || plain.Header().Get("Content-Encoding") != "" || len(text) < packedFrom {
		t.Errorf("packed and plain differ: %v", err)
	}
	for _, e := range []string{"", "identity", "gzip;q=0", "br"} {
		w := do(s, "GET", "api/findings", nil, func(r *http.Request) { r.Header.Set("Accept-Encoding", e) })
		if w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%q got it packed", e)
		}
	}
	if w := get(s, "api/findings"); w.Header().Get("Cache-Control") != "no-store" {
		t.Error("an answer may be kept")
	}
}

func TestAssets(t *testing.T) {
	a, err := readAssets(fstest.MapFS{
		"index.html": {Data: []byte("<!doctype html><head></head>")}, "app.js": {Data: bytes.Repeat([]byte("x()\n"), 1000)}, "notes.txt": {Data: []byte("no")},
		"report/app.js": {Data: []byte("whole()")},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, Options{})
	s.files = a
	w := get(s, "app.js")
	tag := w.Header().Get("ETag")
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/javascript; charset=utf-8" || tag == "" || w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("app.js: %d %v, want 200, JavaScript with a tag, asked for each time", w.Code, w.Header())
	}
	again := do(s, "GET", "app.js", nil, func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
	if again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("app.js that the browser has: %d %s, want 304 without a body", again.Code, again.Body)
	}
	if w := get(s, ""); !strings.Contains(w.Body.String(), "doctype") || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("the page: %v %.200s, want HTML", w.Header(), w.Body)
	}
	if w := get(s, "notes.txt"); w.Code != 404 {
		t.Error("a file of no known type is served")
	}
	if w := get(s, "report/app.js"); w.Code != 404 {
		t.Error("the page of report files is served")
	}
}

// A binary without its page says so, and how to make it.
func TestNoPage(t *testing.T) {
	for _, files := range []fstest.MapFS{{}, {"app.js": {}}} {
		if _, err := readAssets(files); !errors.Is(err, errNoPage) || !strings.Contains(err.Error(), "npm run build") {
			t.Error(err)
		}
	}
	if _, err := loadAssets("dist/none"); !errors.Is(err, errNoPage) {
		t.Error(err)
	}
}

// Whatever is asked, the answer is never a fault of the server.
func FuzzQuery(f *testing.F) {
	s := newTestServer(f, Options{})
	var paths []string
	for p := range endpoints {
		paths = append(paths, p)
	}
	paths = append(paths, "api/export", "api/member", "api/session", "tools/pprof")
	slices.Sort(paths)
	for i := range paths {
		f.Add(uint8(i), "r=0")
		f.Add(uint8(i), "r=0&from=-1&to=99999999999999999999&level=63&tile=-1&lanes=g:0,go:1,,x&kind=cpu&group=main.main&base=0")
		f.Add(uint8(i), "a=0&b=0&trial=0&id=18446744073709551616&sort=x&desc=1&q=%22&limit=-5&offset=9e9&min=NaN&flags=~&window=0")
		f.Add(uint8(i), "lane=g:-1&at=x&parent=go:1&limit=1000000&q=dur%3E10ms+state:waiting+id:x&format=csv&table=groups&profile=cpu&name=trace")
		f.Add(uint8(i), "from=5&to=2&q=%00%ff&min=2&level=-1&kind=%3Cscript%3E&group="+url.QueryEscape(evilName))
	}
	f.Fuzz(func(t *testing.T, which uint8, query string) {
		path := paths[int(which)%len(paths)]
		w := do(s, "GET", path, nil, func(r *http.Request) { r.URL.RawQuery = query })
		if w.Code >= 500 {
			t.Fatalf("GET %s?%s: %d %s, want a status below 500", path, query, w.Code, w.Body)
		}
		if w.Code >= 400 && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s?%s: %d without words: %q", path, query, w.Code, w.Body)
		}
	})
}

// Names go out as JSON that can stand in a page, cut, and whole characters.
func TestHostileNames(t *testing.T) {
	s := newTestServer(t, Options{})
	s.page.runs[0].view.Model.Run.Go = strings.Repeat("é", 10<<20)
	for _, p := range []string{"api/session", "api/findings", "api/flame", "api/groups", "api/goroutines", "api/tasks", "api/sources"} {
		w := get(s, p)
		text := w.Body.String()
		if w.Code != 200 || strings.ContainsAny(text, "<>\x1b\u2028") || !json.Valid(w.Body.Bytes()) || len(text) > 64<<10 {
			t.Errorf("GET %s: %d, %d bytes %.200q; want 200 and at most 64 KiB of JSON without markup", p, w.Code, len(text), text)
		}
	}
	for _, n := range []string{"", "a", strings.Repeat("a", maxName), strings.Repeat("a", maxName-1) + "é", strings.Repeat("\x80", maxName+9)} {
		if got := name(n); len(n) <= maxName && got != n || len(got) > maxName+3 {
			t.Errorf("a name of %d bytes became %d, want at most %d", len(n), len(got), maxName+3)
		}
	}
	if got := name(strings.Repeat("a", maxName-1) + "éé"); strings.Contains(got, "\xc3…") || !strings.HasSuffix(got, "a…") {
		t.Errorf("a name cut inside of a character ends in %q, want a…", got[maxName-4:])
	}
}

// A fault in one answer is told, and is not the end of the others.
func TestPanic(t *testing.T) {
	var logged string
	s := newTestServer(t, Options{Log: func(format string, args ...any) { logged += fmt.Sprintf(format, args...) }})
	v := s.page.runs[0].view
	v.Fetch = func(string) (io.ReadCloser, error) { panic("no way") }
	w := get(s, "api/member?name=trace")
	if w.Code != 500 || !strings.Contains(w.Body.String(), "no way") || !strings.Contains(logged, "no way") || strings.Contains(logged, s.prefix) {
		t.Errorf("a panic: %d %s, logged %q; want 500 and its words in both, no secret in the log", w.Code, w.Body, logged)
	}
	if w := get(s, "api/session"); w.Code != 200 {
		t.Error("the server is gone")
	}
	// What has begun is broken off: half a file must not look whole.
	v.Fetch = func(string) (io.ReadCloser, error) { return io.NopCloser(&breaking{left: 1 << 20}), nil }
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("the download was ended as if it were whole")
		}
	}()
	get(s, "api/member?name=trace")
}

// A breaking reader fails in the middle.
type breaking struct{ left int }

func (b *breaking) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("the disk is gone")
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}

// What is asked of a run that is still being read is answered when it is.
func TestLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		s := newTestServer(t, Options{Open: func(ctx context.Context, src RunFiles, progress func(read, size int64)) (*View, error) {
			progress(1, 4)
			select {
			case <-let:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if src.Name == "bad" {
				return nil, problem.New(problem.Failure, "mend it", "it is broken")
			}
			return sampleView(), nil
		}})
		s.Open(Found{Runs: []RunFiles{{Name: "slow"}, {Name: "bad"}}, Results: []Result{{Trial: Trial{Name: "t", Kind: "verify"}, JSON: json.RawMessage("{}")}}}, nil)
		synctest.Wait()
		var before Session
		if err := json.Unmarshal(get(s, "api/session").Body.Bytes(), &before); err != nil {
			t.Fatal(err)
		}
		if before.Loading != "slow 25%" || len(before.Runs) != 3 || !before.Runs[1].Loading || before.Runs[0].Loading || len(before.Trials) != 1 {
			t.Errorf("session %+v, want 3 runs: the first read, the second at 25%%, and one trial", before)
		}
		answered := make(chan *httptest.ResponseRecorder)
		go func() { answered <- get(s, "api/findings?r=1") }()
		synctest.Wait()
		select {
		case <-answered:
			t.Fatal("answered before it was read")
		default:
		}
		// Others do not wait for it.
		if w := get(s, "api/findings?r=0"); w.Code != 200 {
			t.Errorf("findings of the run that is read: status %d, want 200", w.Code)
		}
		// Nor does anybody for ever.
		if w := get(s, "api/findings?r=2"); w.Code != 503 {
			t.Errorf("findings of a run that waits its turn: %d %s, want 503", w.Code, w.Body)
		}
		go func() { answered <- get(s, "api/findings?r=1") }()
		close(let)
		if w := <-answered; w.Code != 200 && w.Code != 503 {
			t.Errorf("first findings of the slow run: %d %s, want 200 or 503", w.Code, w.Body)
		}
		if w := <-answered; w.Code != 200 && w.Code != 503 {
			t.Errorf("second findings of the slow run: %d %s, want 200 or 503", w.Code, w.Body)
		}
		synctest.Wait()
		var after Session
		if err := json.Unmarshal(get(s, "api/session").Body.Bytes(), &after); err != nil {
			t.Fatal(err)
		}
		if after.Loading != "" || after.Runs[2].Error != "it is broken" || after.Runs[2].Hint != "mend it" || after.Runs[1].Verdict == "" {
			t.Errorf("session %+v, want nothing loading, a verdict of the second run and what broke the third", after)
		}
	})
}

func TestServeEnds(t *testing.T) {
	s := newTestServer(t, Options{})
	dir, err := s.scratch()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- s.Serve(ctx, l) }()
	resp, err := http.Get(s.URL(l.Addr()) + "api/session")
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("GET api/session = %v, %v; want 200", resp, err)
	}
	resp.Body.Close()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("uploads are left behind")
	}
}

// form returns a drop of files: names and contents in turn.
func form(t testing.TB, pairs ...string) (body *bytes.Buffer, header func(*http.Request)) {
	body = new(bytes.Buffer)
	m := multipart.NewWriter(body)
	for i := 0; i < len(pairs); i += 2 {
		part, err := m.CreateFormFile("file", pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(part, pairs[i+1])
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return body, func(r *http.Request) { r.Header.Set("Content-Type", m.FormDataContentType()) }
}

func TestUpload(t *testing.T) {
	s := newTestServer(t, Options{})
	body, header := form(t, "a.out", "good", "a.out", "good", "../../</script><img src=x>;&\u202e\"'$(id)", "good", "CON:\\aux\r\nX: y", "good", strings.Repeat("x", 4000)+".gowhy", "good")
	w := do(s, "POST", "api/upload", body, header)
	var u Upload
	if w.Code != 200 || json.Unmarshal(w.Body.Bytes(), &u) != nil || !slices.Equal(u.Runs, []int{1, 2, 3, 4, 5}) || u.Trials == nil {
		t.Fatalf("upload of 5 files: %d %s, want 200 and the runs 1 to 5", w.Code, w.Body)
	}
	var names []string
	for _, r := range s.page.runs[1:] {
		names = append(names, r.name)
		if strings.ContainsAny(r.name, "/\\<>\x1b\x00\r\n") || len(r.name) > maxFileName+8 {
			t.Errorf("a file is called %q, want a plain name of at most %d bytes", r.name, maxFileName+8)
		}
		for _, f := range r.files {
			if strings.Contains(f, s.tempDir) {
				t.Errorf("the page is told of %q", f)
			}
		}
	}
	if names[0] != "a.out" || names[1] != "a-2.out" || !strings.HasSuffix(names[4], ".gowhy") {
		t.Errorf("names are %q, want a.out, a-2.out, and .gowhy at the end of the last", names)
	}
	// A file without a form.
	if w := do(s, "POST", "api/upload?name=b.out", strings.NewReader("good"), nil); w.Code != 200 || s.page.runs[6].name != "b.out" {
		t.Errorf("upload without a form: %d %s, want 200 and a run b.out", w.Code, w.Body)
	}
}

// What cannot be read becomes no run, and leaves nothing.
func TestUploadRefused(t *testing.T) {
	s := newTestServer(t, Options{})
	for what, files := range map[string][]string{
		"bad": {"x", "bad"}, "the second is bad": {"x", "good", "y", "bad"}, "a reader's fault": {"x", "panic"}, "no files": {},
	} {
		body, header := form(t, files...)
		w := do(s, "POST", "api/upload", body, header)
		var f Failure
		if w.Code < 400 || json.Unmarshal(w.Body.Bytes(), &f) != nil || f.Error == "" {
			t.Errorf("upload of %s: %d %s, want a status from 400 on and an error", what, w.Code, w.Body)
		}
		if what == "bad" && (f.Hint != "gowhy record" || f.Error != "no evidence: x") {
			t.Errorf("upload of %s: %s, want \"no evidence: x\" and the hint gowhy record", what, w.Body)
		}
	}
	body, header := form(t, "x", "good")
	body.Truncate(body.Len() - 20)
	if w := do(s, "POST", "api/upload", body, header); w.Code != 400 {
		t.Errorf("upload that is cut short: %d %s, want 400", w.Code, w.Body)
	}
	if w := do(s, "POST", "api/upload", strings.NewReader("x"), func(r *http.Request) { r.Header.Set("Content-Type", "multipart/form-data") }); w.Code != 400 {
		t.Errorf("no boundary: %d %s", w.Code, w.Body)
	}
	if len(s.page.runs) != 1 {
		t.Errorf("%d runs, want 1", len(s.page.runs))
	}
	left, err := os.ReadDir(s.tempDir)
	if err != nil || len(left) > 0 {
		t.Errorf("%d drops are left, %v", len(left), err)
	}
}

func TestUploadLimits(t *testing.T) {
	d := drop{dir: t.TempDir(), left: 10, names: map[string]bool{}}
	if err := d.file("a", strings.NewReader("12345")); err != nil {
		t.Error(err)
	}
	var p *problem.Error
	if _, status := explain(d.file("b", strings.NewReader("123456"))); status != 413 {
		t.Errorf("a file beyond what is left: status %d, want 413", status)
	}
	d.left = 1000
	var err error
	for range maxUploadFiles {
		if err = d.file("c", strings.NewReader("")); err != nil {
			break
		}
	}
	if !errors.As(err, &p) || !strings.Contains(p.What, "files at once") {
		t.Error(err)
	}
	// Another drop has to wait.
	s := newTestServer(t, Options{})
	s.uploads <- struct{}{}
	s.uploads <- struct{}{}
	if w := do(s, "POST", "api/upload", strings.NewReader("good"), nil); w.Code != 429 {
		t.Errorf("an upload while others run: status %d, want 429", w.Code)
	}
}

func TestTools(t *testing.T) {
	started, fail := 0, false
	ended := make(chan struct{})
	address := "http://127.0.0.1:1/x/"
	s := newTestServer(t, Options{Tools: map[string]Starter{"pprof": {Format: "pprof", Most: 2, Start: func(_ context.Context, file string) (string, <-chan struct{}, error) {
		started++
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("the viewer got no file: %v", err)
		}
		if fail {
			return "", nil, errors.New("not here")
		}
		return address, ended, nil
	}}}})
	for range 2 {
		if w := get(s, "tools/pprof?r=0&profile=cpu"); w.Code != 303 || w.Header().Get("Location") != address {
			t.Fatalf("pprof: %d %v %s, want 303 to %s", w.Code, w.Header(), w.Body, address)
		}
	}
	if get(s, "tools/pprof?r=0"); started != 1 {
		t.Errorf("the profile that says most is not that of the CPU")
	}
	if get(s, "tools/pprof?r=0&profile=states"); started != 2 {
		t.Errorf("started %d times, want once for each profile asked for", started)
	}
	close(ended)
	if get(s, "tools/pprof?r=0"); started != 3 {
		t.Errorf("one that has ended was not started again")
	}
	fail = true
	if w := get(s, "tools/pprof?r=0&profile=states"); w.Code != 502 || !strings.Contains(w.Body.String(), "not here") {
		t.Errorf("pprof that does not start: %d %s, want 502 and \"not here\"", w.Code, w.Body)
	}
	fail, address = false, "http://evil.example/"
	if w := get(s, "tools/pprof?r=0&profile=states"); w.Code != 502 {
		t.Errorf("pprof at another host: %d %s, want 502", w.Code, w.Body)
	}
	for _, p := range []string{"tools/other", "tools/pprof?profile=mutex", "tools/pprof?profile=../x", "tools/pprof?r=9"} {
		if w := get(s, p); w.Code < 400 || w.Code >= 500 {
			t.Errorf("GET %s: status %d, want 400 to 499", p, w.Code)
		}
	}
}

// Every path that the contract names is answered, and no other.
func TestPaths(t *testing.T) {
	contract, err := os.ReadFile("api.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`api/[a-z/]+[a-z]`).FindAllString(string(contract), -1) {
		named[m] = true
	}
	served := []string{"api/session", "api/upload", "api/export", "api/member", "api/live", "api/live/flame", "api/live/memory", "api/live/keep", "api/live/trace"}
	for p := range endpoints {
		served = append(served, p)
	}
	for p := range named {
		if !slices.Contains(served, p) {
			t.Errorf("%s is in the contract and nobody answers", p)
		}
	}
	for _, p := range served {
		if !named[p] && p != "api/member" {
			t.Errorf("%s is answered and not in the contract", p)
		}
	}
}

// Lists are there even when nobody filled them.
func TestListsAreNeverNull(t *testing.T) {
	text, err := encode(Findings{Diagnosis: &diagnosis.Diagnosis{Findings: []diagnosis.Finding{{}}}, Links: []FindingLinks{{Symptoms: []FindingLinks{{}}}}})
	if err != nil || strings.Contains(strings.ReplaceAll(string(text), `"trace":null`, ""), "null") {
		t.Errorf("encode(empty lists) = %s, %v; want null for trace only", text, err)
	}
	if text, err := encode([]Edge(nil)); err != nil || string(text) != "[]\n" {
		t.Errorf("encode([]Edge(nil)) = %q, %v; want []", text, err)
	}
	if text, err := encode(Compare{}); err != nil || !strings.Contains(string(text), `"trial":null`) {
		t.Errorf("what is not there must stay null: %s %v", text, err)
	}
}
