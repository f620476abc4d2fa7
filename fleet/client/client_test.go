package client

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/fleet/api"
)

// TestAsk asks servers that answer well, and in every other way.
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string // of the error
	}{
		{"well", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/v1/top" || r.Header.Get("X-Scope-OrgID") != "blue" {
				w.WriteHeader(404)
			}
			w.Write([]byte(`{"total":7}`))
		}, ""},
		{"refused", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			w.Write([]byte(`{"error":"from is no time"}`))
		}, "from is no time"},
		{"hinted", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			w.Write([]byte(`{"error":"there is no service","hint":"did you mean shop?"}`))
		}, "there is no service"},
		{"another server", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, "does not fit"},
		{"no reason", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, "status 502"},
		{"a proxy's reason", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no\x1b[2Jroute", http.StatusServiceUnavailable)
		}, `status 503: "no\x1b[2Jroute`},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "status 302"},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			for range mostAnswer/(1<<20) + 1 {
				w.Write(make([]byte, 1<<20))
			}
		}, "longer than"},
	} {
		s := httptest.NewServer(c.answer)
		client, err := New(s.URL, "blue")
		if err != nil {
			t.Fatal(err)
		}
		var top api.Top
		err = client.Ask(t.Context(), "top", nil, &top)
		switch {
		case c.want == "" && (err != nil || top.Total != 7):
			t.Errorf("%s: Ask() reads the total %d, error %v, want 7", c.name, top.Total, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		s.Close()
		var status *Status
		if c.name == "hinted" && (!errors.As(err, &status) || status.Hint != "did you mean shop?") {
			t.Errorf("%v without a hint", err)
		}
		if err := client.Ask(t.Context(), "top", nil, &top); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: a server that is gone: %v", c.name, err)
		}
	}
}

func TestNew(t *testing.T) {
	for base, ok := range map[string]bool{"localhost:4040": true, "http://a": true, "https://a/b/": true, "": false, "ftp://a": false, "http://": false, "://": false} {
		if _, err := New(base, ""); (err == nil) != ok {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// TestPost holds that a body comes with its headers and who sends it, and that no password
// of the URL is in an error.
func TestPost(t *testing.T) {
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		body, _ := io.ReadAll(r.Body)
		if string(body) != "b" {
			w.WriteHeader(422)
		}
		w.Write(bytes.Repeat([]byte("x"), len(body)))
	}))
	defer s.Close()
	c, err := New(strings.Replace(s.URL, "://", "://me:secret@", 1), "blue")
	if err != nil {
		t.Fatal(err)
	}
	c.SetToken("token")
	answer, err := c.Post(t.Context(), "/push", map[string]string{"Content-Type": "application/proto"}, []byte("b"))
	if err != nil || string(answer) != "x" {
		t.Errorf("Post = %q, %v", answer, err)
	}
	for name, want := range map[string]string{"Content-Type": "application/proto", "X-Scope-Orgid": "blue", "Authorization": "Bearer token", "User-Agent": "gowhy-fleet"} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
	for _, body := range [][]byte{[]byte("other"), make([]byte, mostPosted+1)} {
		if _, err := c.Post(t.Context(), "/push", nil, body); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Post of %d bytes: %v", len(body), err)
		}
	}
}

func TestExposed(t *testing.T) {
	for base, want := range map[string]bool{"http://a.example": true, "https://a.example": false, "localhost:4040": false, "http://[::1]:1": false, "10.0.0.1:1": true} {
		c, err := New(base, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, got := c.TokenExposed(); got {
			t.Errorf("%s without a token is exposed", base)
		}
		c.SetToken("secret")
		if _, got := c.TokenExposed(); got != want {
			t.Errorf("%s exposes a token: %v, want %v", base, got, want)
		}
	}
}
