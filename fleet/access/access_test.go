package access

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// tokens are one of each kind; each is its own name.
var tokens = []Token{
	{Name: "in", Scopes: Ingest},
	{Name: "out", Scopes: Read},
	{Name: "chief", Scopes: Admin},
	{Name: "red", Scopes: Ingest | Read, Tenants: []string{"red"}},
	{Name: "both", Scopes: Ingest | Read, Tenants: []string{"red", "blue"}},
	{Name: "all", Scopes: Read, Tenants: []string{AnyTenant}},
}

func init() {
	for i := range tokens {
		tokens[i].Hash = Hash(tokens[i].Name)
	}
}

// guarded answers with the tenant that arrives, and fails where a credential does.
func guarded(t *testing.T, tokens []Token) http.Handler {
	var g Guard
	g.Set(tokens)
	return g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" && ScopeOf(r) != 0 {
			t.Errorf("%s: the credential went on", r.URL)
		}
		w.Write([]byte("tenant:" + r.Header.Get(TenantHeader)))
	}))
}

func ask(h http.Handler, method, path, token, tenant string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if tenant != "" {
		r.Header.Set(TenantHeader, tenant)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestScopes asks each path with each token.
func TestScopes(t *testing.T) {
	h := guarded(t, tokens)
	for _, c := range []struct {
		method, path string
		tokens       string // those that open it; of the others each is refused
	}{
		{"POST", "/ingest", "in red"},
		{"POST", "/push.v1.PusherService/Push", "in red"},
		{"POST", "/v1development/profiles", "in red"},
		{"POST", "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export", "in red"},
		{"POST", "/api/v1/runs", "in red"},
		{"PUT", "/api/v1/runs", "in red"},
		{"HEAD", "/api/v1/uploads/0", "in red"},
		{"PATCH", "/api/v1/uploads/0", "in red"},
		{"GET", "/api/v1/services", "out red all"},
		{"HEAD", "/api/v1/services", "out red all"},
		{"POST", "/querier.v1.QuerierService/Series", "out red all"},
		{"GET", "/pyroscope/render", "out red all"},
		{"GET", "/", "out red all"},
		{"GET", "/metrics", "out all chief"},
		{"POST", "/-/reload", "chief"},
		{"GET", "/-/reload", "chief"},
		{"DELETE", "/api/v1/runs", "chief"},
		{"BREW", "/unknown", "chief"},
		{"GET", "/healthz", "in out chief red both all nobody"},
		{"GET", "/ready", "in out chief red both all nobody"},
	} {
		for _, token := range []string{"in", "out", "chief", "red", "all", "nobody"} {
			want := http.StatusForbidden
			if strings.Contains(" "+c.tokens+" ", " "+token+" ") {
				want = http.StatusOK
			} else if token == "nobody" {
				want = http.StatusUnauthorized
			}
			if w := ask(h, c.method, c.path, token, ""); w.Code != want {
				t.Errorf("%s %s by %s: %d %s, want %d", c.method, c.path, token, w.Code, w.Body, want)
			}
		}
	}
}

// TestTenants holds that a token is only its tenants.
func TestTenants(t *testing.T) {
	h := guarded(t, tokens)
	for _, c := range []struct{ token, asks, is string }{
		{"out", "", "tenant:"}, {"out", "red", "403"},
		{"red", "", "tenant:red"}, {"red", "red", "tenant:red"}, {"red", "blue", "403"}, {"red", AnyTenant, "403"},
		{"both", "", "403"}, {"both", "red", "tenant:red"}, {"both", "blue", "tenant:blue"}, {"both", "green", "403"},
		{"all", "", "tenant:"}, {"all", "red", "tenant:red"}, {"all", "never seen", "tenant:never seen"},
	} {
		w := ask(h, "GET", "/api/v1/services", c.token, c.asks)
		got := w.Body.String()
		if w.Code != http.StatusOK {
			got = "403"
			var e map[string]string
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != http.StatusForbidden || e["code"] != "permission_denied" || e["error"] == "" || e["message"] != e["error"] {
				t.Errorf("token %q as %q: %d %s, want %d with the code permission_denied and the message twice",
					c.token, c.asks, w.Code, w.Body, http.StatusForbidden)
			}
		}
		if got != c.is {
			t.Errorf("token %q as %q is %q, want %q", c.token, c.asks, got, c.is)
		}
	}
	// A second header must not be what the handlers read.
	r := httptest.NewRequest("GET", "/api/v1/services", nil)
	r.Header.Set("Authorization", "Bearer red")
	r.Header[TenantHeader] = []string{"red", "blue"}
	var g Guard
	g.Set(tokens)
	g.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if values := r.Header.Values(TenantHeader); len(values) != 1 || values[0] != "red" {
			t.Errorf("the tenants are %q", values)
		}
	})).ServeHTTP(httptest.NewRecorder(), r)
}

// TestSecret has the ways in which a request carries a token, and those in which it does not.
func TestSecret(t *testing.T) {
	h := guarded(t, tokens)
	for header, ok := range map[string]bool{
		"Bearer out": true, "bearer  out ": true, "Basic " + "dXNlcjpvdXQ=": true, "Basic " + "Om91dA==": true, // user:out, :out
		"": false, "Bearer": false, "Bearer ": false, "Bearer ou": false, "Bearer outt": false, "Basic " + "b3V0Og==": false, "Digest out": false, "out": false,
	} {
		r := httptest.NewRequest("GET", "/api/v1/services", nil)
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if ok != (w.Code == http.StatusOK) || !ok && (w.Code != http.StatusUnauthorized || len(w.Header().Values("WWW-Authenticate")) != 2) {
			t.Errorf("%q: %d %s", header, w.Code, w.Body)
		}
	}
	// A token whose hash is that of nothing opens nothing.
	h = guarded(t, []Token{{Name: "empty", Hash: Hash(""), Scopes: Read}})
	if w := ask(h, "GET", "/api/v1/services", "", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("an empty token: %d", w.Code)
	}
}

// TestSet changes the tokens, and takes them all away.
func TestSet(t *testing.T) {
	var g Guard
	h := g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		tokens []Token
		want   int
	}{{nil, 200}, {tokens[:1], 401}, {tokens, 200}, {[]Token{}, 200}} {
		if c.tokens != nil {
			g.Set(c.tokens)
		}
		if w := ask(h, "GET", "/api/v1/services", "out", ""); w.Code != c.want {
			t.Errorf("%d tokens: %d, want %d", len(c.tokens), w.Code, c.want)
		}
	}
}

func TestScopeString(t *testing.T) {
	if s := (Ingest | Read | Admin).String(); s != "ingest, read, admin" {
		t.Error(s)
	}
}
