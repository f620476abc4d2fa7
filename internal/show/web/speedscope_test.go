package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// startScope serves a file in speedscope until the test ends, or stop is called.
func startScope(t *testing.T, name, text string) (at *url.URL, stop func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	address, ended, err := StartSpeedscope(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	if at, err = url.Parse(address); err != nil {
		t.Fatal(err)
	}
	return at, stop
}

// askAt sends a request to an address with another path.
func askAt(t *testing.T, at *url.URL, method, path string, edit func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+at.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(r)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// The viewer is whole, says what it shows, and its policy lets it ask nobody else.
func TestSpeedscope(t *testing.T) {
	at, stop := startScope(t, "a b-cpu.speedscope.json", `{"name":"x"}`)
	if at.Hostname() != "127.0.0.1" || at.Fragment != "view=left-heavy&profileURL=profile.json&title=a b-cpu" {
		t.Errorf("the viewer is at %v, want 127.0.0.1, the profile and its title", at)
	}
	resp, page := askAt(t, at, "GET", at.Path, nil)
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("the viewer's page: %d %v, want 200 and HTML", resp.StatusCode, resp.Header)
	}
	named := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(named) < 2 {
		t.Fatalf("the page names %q, want two files or more", named)
	}
	for _, m := range named {
		resp, body := askAt(t, at, "GET", at.Path+m[1], nil)
		if resp.StatusCode != 200 || body == "" {
			t.Errorf("%s of the viewer: %d, %d bytes; want 200 and some", m[1], resp.StatusCode, len(body))
		}
		for _, f := range regexp.MustCompile(`url\("\./([^"]+)"\)`).FindAllStringSubmatch(body, -1) {
			if resp, _ := askAt(t, at, "GET", at.Path+f[1], nil); resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "font/woff2" {
				t.Errorf("%s of the viewer: %d %s, want 200 and font/woff2", f[1], resp.StatusCode, resp.Header)
			}
		}
	}
	resp, profile := askAt(t, at, "GET", at.Path+"profile.json", nil)
	if profile != `{"name":"x"}` || resp.Header.Get("Content-Type") != jsonType || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("profile.json = %s with %v, want the profile as JSON that is not stored", profile, resp.Header)
	}
	nothing := sha256.Sum256(nil)
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "'sha256-" + base64.StdEncoding.EncodeToString(nothing[:]) + "'"} {
		if !strings.Contains(resp.Header.Get("Content-Security-Policy"), want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	if p := resp.Header.Get("Content-Security-Policy"); strings.Contains(p, "unsafe-inline") || strings.Contains(p, "'unsafe-eval'") || strings.Contains(p, "*") || strings.Contains(p, "http") {
		t.Errorf("policy %q, want no unsafe code and nothing from elsewhere", p)
	}
	stop()
	if _, err := http.Get(at.String()); err == nil {
		t.Error("it answers after its end")
	}
}

// Nothing but the viewer and its one profile, to nobody else.
func TestSpeedscopeRefuses(t *testing.T) {
	at, _ := startScope(t, "a.speedscope.json", "{}")
	other, _ := startScope(t, "b.speedscope.json", "{}")
	if at.Host == other.Host || at.Path == other.Path {
		t.Fatal("two profiles share an origin or a secret")
	}
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	header := func(k, v string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(k, v) } }
	for _, c := range []struct {
		method, path string
		edit         func(*http.Request)
		want         int
	}{
		{"GET", at.Path, nil, 200},
		{"HEAD", at.Path, nil, 200},
		{"GET", at.Path, host("localhost:1"), 200},
		{"GET", at.Path, host("evil.example"), 403},
		{"GET", at.Path + "profile.json", host("127.0.0.1.evil.example"), 403},
		{"GET", at.Path + "profile.json", header("Origin", "http://"+other.Host), 403},
		{"GET", at.Path + "profile.json", header("Origin", "null"), 403},
		{"GET", at.Path + "profile.json", header("Sec-Fetch-Site", "same-site"), 403}, // the page, another viewer
		{"GET", at.Path + "profile.json", header("Sec-Fetch-Site", "cross-site"), 403},
		{"GET", at.Path + "profile.json", header("Sec-Fetch-Site", "same-origin"), 200},
		{"POST", at.Path, nil, 405},
		{"PUT", at.Path + "profile.json", nil, 405},
		{"DELETE", at.Path + "profile.json", nil, 405},
		{"OPTIONS", at.Path + "profile.json", nil, 405},
		{"GET", "/", nil, 404},
		{"GET", "/profile.json", nil, 404},
		{"GET", strings.TrimSuffix(at.Path, "/"), nil, 404},
		{"GET", other.Path, nil, 404},
		{"GET", other.Path + "profile.json", nil, 404},
		{"GET", at.Path + "api/session", nil, 404},
		{"GET", at.Path + "app.js", nil, 404},
		{"GET", at.Path + "profile.json/", nil, 404},
		{"GET", at.Path + "profile%2ejson", nil, 404},
		{"GET", at.Path + "../b.speedscope.json", nil, 404},
		{"GET", at.Path + "..%2f..%2fetc%2fpasswd", nil, 404},
		{"GET", at.Path + "a.speedscope.json", nil, 404},
		{"GET", at.Path + "/etc/passwd", nil, 404},
	} {
		resp, body := askAt(t, at, c.method, c.path, c.edit)
		if resp.StatusCode != c.want {
			t.Errorf("%s %s: status %d %s, want %d", c.method, c.path, resp.StatusCode, body, c.want)
		}
		for k := range resp.Header {
			if strings.HasPrefix(k, "Access-Control-") || k == "Set-Cookie" || k == "Location" {
				t.Errorf("%s %s: header %s, want none that opens the viewer to others", c.method, c.path, k)
			}
		}
	}
}

// What the package brings and nobody here needs is not in the binary; its licences are.
func TestSpeedscopeFiles(t *testing.T) {
	size := 0
	list, err := speedscopeFiles.ReadDir("speedscope")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, e := range list {
		have[e.Name()] = true
		data, err := speedscopeFiles.ReadFile("speedscope/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		size += len(data)
		if ext := filepath.Ext(e.Name()); ext == ".wasm" || ext == ".map" || ext == ".json" || ext == ".txt" && e.Name() != "release.txt" {
			t.Errorf("%s is of no use", e.Name())
		}
	}
	if !have["LICENSE"] || !have["source-code-pro.LICENSE.md"] || size > 1_000_000 {
		t.Errorf("%d bytes with %v, want at most 1,000,000 and both licenses", size, have)
	}
}

// From the page's link to the profile: the file that speedscope gets is the
// export of the run, it ends with the server, and too many are refused.
func TestOpenSpeedscope(t *testing.T) {
	s := newTestServer(t, Options{Tools: map[string]Starter{"speedscope": {Format: "speedscope", Most: 2, Start: StartSpeedscope}}})
	open := func(profile string) *url.URL {
		t.Helper()
		w := get(s, "tools/speedscope?r=0&profile="+profile)
		if w.Code != 303 {
			t.Fatalf("speedscope of %s: %d %s, want 303", profile, w.Code, w.Body)
		}
		at, err := url.Parse(w.Header().Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	at := open("states")
	if again := open("states"); *again != *at {
		t.Errorf("the same profile is at %s and %s, want one address", at, again)
	}
	_, text := askAt(t, at, "GET", at.Path+"profile.json", nil)
	var file struct {
		Profiles []struct{ Name string }
		Shared   struct{ Frames []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil || len(file.Profiles) != 1 || file.Profiles[0].Name != "states" || len(file.Shared.Frames) == 0 {
		t.Errorf("profile.json: %v: %.300s; want one profile, states, with frames", err, text)
	}
	if resp, _ := askAt(t, at, "GET", s.prefix, nil); resp.StatusCode != 404 {
		t.Error("the page's secret is good for the viewer")
	}
	open("cpu")
	if w := get(s, "tools/speedscope?r=0&profile=sched"); w.Code != 429 {
		t.Errorf("a third viewer where 2 may run: status %d, want 429", w.Code)
	}
	s.Close()
	c := http.Client{Timeout: time.Second}
	if resp, err := c.Get(at.String()); err == nil {
		resp.Body.Close()
		t.Error("the viewer outlived the server")
	}
}
