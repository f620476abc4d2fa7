package quota

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/access"
	"github.com/gowhy/gowhy/fleet/store"
)

// A clock stands still until a test moves it.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func limiter(limits map[string]Limits) (*Limiter, *clock) {
	c := &clock{time.Unix(1e9, 0)}
	l := New(c.now)
	l.Set(limits)
	return l, c
}

// post sends bytes as a tenant; known is whether their number is said before.
func post(l *Limiter, tenant string, n int, known bool) *httptest.ResponseRecorder {
	h := l.Bytes(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	r := httptest.NewRequest("POST", "/ingest", strings.NewReader(strings.Repeat("x", n)))
	if !known {
		r.ContentLength = -1
	}
	r.Header.Set(access.TenantHeader, tenant)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestBytes(t *testing.T) {
	l, clock := limiter(map[string]Limits{"red": {BytesPerSecond: 100, Burst: 500}, "ten": {BytesPerSecond: 10}, Others: {BytesPerSecond: 1, Burst: 1}, "free": {}})
	for _, step := range []struct {
		after  time.Duration
		tenant string
		n      int
		known  bool
		retry  string // "" is taken
	}{
		{0, "red", 300, true, ""},
		{0, "red", 200, true, ""},
		{0, "red", 1, true, "1"},
		{0, "red", 250, true, "3"},
		{2500 * time.Millisecond, "red", 250, true, ""},
		{0, "red", 0, true, "1"},           // nothing to send is a request, too
		{time.Hour, "red", 1000, true, ""}, // longer than the burst, when all of it is free
		{5 * time.Second, "red", 1, true, "1"},
		{5 * time.Second, "red", 1, true, ""},
		{time.Hour, "red", 700, false, ""}, // of unknown length: a debt
		{time.Second, "red", 1, false, "2"},
		{0, "ten", 100, true, ""}, // the burst is ten seconds
		{0, "ten", 1, true, "1"},
		{0, "blue", 1, true, ""}, // the others', each alone
		{0, "blue", 1, true, "1"},
		{0, "green", 1, true, ""},
		{0, "free", 1e6, true, ""},
	} {
		clock.at = clock.at.Add(step.after)
		w := post(l, step.tenant, step.n, step.known)
		if got := w.Header().Get("Retry-After"); got != step.retry || (w.Code == http.StatusTooManyRequests) != (step.retry != "") {
			t.Errorf("%d bytes of %s, of known length %v, after %v: %d, Retry-After %q, want %q, and %d with one alone",
				step.n, step.tenant, step.known, step.after, w.Code, got, step.retry, http.StatusTooManyRequests)
		}
	}
	// What asks is not limited.
	h := l.Bytes(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/services", nil))
	if w.Code != http.StatusOK {
		t.Errorf("a question: %d", w.Code)
	}
	l.Set(nil)
	if w := post(l, "blue", 1000, true); w.Code != http.StatusOK {
		t.Errorf("without limits: %d", w.Code)
	}
}

type nowhere struct{}

func (nowhere) Write(context.Context, *store.Batch) error { return nil }

func TestWriter(t *testing.T) {
	l, clock := limiter(map[string]Limits{"red": {Services: 2, Labels: 1}})
	w := l.Writer(nowhere{})
	label := store.Label{Name: "a", Value: "b"}
	for _, step := range []struct {
		after   time.Duration
		tenant  string
		service string
		labels  []store.Label
		want    string
	}{
		{0, "red", "a", nil, ""},
		{0, "red", "b", []store.Label{label}, ""},
		{0, "red", "c", nil, `over a limit: service "c" is one more than the 2 that tenant "red" may have`},
		{0, "red", "a", []store.Label{label, label}, `over a limit: 2 labels, and tenant "red" may send 1`},
		{0, "blue", "c", []store.Label{label, label}, ""},
		{time.Hour, "red", "a", nil, ""},
		{remember, "red", "c", nil, ""}, // b did not send for a day, and a did
		{0, "red", "b", nil, `over a limit: service "b" is one more than the 2 that tenant "red" may have`},
	} {
		clock.at = clock.at.Add(step.after)
		err := w.Write(t.Context(), &store.Batch{Source: store.Source{Tenant: step.tenant, Service: step.service, Labels: step.labels}})
		if step.want == "" && err != nil || step.want != "" && (!errors.Is(err, store.ErrRefused) || err.Error() != step.want) {
			t.Errorf("Write() of service %s of %s with %d labels after %v: %v, want %q",
				step.service, step.tenant, len(step.labels), step.after, err, step.want)
		}
	}
	var b strings.Builder
	l.Metrics(&b)
	for _, line := range []string{`{tenant="red",reason="services"} 2`, `{tenant="red",reason="labels"} 1`, `{tenant="red",reason="bytes"} 0`} {
		if !strings.Contains(b.String(), "gowhy_fleet_tenant_refused_total"+line+"\n") {
			t.Errorf("%s has no %s", b.String(), line)
		}
	}
}

// TestManyTenants holds that names of strangers cost a bounded number of lines, and that
// tenants of the configuration are never among the others.
func TestManyTenants(t *testing.T) {
	l, _ := limiter(map[string]Limits{"red": {BytesPerSecond: 1}})
	for i := range mostTenants + 10 {
		post(l, fmt.Sprintf("t%d", i), 2, true)
	}
	post(l, strings.Repeat("x", longestName+1), 1, true)
	post(l, "red", 3, true)
	post(l, "a\"b\\\xff", 1, true)
	l.tenants["a\"b\\\xff"] = &usage{bytes: 4}
	var b strings.Builder
	l.Metrics(&b)
	for _, want := range []string{"{tenant=\"(others)\"} 22\n", "{tenant=\"red\"} 3\n", "{tenant=\"a\\\"b\\\\\uFFFD\"} 4\n"} {
		if !strings.Contains(b.String(), "gowhy_fleet_tenant_bytes_total"+want) {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(b.String(), "gowhy_fleet_tenant_bytes_total{"); n != mostTenants+3 {
		t.Errorf("%d tenants are shown", n)
	}
}
