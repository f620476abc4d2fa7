package httpsd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// documented is the example of Prometheus' page about HTTP SD.
const documented = `[
    {
        "targets": ["10.0.10.2:9100", "10.0.10.3:9100", "10.0.10.4:9100", "10.0.10.5:9100"],
        "labels": {
            "__meta_datacenter": "london",
            "__meta_prometheus_job": "node"
        }
    },
    {
        "targets": ["10.0.40.2:9100", "10.0.40.3:9100"],
        "labels": {
            "__meta_datacenter": "london",
            "__meta_prometheus_job": "alertmanager"
        }
    },
    {
        "targets": ["10.0.40.2:9093", "10.0.40.3:9093"],
        "labels": {
            "__meta_datacenter": "newyork",
            "__meta_prometheus_job": "alertmanager"
        }
    }
]`

func TestDecode(t *testing.T) {
	got, err := decode([]byte(documented))
	want := []Group{
		{[]string{"10.0.10.2:9100", "10.0.10.3:9100", "10.0.10.4:9100", "10.0.10.5:9100"}, map[string]string{"__meta_datacenter": "london", "__meta_prometheus_job": "node"}},
		{[]string{"10.0.40.2:9100", "10.0.40.3:9100"}, map[string]string{"__meta_datacenter": "london", "__meta_prometheus_job": "alertmanager"}},
		{[]string{"10.0.40.2:9093", "10.0.40.3:9093"}, map[string]string{"__meta_datacenter": "newyork", "__meta_prometheus_job": "alertmanager"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("decode(documented) = %+v, %v, want %+v", got, err, want)
	}
	if got, err := decode([]byte(" [] ")); err != nil || len(got) != 0 {
		t.Errorf("decode(%q) = %+v, %v, want no groups", " [] ", got, err)
	}
	many := `["a:1"` + strings.Repeat(`,"a:1"`, mostTargets) + `]`
	labels := `{"a0":""`
	for i := range mostLabels {
		labels += fmt.Sprintf(`,"b%d":""`, i)
	}
	for text, want := range map[string]string{
		``: "not a list of groups", `{}`: "not a list of groups", `null`: "null, not a list", `[null]`: "group 1 is null", `[]x`: "not a list of groups",
		`[{"targets":"a"}]`: "not a list of groups", `[{"labels":{"a":1}}]`: "not a list of groups", `[{"targets":[""]}]`: `group 1: target "" is empty`,
		`[{}, {"targets":["a\u001b[2J"]}]`:          `group 2: target "a\x1b[2J" is empty, longer than 4096 bytes or has a control character`,
		`[{"labels":{"a":"\u0000"}}]`:               `group 1: label "a", or its value,`,
		`[{"labels":{"":"a"}}]`:                     `group 1: label ""`,
		`[{"targets":` + many + `}]`:                "more than 10000 targets",
		`[{}` + strings.Repeat(",{}", 10000) + `]`:  "10001 groups",
		`[{"labels":` + labels + `}}]`:              "101 labels",
		`[{"targets":["` + long(longest+1) + `"]}]`: "longer than 4096 bytes",
	} {
		if _, err := decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", text, err, want)
		}
	}
}

func long(n int) string { return strings.Repeat("a", n) }

func none() (Credentials, error) { return Credentials{}, nil }

// TestRun has a list that comes, changes, fails in several ways and comes back: what
// failed changes nothing but the count.
func TestRun(t *testing.T) {
	type reply struct {
		status     int
		kind, body string
	}
	steps := []struct {
		reply
		want string // an error
		host string // the target then
	}{
		{reply{200, "application/json", `[{"targets":["a:1"]}]`}, "", "a:1"},
		{reply{500, "application/json", `[]`}, "status 500", "a:1"},
		{reply{200, "text/html", `[]`}, "Content-Type", "a:1"},
		{reply{302, "application/json", ``}, "status 302", "a:1"},
		{reply{200, "application/json", `[{"targets":["b:1"`}, "not a list", "a:1"},
		{reply{200, "application/json", strings.Repeat(" ", mostBytes) + `[]`}, "more than 10485760 bytes", "a:1"},
		{reply{200, `application/json; charset="utf-8"`, `[{"targets":["b:1"]}]`}, "", "b:1"},
	}
	var step atomic.Int64
	var wrong atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "u" || password != "p" || r.Header.Get("X-Prometheus-Refresh-Interval-Seconds") != "60" || r.URL.RawQuery != "key=hidden" {
			wrong.Store(fmt.Sprint(r.URL, r.Header))
		}
		reply := steps[step.Load()]
		w.Header().Set("Content-Type", reply.kind)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(reply.status)
		io.WriteString(w, reply.body)
	}))
	defer s.Close()
	source := New(s.URL+"/list?key=hidden", time.Minute, func() (Credentials, error) { return Credentials{User: "u", Password: "p"}, nil })
	failures := int64(0)
	for i, c := range steps {
		step.Store(int64(i))
		differs, err := source.refresh(t.Context())
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden")) {
			t.Errorf("step %d: %v, want %s", i, err, c.want)
		}
		if err != nil {
			failures++
		}
		if g := source.Groups(); differs != (err == nil) || len(g) != 1 || g[0].Targets[0] != c.host || source.Failures() != failures {
			t.Errorf("step %d: refresh() = %v, then groups %+v and %d failures, want %v, one of %s, %d",
				i, differs, g, source.Failures(), err == nil, c.host, failures)
		}
	}
	if differs, err := source.refresh(t.Context()); differs || err != nil {
		t.Errorf("the same list again: %v, %v", differs, err)
	}
	if w := wrong.Load(); w != nil {
		t.Error(w)
	}
	s.Close()
	if _, err := source.refresh(t.Context()); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
}

// TestInterval holds that a source asks at once and again, says what changed, and ends.
func TestInterval(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `[{"targets":["a:%d"]}]`, asked.Add(1))
	}))
	defer s.Close()
	source := New(s.URL, time.Minute, none)
	ctx, stop := context.WithCancel(t.Context())
	changes, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		source.Run(ctx, func(err error) {
			select {
			case changes <- err:
			case <-ctx.Done():
			}
		})
	}()
	if err := <-changes; err != nil || source.Groups()[0].Targets[0] != "a:1" {
		t.Errorf("Run() says %v and has the groups %+v, want no error and a:1", err, source.Groups())
	}
	stop()
	<-ended
	broken := errors.New("no file of a token")
	source = New(s.URL, time.Millisecond, func() (Credentials, error) { return Credentials{}, broken })
	ctx, stop = context.WithCancel(t.Context())
	source.Run(ctx, func(err error) {
		if !errors.Is(err, broken) {
			t.Error(err)
		}
		if source.Failures() == 2 {
			stop()
		}
	})
	stop()
}

// FuzzDecode holds that no answer makes it panic, or gives what a label cannot hold.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(documented))
	f.Add([]byte(`[{"targets":["a"],"labels":{"b":"c"},"source":"x"},null]`))
	f.Add([]byte(`[{"targets":["\ud800"],"labels":null}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		groups, err := decode(data)
		if err != nil && groups != nil {
			t.Error("a list and an error")
		}
		for _, g := range groups {
			for _, s := range g.Targets {
				if s == "" || !plain(s) {
					t.Errorf("target %q", s)
				}
			}
			for name, value := range g.Labels {
				if name == "" || !plain(name) || !plain(value) {
					t.Errorf("label %q: %q", name, value)
				}
			}
		}
	})
}
