package main

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func configFor(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfig(t *testing.T) {
	path := configFor(t, `{
		"addr": "127.0.0.1:5300", "redis": "127.0.0.1:6379", "load": true, "limit": 0.5, "entries": 77, "cachettl": "3s", "healthy": true,
		"cache": "funnel", "allow": ["127.0.0.0/8", "2001:db8::1"], "deny": "192.0.2.0/24,198.51.100.7", "zonefile": ["a.test=a.zone", "b.test=b.zone"]
	}`)
	c, _, err := parse([]string{"-entries", "5", "-allow", "192.0.2.1", "-config", path, "-reverse", "concat"})
	if err != nil {
		t.Fatal(err)
	}
	if c.addr != "127.0.0.1:5300" || c.redis != "127.0.0.1:6379" || !c.load || c.limit != 0.5 || c.ttl != 3*time.Second || len(c.deny) != 2 ||
		!slices.Equal(c.zoneFiles, zoneFiles{{"a.test.", "a.zone"}, {"b.test.", "b.zone"}}) {
		t.Errorf("addr %q, redis %q, load %v, limit %v, TTL %v, deny %v, zone files %v, "+
			"want 127.0.0.1:5300, 127.0.0.1:6379, true, 0.5, 3s, two, a.test and b.test",
			c.addr, c.redis, c.load, c.limit, c.ttl, c.deny, c.zoneFiles)
	}
	if c.entries != 5 || !slices.Equal(c.allow, prefixes{netip.MustParsePrefix("192.0.2.1/32")}) {
		t.Errorf("%d entries, %v allowed; want what the command line says", c.entries, c.allow)
	}
	if c.cache != "funnel" || c.reverse != "concat" || c.random != "v2" || c.listeners != healthyListeners {
		t.Errorf("%+v, want it healthy but for the named", c)
	}
	if c, _, err := parse([]string{"-config", configFor(t, "{}")}); err != nil || c.random != "shared" {
		t.Errorf("an empty object: %v, want what no flags are", err)
	}
}

func TestConfigErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              ":1: want one object",
		"[]":                            ":1: want one object",
		"{\n\"adr\": \"x\"}":            ":2: no flag is called \"adr\"\nhint: \"addr\"",
		`{"entires": 1}`:                ":1: no flag is called \"entires\"\nhint: \"entries\"",
		`{"listener": 1}`:               ":1: no flag is called \"listener\"\nhint: \"listeners\"",
		"{\"burst\": 1,\n\"burst\": 2}": ":2: \"burst\" is there twice",
		`{"config": "x"}`:               ":1: one file names no other",
		`{"burst": "many"}`:             `:1: "burst": `,
		`{"burst": 1.5}`:                `:1: "burst": `,
		`{"load": 7}`:                   `:1: "load": `,
		`{"burst": null}`:               `:1: "burst" cannot be that`,
		`{"burst": [1, 2]}`:             `:1: "burst" cannot be that`,
		`{"redis": ["a", "b"]}`:         `:1: "redis" cannot be that`,
		`{"allow": [1]}`:                `:1: "allow" cannot be that`,
		`{"allow": ["x"]}`:              `:1: "allow": want networks`,
		`{"burst": {}}`:                 `:1: "burst" cannot be that`,
		"{\"burst\": 1\n":               ":1: the object has no end",
		`{"burst": 1} {}`:               ":1: more than one object",
		`{"burst" 1}`:                   ":1: ",
		`{7: 1}`:                        ":1: ",
	} {
		path := configFor(t, text)
		_, _, err := parse([]string{"-config", path})
		if err == nil || !strings.HasPrefix(err.Error(), "-config "+path+want) || !strings.Contains(err.Error(), "\nhint: ") {
			t.Errorf("%s: error %v, want -config %s%s and a hint", text, err, path, want)
		}
	}
	if _, _, err := parse([]string{"-config", configFor(t, `{"addr": "192.0.2.1:53"}`)}); err == nil || !strings.Contains(err.Error(), "-public") {
		t.Errorf("what the file says is not validated: %v", err)
	}
	if _, _, err := parse([]string{"-config", "missing.json"}); err == nil || !strings.Contains(err.Error(), "missing.json") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestPublic: without the flag the program keeps to this machine, with it it
// asks and answers others.
func TestPublic(t *testing.T) {
	for _, addr := range []string{"192.0.2.1:53", "0.0.0.0:0", "[::]:0"} {
		if _, _, err := parse([]string{"-addr", addr}); err == nil || !strings.Contains(err.Error(), "\nhint: -addr 127.0.0.1:5300, or -public") {
			t.Errorf("%s: error %v, want one whose hint is -public", addr, err)
		}
		if c, _, err := parse([]string{"-addr", addr, "-public"}); err != nil || !c.public {
			t.Errorf("%s with -public: %v", addr, err)
		}
	}
	if _, _, err := parse([]string{"-addr", "0.0.0.0:53", "-public", "-packets", "inline"}); err == nil || !strings.Contains(err.Error(), "\nhint: ") {
		t.Errorf("all addresses by one reader: error %v, want one with a hint", err)
	}
	s := serveFor(t, "-public", "-addr", "0.0.0.0:0", "-packets", "goroutine")
	_, port, _ := net.SplitHostPort(s.addr)
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		for _, tcp := range []bool{false, true} {
			if a, err := tryAsk(net.JoinHostPort(host, port), asking{name: "example.test.", qtype: 1, tcp: tcp}); err != nil || len(a.Answers) != 1 {
				t.Errorf("%s, tcp %v: %v, %v; want an answer", host, tcp, a, err)
			}
		}
	}
	for addr, want := range map[string]bool{
		"127.0.0.1:80": true, "192.0.2.1:80": true, "[2001:db8::1]:80": true, "192.0.2.1:0": false,
		// Who writes records should not learn what only this machine reaches.
		"169.254.169.254:80": false, "224.0.0.1:80": false, "0.0.0.0:80": false, "[fe80::1]:80": false,
	} {
		if got := s.health.target(check{"tcp", netip.MustParseAddrPort(addr), ""}) != nil; got != want {
			t.Errorf("%s is checked: %v, want %v", addr, got, want)
		}
	}
}
