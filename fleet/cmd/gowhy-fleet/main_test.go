package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	netpprof "net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/rules"
	"github.com/gowhy/gowhy/internal/read/evidence"
)

// A screen is what a command prints, readable while it runs.
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

// begin runs a command that serves until the test ends, and gives the server's URL.
func begin(t *testing.T, args ...string) string {
	t.Helper()
	return beginOn(t, new(screen), args...)
}

// beginOn is begin with what it prints.
func beginOn(t *testing.T, said *screen, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, args, said, said) }()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("%v ended with %d: %s", args, code, said)
		}
	})
	for {
		if _, rest, ok := strings.Cut(said.String(), "listening on "); ok && strings.Contains(rest, ",") {
			url, _, _ := strings.Cut(rest, ",")
			return url
		}
		select {
		case code := <-ended:
			ended <- code
			t.Fatalf("%v ended with %d: %s", args, code, said)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func asked(t *testing.T, code int, args ...string) string {
	t.Helper()
	var b bytes.Buffer
	if got := run(t.Context(), args, &b, &b); got != code {
		t.Errorf("%v: exit code %d, want %d: %s", args, got, code, b.String())
	}
	return b.String()
}

// TestDemo asks the demonstration what its texts promise.
func TestDemo(t *testing.T) {
	url := begin(t, "demo", "--listen", "127.0.0.1:0")
	flags := []string{"--server", url, "--from", "now-3h"}
	services := asked(t, 0, append(flags, "services")...)
	if lines := strings.Split(services, "\n"); !strings.Contains(services, "\ncheckout v1.5.0 ") || len(lines) != 13 {
		t.Errorf("services:\n%s", services)
	}
	versions := asked(t, 0, append(flags, "versions")...)
	if !strings.HasPrefix(versions, "worse: checkout since v1.5.0 (before: v1.4.0)\n") || strings.Count(versions, "worse:") != 1 ||
		!strings.Contains(versions, "where  regexp/syntax.(*compiler).compile\n") || !strings.Contains(versions, "\n4 deploys without") {
		t.Errorf("versions:\n%s", versions)
	}
	if top := asked(t, 0, append(flags, "top", "checkout", "-n", "3")...); len(strings.Split(top, "\n")) != 6 || !strings.Contains(top, "example.com/checkout/order.step") {
		t.Errorf("top:\n%s", top)
	}
	var found string
	for !strings.Contains(found, "order.step003") || !strings.Contains(found, "catalog/order.step007") { // judged span by span, the newest first
		time.Sleep(50 * time.Millisecond) // of the CPU time that judging needs
		found = asked(t, 0, append(flags, "findings")...)
	}
	if !strings.HasPrefix(found, "checkout: Work is repeated") || strings.Count(found, "where ") != 2 || !strings.Contains(found, "all 20 processes") || !strings.Contains(found, "\ncatalog: The live heap keeps growing\n") ||
		!strings.Contains(found, "iB/s (growth of memory in use, ") {
		t.Errorf("findings:\n%s", found)
	}
	file := filepath.Join(t.TempDir(), "merged.gowhy")
	if said := asked(t, 0, append(flags, "evidence", "checkout", "--version", "v1.5.0", "-o", file)...); !strings.Contains(said, "hint: gowhy "+file) {
		t.Error(said)
	}
	if m, err := evidence.Load(t.Context(), []string{file}, evidence.Options{}); err != nil || len(diagnosis.Run(m, rules.All, diagnosis.Options{}).Findings) == 0 {
		t.Errorf("the merged profiles say nothing: %v", err)
	}
	for format, want := range map[string]string{"pprof": "hint: go tool pprof -top ", "folded": "wrote ", "otlp": "application/x-protobuf", "otlp-json": "application/json"} {
		file := filepath.Join(t.TempDir(), "it's "+format)
		said := asked(t, 0, append(flags, "export", "checkout", "--format", format, "-o", file)...)
		if data, err := os.ReadFile(file); err != nil || len(data) < 1000 || !strings.Contains(said, want) {
			t.Errorf("%s: %d bytes, %v: %s", format, len(data), err, said)
		}
	}
	if data := asked(t, 0, append(flags, "export", "checkout", "--format", "otlp-json", "--type", "mutex_delay", "-o", "-")...); !strings.HasPrefix(data, `{"resourceProfiles":[`) {
		t.Errorf("%.200s", data)
	}
	for _, question := range [][]string{{"top", "chekout"}, {"versions", "--service", "chekout"}, {"findings", "--service", "chekout", "--json"}, {"export", "chekout", "-o", "-"}, {"evidence", "chekout"}, {"diff", "chekout", "--base", "v1"}, {"record", "chekout"}} {
		if said := asked(t, 1, append(flags[:2:2], question...)...); !strings.HasSuffix(said, "there is no service \"chekout\"\nhint: did you mean checkout?\n") {
			t.Errorf("%v: %s", question, said)
		}
	}
	if said := asked(t, 1, append(flags, "top", "mail")...); !strings.HasSuffix(said, "\nhint: gowhy fleet services --from now-24h\n") {
		t.Error(said)
	}
	var a api.Versions
	if err := json.Unmarshal([]byte(asked(t, 0, append(flags, "versions", "--json")...)), &a); err != nil || len(a.Changes) != 5 {
		t.Errorf("%d changes, %v", len(a.Changes), err)
	}
}

// TestScrape serves what it fetches from a program with net/http/pprof, and keeps it
// when it begins again.
func TestScrape(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", netpprof.Index)
	mux.HandleFunc("/debug/pprof/profile", netpprof.Profile)
	program := httptest.NewServer(mux)
	defer program.Close()
	data := t.TempDir()
	t.Run("fetch", func(t *testing.T) {
		url := begin(t, "serve", "--listen", "127.0.0.1:0", "--data", data, "--every", "6s", "--scrape", "shop@v3="+program.URL+"/debug/pprof")
		for !strings.Contains(asked(t, 0, "services", "--server", url), "shop v3") {
			time.Sleep(50 * time.Millisecond)
		}
	})
	url := begin(t, "serve", "--listen", "127.0.0.1:0", "--data", data)
	if top := asked(t, 0, "top", "shop", "--type", "goroutines", "--server", url); !strings.Contains(top, "net/http.") && !strings.Contains(top, "runtime.") {
		t.Errorf("after it began again:\n%s", top)
	}
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "hint: gowhy-fleet --help", []string{"frobnicate"}},
		{2, "unknown flag", []string{"services", "--frob"}},
		{2, "takes one service", []string{"top"}},
		{2, "takes one service", []string{"evidence"}},
		{2, "hint: --format folded, otlp, otlp-json, pprof", []string{"export", "shop", "--format", "heat"}},
		{2, "takes no argument", []string{"services", "checkout"}},
		{2, "is not SERVICE=URL", []string{"serve", "--scrape", "shop"}},
		{2, "is not SERVICE=URL", []string{"serve", "--scrape", "shop=ftp://a"}},
		{2, "--every a second or more", []string{"serve", "--every", "1ms"}},
		{2, "hint: --forward http", []string{"serve", "--forward-protocol", "otlp"}},
		{2, "neither pyroscope nor otlp", []string{"serve", "--forward", "http://a", "--forward-protocol", "grpc"}},
		{2, "is no URL of a server", []string{"services", "--server", "ftp://a"}},
		{1, "not an address of loopback", []string{"serve", "--listen", "0.0.0.0:0", "--data", t.TempDir()}},
		{1, "hint: gowhy-fleet serve", []string{"services", "--server", "127.0.0.1:1"}},
		{0, "Usage:", nil},
		{0, "--scrape", []string{"serve", "--help"}},
		{0, "gowhy-fleet ", []string{"--version"}},
	} {
		if said := asked(t, c.code, c.args...); !strings.Contains(said, c.want) {
			t.Errorf("%v: %s, want %q", c.args, said, c.want)
		}
	}
}

// TestTwoServers holds that a directory has one server.
func TestTwoServers(t *testing.T) {
	data := t.TempDir()
	begin(t, "serve", "--listen", "127.0.0.1:0", "--data", data)
	if said := asked(t, 1, "serve", "--listen", "127.0.0.1:0", "--data", data); !strings.Contains(said, "is open in process") {
		t.Error(said)
	}
}

func TestVersion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"version"}, "gowhy-fleet "},
		{[]string{"--version"}, "gowhy-fleet "},
		{[]string{"version", "--licenses"}, "\nmodernc.org/sqlite "},
	} {
		var out, problems bytes.Buffer
		if code := run(t.Context(), c.args, &out, &problems); code != 0 || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v: code %d, %.200q, %s; want %q in it", c.args, code, out.String(), problems.String(), c.want)
		}
	}
}
