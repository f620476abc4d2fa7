package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/grafana/pyroscope-go"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"

	"github.com/gowhy/gowhy/fleet/access"
	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/ingest/forward"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/quota"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// token returns one whose text is its name.
func token(name string, scopes access.Scope, tenants ...string) access.Token {
	return access.Token{Name: name, Hash: access.Hash(name), Scopes: scopes, Tenants: tenants}
}

// do makes a request with a token as a tenant, both "" for none.
func do(t *testing.T, c *http.Client, method, url, token, tenant string, body io.Reader) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if tenant != "" {
		r.Header.Set("X-Scope-OrgID", tenant)
	}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(data)
}

// TestForeignTenants holds that no token writes to, or reads of, another's tenant, by
// whatever way in and out.
func TestForeignTenants(t *testing.T) {
	both := access.Ingest | access.Read
	url := startedWith(t, new(storetest.Reference), Options{Settings: Settings{Tokens: []access.Token{
		token("red", both, "red"), token("blue", both, "blue"), token("two", both, "red", "green"), token("none", both),
	}}})
	c := http.DefaultClient
	for _, w := range []struct {
		token, tenant string
		status        int
	}{
		{"red", "", 200}, {"red", "red", 200}, {"red", "blue", 403}, {"blue", "red", 403}, {"two", "green", 200}, {"two", "", 403}, {"two", "blue", 403},
		{"none", "", 200}, {"none", "red", 403}, {"", "", 401}, {"", "red", 401}, {"wrong", "red", 401},
	} {
		service := w.token + "-as-" + w.tenant
		if a, said := do(t, c, "POST", url+"/ingest?name="+service, w.token, w.tenant, pprofOf(t, 1)); a.StatusCode != w.status {
			t.Errorf("%s writes: %d %s", service, a.StatusCode, said)
		}
	}
	for _, r := range []struct {
		token, tenant string
		status        int
		sees          string // services
	}{
		{"red", "", 200, "red-as- red-as-red"}, {"red", "blue", 403, ""}, {"blue", "", 200, ""}, {"two", "red", 200, "red-as- red-as-red"},
		{"two", "green", 200, "two-as-green"}, {"none", "", 200, "none-as-"}, {"none", "green", 403, ""}, {"", "red", 401, ""},
	} {
		a, _ := do(t, c, "GET", url+"/api/v1/services", r.token, r.tenant, nil)
		grafana := querierv1connect.NewQuerierServiceClient(http.DefaultClient, url)
		q := connect.NewRequest(&typesv1.LabelValuesRequest{Name: "service_name"})
		q.Header().Set("Authorization", "Bearer "+r.token)
		q.Header().Set("X-Scope-OrgID", r.tenant)
		if r.tenant == "" {
			q.Header().Del("X-Scope-OrgID")
		}
		values, err := grafana.LabelValues(t.Context(), q)
		code := map[int]connect.Code{403: connect.CodePermissionDenied, 401: connect.CodeUnauthenticated}[r.status]
		if a.StatusCode != r.status || r.status != 200 && connect.CodeOf(err) != code {
			t.Errorf("%s as %q: %d, %v", r.token, r.tenant, a.StatusCode, err)
		}
		if err == nil && strings.Join(values.Msg.Names, " ") != r.sees {
			t.Errorf("%s as %q sees %q", r.token, r.tenant, values.Msg.Names)
		}
	}
	// Grafana sends the token as a password.
	r, _ := http.NewRequest("GET", url+"/api/v1/services", nil)
	r.SetBasicAuth("any", "red")
	if a, err := c.Do(r); err != nil || a.StatusCode != 200 {
		t.Errorf("%v, %v", a, err)
	}
}

// startedWith serves with options until the test ends, and gives the URL.
func startedWith(t *testing.T, s store.Store, o Options) string {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	o.Ready = func(address string) { ready <- address }
	go func() { ended <- Serve(ctx, s, o) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case address := <-ready:
		if o.Settings.TLS != nil {
			return "https://" + address
		}
		return "http://" + address
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
		return ""
	}
}

// A screen is a log that is read while it is written.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestReload changes everything that can change, and holds that a mistake changes nothing.
func TestReload(t *testing.T) {
	first := Settings{Tokens: []access.Token{token("old", access.Read|access.Ingest|access.Admin)}}
	var next Settings
	var mistake error
	said := new(screen)
	url := startedWith(t, new(storetest.Reference), Options{Settings: first, Load: func() (Settings, error) { return next, mistake }, Log: slog.New(slog.NewTextHandler(said, nil))})
	status := func(token, path string) int {
		t.Helper()
		a, _ := do(t, http.DefaultClient, "GET", url+path, token, "", nil)
		return a.StatusCode
	}
	reload := func(token string, want int) {
		t.Helper()
		if a, body := do(t, http.DefaultClient, "POST", url+"/-/reload", token, "", nil); a.StatusCode != want {
			t.Errorf("%d %s, want %d", a.StatusCode, body, want)
		}
	}
	if status("old", "/api/v1/prices") != 404 || status("new", "/api/v1/prices") != 401 {
		t.Error("before")
	}
	mistake = errors.New("fleet.yaml:3: frob")
	reload("old", 500)
	_, metrics := do(t, http.DefaultClient, "GET", url+"/metrics", "old", "", nil)
	if status("old", "/api/v1/prices") != 404 || !strings.Contains(metrics, "reload_successful 0\n") || !strings.Contains(said.String(), "fleet.yaml:3: frob") {
		t.Errorf("a mistake: %s\n%s", metrics, said)
	}
	mistake = nil
	next = Settings{Tokens: []access.Token{token("new", access.Read|access.Ingest|access.Admin)}, Prices: &api.Prices{CoreHour: 0.03, GiBHour: 0.004, Currency: "EUR"},
		Limits: map[string]quota.Limits{"": {BytesPerSecond: 1, Burst: 1}},
		TLS:    func() (*tls.Config, error) { return nil, errors.New("TLS cannot begin") },
		Targets: func() ([]scrape.Target, error) {
			return []scrape.Target{{Source: store.Source{Service: "shop"}, URL: "http://127.0.0.1:1"}}, errors.New("t.json: no JSON")
		}}
	reload("old", 200)
	reload("old", 401)
	reload("new", 200)
	_, metrics = do(t, http.DefaultClient, "GET", url+"/metrics", "new", "", nil)
	for _, want := range []string{"reload_successful 1\n", `gowhy_fleet_scrape_up{service="shop",url="http://127.0.0.1:1"}`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s has no %s", metrics, want)
		}
	}
	if _, prices := do(t, http.DefaultClient, "GET", url+"/api/v1/prices", "new", "", nil); prices != `{"core_hour":0.03,"gib_hour":0.004,"currency":"EUR"}`+"\n" {
		t.Error(prices)
	}
	for i, want := range []int{200, 429} {
		if a, body := do(t, http.DefaultClient, "POST", url+"/ingest?name=shop", "new", "", pprofOf(t, 1)); a.StatusCode != want || (want == 429) != (a.Header.Get("Retry-After") != "") {
			t.Errorf("request %d: %d %s", i, a.StatusCode, body)
		}
	}
	for _, want := range []string{"tls begins or ends", "t.json: no JSON", "the configuration was loaded"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the log has no %q: %s", want, said)
		}
	}
}

// TestTokensDuringPush takes a token away while a push with it is on its way: that one is
// kept, and the next is refused.
func TestTokensDuringPush(t *testing.T) {
	kept := new(storetest.Reference)
	next := Settings{Tokens: []access.Token{token("new", access.Read|access.Ingest|access.Admin)}}
	url := startedWith(t, kept, Options{Settings: Settings{Tokens: []access.Token{token("old", access.Read|access.Ingest|access.Admin)}},
		Load: func() (Settings, error) { return next, nil }, Memory: 64 << 20})
	data, err := io.ReadAll(pprofOf(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	read, write := io.Pipe()
	go func() {
		write.Write(data[:len(data)/2])
		if a, said := do(t, http.DefaultClient, "POST", url+"/-/reload", "old", "", nil); a.StatusCode != http.StatusOK {
			t.Error(said)
		}
		write.Write(data[len(data)/2:])
		write.Close()
	}()
	// The body goes when the server asks for it, which it does when it has seen the token.
	asked := &http.Client{Transport: expecting{&http.Transport{ExpectContinueTimeout: time.Minute}}}
	if a, said := do(t, asked, "POST", url+"/ingest?name=shop", "old", "", read); a.StatusCode != http.StatusOK {
		t.Errorf("a push on its way: %d %s", a.StatusCode, said)
	}
	if a, _ := do(t, http.DefaultClient, "POST", url+"/ingest?name=shop", "old", "", bytes.NewReader(data)); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("the next with the old token: %d", a.StatusCode)
	}
	if _, said := do(t, http.DefaultClient, "GET", url+"/api/v1/services?from=now-1h&until="+time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "new", "", nil); strings.Count(said, `"name":"shop"`) != 1 {
		t.Error(said)
	}
}

// expecting sends bodies to servers that ask for them.
type expecting struct{ *http.Transport }

func (e expecting) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Expect", "100-continue")
	return e.Transport.RoundTrip(r)
}

// TestLimits refuses one service too many, and too many labels.
func TestLimits(t *testing.T) {
	url := startedWith(t, new(storetest.Reference), Options{Settings: Settings{Limits: map[string]quota.Limits{quota.Others: {Services: 1, Labels: 2}}}})
	for _, c := range []struct {
		tenant, name string
		status       int
	}{{"red", "a", 200}, {"red", "b", 400}, {"blue", "b", 200}, {"blue", "b{x=1,y=2,z=3}", 400}} {
		if a, body := do(t, http.DefaultClient, "POST", url+"/ingest?name="+c.name, "", c.tenant, pprofOf(t, 1)); a.StatusCode != c.status || c.status != 200 && !strings.Contains(body, "over a limit") {
			t.Errorf("POST /ingest?name=%s of %s: %d %s, want %d, over a limit where refused",
				c.name, c.tenant, a.StatusCode, body, c.status)
		}
	}
	_, metrics := do(t, http.DefaultClient, "GET", url+"/metrics", "", "", nil)
	for _, want := range []string{`{tenant="red",reason="services"} 1`, `{tenant="blue",reason="labels"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s in %s", want, metrics)
		}
	}
}

// TestExposed has which addresses a server takes by what protects it.
func TestExposed(t *testing.T) {
	for _, c := range []struct {
		listen                string
		tokens, tls, insecure bool
		want                  string
	}{
		{"127.0.0.1:0", false, false, false, ""}, {"[::1]:0", false, true, false, ""},
		{"0.0.0.0:0", false, true, true, "does not know who asks"}, {":0", false, false, true, "does not know who asks"},
		{"0.0.0.0:0", true, false, false, "could read the tokens"}, {"shop:1", true, false, false, "insecure: true"},
		{"0.0.0.0:0", true, true, false, ""}, {"0.0.0.0:0", true, false, true, ""}, {"nonsense", true, true, true, "no address"},
	} {
		if err := Reachable(c.listen, c.tokens, c.tls, c.insecure); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Reachable(%q, %v, %v, %v) = %v, want %q", c.listen, c.tokens, c.tls, c.insecure, err, c.want)
		}
	}
}

// TestOtherSites holds that a browser's password is not used by pages of others, where the
// server has no name of loopback to compare with.
func TestOtherSites(t *testing.T) {
	url := startedWith(t, new(storetest.Reference), Options{Listen: "0.0.0.0:0", Insecure: true, Load: func() (Settings, error) { return Settings{}, nil },
		Settings: Settings{Tokens: []access.Token{token("in", access.Ingest), token("chief", access.Admin)}}})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	for origin, want := range map[string]int{"": 200, "http://127.0.0.1:" + port: 200, "http://evil.example": 403, "null": 403} {
		r, _ := http.NewRequest("POST", "http://127.0.0.1:"+port+"/ingest?name=a", pprofOf(t, 1))
		r.SetBasicAuth("", "in")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil || a.StatusCode != want {
			t.Errorf("origin %q: %v, %v", origin, a, err)
		}
	}
	// No file takes the tokens of a server away that others reach.
	if a, body := do(t, http.DefaultClient, "POST", "http://127.0.0.1:"+port+"/-/reload", "chief", "", nil); a.StatusCode != 500 || !strings.Contains(body, "does not know who asks") {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	if a, _ := do(t, http.DefaultClient, "POST", "http://127.0.0.1:"+port+"/ingest?name=a", "", "", pprofOf(t, 1)); a.StatusCode != 401 {
		t.Errorf("after that a request without a token: %d", a.StatusCode)
	}
}

// TestForward has what a real SDK sends to one server arrive at another over either
// protocol, with the tenant of its token.
func TestForward(t *testing.T) {
	for _, p := range []forward.Protocol{forward.Pyroscope, forward.OTLP} {
		t.Run(string(p), func(t *testing.T) { testForward(t, p) })
	}
}

func testForward(t *testing.T, protocol forward.Protocol) {
	second := startedWith(t, new(storetest.Reference), Options{Settings: Settings{Tokens: []access.Token{token("forwarder", access.Ingest|access.Read, access.AnyTenant)}}})
	f, err := forward.New(forward.Options{URL: second, Protocol: protocol, Bearer: func() (string, error) { return "forwarder", nil }})
	if err != nil {
		t.Fatal(err)
	}
	both := access.Ingest | access.Read
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, new(storetest.Reference), Options{Listen: "127.0.0.1:0", Forward: f, Ready: func(a string) { ready <- a },
			Settings: Settings{Tokens: []access.Token{token("sdk", both, "red")}}})
	}()
	first := "http://" + <-ready
	p, err := pyroscope.Start(pyroscope.Config{ApplicationName: "shop", ServerAddress: first, BasicAuthUser: "any", BasicAuthPassword: "sdk", UploadRate: time.Second,
		ProfileTypes: append(pyroscope.DefaultProfileTypes, pyroscope.ProfileGoroutines), Tags: map[string]string{"version": "v7"}})
	if err != nil {
		t.Fatal(err)
	}
	p.Flush(true)
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	ask := func(url, token, tenant, path string) string {
		t.Helper()
		a, body := do(t, http.DefaultClient, "GET", url+path, token, tenant, nil)
		if a.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, a.StatusCode, body)
		}
		return body
	}
	until := fmt.Sprintf("&until=%s", time.Now().Add(time.Minute).UTC().Format(time.RFC3339))
	const question = "/api/v1/top?service=shop&version=v7&type=goroutines"
	own := ask(first, "sdk", "", question+until)
	// The end sends what waits, but for five seconds: a busy machine may need more.
	for limit := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var said bytes.Buffer
		if f.Metrics(&said); strings.Contains(said.String(), "gowhy_fleet_forward_waiting_bytes 0\n") {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("waits for a minute:\n%s", said.String())
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if other := ask(second, "forwarder", "red", question+until); other != own || !strings.Contains(own, `"self":`) {
		t.Errorf("here  %s\nthere %s", own, other)
	}
}

// TestOddPaths has tokens of one scope ask by paths that are written oddly, at which one scope
// seems to be needed and another is: they get no answer, but where to ask.
func TestOddPaths(t *testing.T) {
	kept := new(storetest.Reference)
	url := startedWith(t, kept, Options{Settings: Settings{Tokens: []access.Token{token("out", access.Read), token("in", access.Ingest), token("chief", access.Admin)}}})
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	in, out := []string{"ingest?name=a", "push.v1.PusherService/Push", "v1development/profiles"}, []string{"api/v1/services", "pyroscope/render", "querier.v1.QuerierService/LabelNames"}
	for token, of := range map[string]struct{ through, to []string }{
		"out":   {[]string{"/pyroscope/../", "/pyroscope/%2e%2e/", "/pyroscope//../", "/querier.v1.QuerierService/../", "/querier.%2f..%2f"}, in},
		"in":    {[]string{"/api/v1/uploads/../../../", "/api/v1/uploads/%2e%2e/%2E%2E/%2e%2e/", "/api/v1/uploads/..%2f..%2f..%2f"}, out},
		"chief": {[]string{"/-/../", "/-/%2e%2e/", "/-//../"}, append(in, out...)},
	} {
		for _, method := range []string{"GET", "POST", "PATCH", "CONNECT"} {
			for _, through := range of.through {
				for _, to := range of.to {
					a, said := do(t, c, method, url+through+to, token, "", pprofOf(t, 1))
					if a.StatusCode < 300 || strings.Contains(said, `"services"`) {
						t.Errorf("%s %s as %s: %d %.80s", method, through+to, token, a.StatusCode, said)
					}
				}
			}
		}
	}
	if all, err := kept.Services(t.Context(), store.Selection{}); err != nil || len(all.Services) > 0 {
		t.Errorf("kept the services %+v, %v, want none", all.Services, err)
	}
}
