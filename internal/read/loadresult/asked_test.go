package loadresult

import (
	"os"
	"path/filepath"
	"testing"
)

// What was asked for, and over how many connections, is what a command needs to ask again.
func TestAsked(t *testing.T) {
	for file, want := range map[string]struct {
		url         string
		connections int
	}{
		"gowhy-1.json":  {"http://127.0.0.1:18999/", 40},
		"gowhy-1.txt":   {"http://127.0.0.1:18999/", 0},
		"wrk-4.1.txt":   {"http://127.0.0.1:18080/", 10},
		"ab-2.3.txt":    {"http://127.0.0.1:18099/half", 4},
		"hey-0.1.txt":   {},
		"ab-2.3-ok.txt": {"http://127.0.0.1:18099/ok", 4},
	} {
		f, err := os.Open(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := Parse(f)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if r.URL != want.url || r.Connections != want.connections {
			t.Errorf("%s: asked %q over %d, want %+v", file, r.URL, r.Connections, want)
		}
	}
	for target, want := range map[string]string{
		"GET https://h/a?b=c": "https://h/a?b=c", "POST http://h/": "", "GET http://h/\x1b[2J": "", "DNS at 127.0.0.1:53": "",
		"GET -o": "", "GET ftp://h/": "", "GET http://h/ x": "",
	} {
		if got := targetText(target); got != want {
			t.Errorf("asked(%q) = %q, want %q", target, got, want)
		}
	}
}
