package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestShortages: what the kernel refused is found behind any prefix, and the same words in
// another sentence are not.
func TestShortages(t *testing.T) {
	for line, want := range map[string]string{
		"2026/03/01 10:00:00 http: Accept error: accept tcp [::]:8443: accept4: too many open files; retrying in 1s":         "EMFILE accept",
		`{"log":"http: Accept error: accept tcp [::]:1: accept4: too many open files; retrying in 5ms\n","stream":"stderr"}`: "EMFILE accept",
		`{"level":"error","msg":"query failed","error":"dial tcp 10.0.0.7:5432: socket: too many open files"}`:               "EMFILE dial",
		"Mar  1 10:00:00 node app[77]: lookup db.internal on 10.0.0.2:53: dial udp 10.0.0.2:53: socket: too many open files": "EMFILE lookup",
		"level=error err=\"open /var/lib/app/wal/0001: too many open files\" component=wal":                                  "EMFILE open",
		"panic: open /tmp/x: too many open files in system":                                                                  "ENFILE open",
		"accept() failed (24: Too many open files)":                                                                          "EMFILE accept",
		"fork/exec /usr/bin/convert: resource temporarily unavailable":                                                       "EAGAIN fork",
		"fork/exec /usr/bin/convert: cannot allocate memory":                                                                 "ENOMEM fork",
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable":                                               "EAGAIN thread",
		"runtime: failed to create new OS thread (have 9 already; errno=11)":                                                 "EAGAIN thread",
		"runtime: failed to create new OS thread (have 9 already; errno=12)":                                                 "ENOMEM thread",
		"runtime: out of memory: cannot allocate 4194304-byte block (99 in use)":                                             "ENOMEM memory",
		"fatal error: runtime: cannot allocate memory":                                                                       "ENOMEM memory",
		"read tcp 10.0.0.1:80: resource temporarily unavailable":                                                             "",
		"hint: raise ulimit -n to avoid too many open files errors":                                                          "",
		"see the FAQ: too many open files":                                                                                   "",
		"if accept fails: too many open files is what it says":                                                               "",
		"the editor said that it had too many open files":                                                                    "",
		"reopened: too many open files":                                                                                      "",
		"cannot allocate memory for the party":                                                                               "",
	} {
		var g logs
		g.search([]byte("first line\n" + line + "\nlast line\n"))
		got := ""
		for _, s := range g.short.list() {
			got += s.Errno + " " + s.Call
		}
		if got != want {
			t.Errorf("%s\nis %q, want %q", line, got, want)
		}
	}
}

// TestShortageOfHeap keeps what the runtime says that the heap had, the most of several.
func TestShortageOfHeap(t *testing.T) {
	var g logs
	g.search([]byte("up\nruntime: out of memory: cannot allocate 4096-byte block (34312716288 in use)\n" +
		"runtime: out of memory: cannot allocate 8192-byte block (99 in use)\nfatal error: out of memory\n"))
	if s := g.short.list(); len(s) != 1 || s[0].HeapBytes != 34312716288 || s[0].Lines != 2 {
		t.Errorf("%+v, want two lines and a heap of 34,312,716,288 bytes", s)
	}
}

// TestShortageLog: a log alone is evidence by these lines, with their number, the time
// between them and what one of them says.
func TestShortageLog(t *testing.T) {
	log := strings.Repeat("INFO[0007] serving\n", 50)
	for _, s := range []string{"10:00:00", "10:00:01", "10:00:42"} {
		log += "2026/03/01 " + s + " http: Accept error: accept tcp [::]:8443: accept4: too many open files; retrying in 1s\r\n"
	}
	path := filepath.Join(t.TempDir(), "app.log")
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	m := loaded(t, path)
	if len(m.Shortages) != 1 || !strings.HasSuffix(m.Shortages[0].File, "app.log") {
		t.Fatalf("the shortages are %+v, want one of app.log", m.Shortages)
	}
	m.Shortages[0].File = ""
	want := model.Shortage{Errno: "EMFILE", Call: "accept", Lines: 3, Over: 42 * time.Second, Example: "accept tcp [::]:8443: accept4: too many open files"}
	if m.Shortages[0] != want {
		t.Errorf("shortages: %+v, want %+v", m.Shortages[0], want)
	}
}

// TestLineTime reads the times of usual loggers.
func TestLineTime(t *testing.T) {
	for line, want := range map[string]string{
		"2026/03/01 10:00:00 x":                   "2026-03-01T10:00:00Z",
		"time=2026-03-01T10:00:00.25+02:00 x":     "2026-03-01T10:00:00.25+02:00",
		"2026-03-01 10:00:00,125 x":               "2026-03-01T10:00:00.125Z",
		`{"ts":"2026-03-01T10:00:00.125456789Z"}`: "2026-03-01T10:00:00.125456789Z",
	} {
		if got := lineTime([]byte(line)).Format(time.RFC3339Nano); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if got := lineTime([]byte("Mar  1 10:00:00 node x")); got.Month() != time.March || got.Hour() != 10 {
		t.Errorf("syslog: %s", got)
	}
	if got := lineTime([]byte("nothing")); !got.IsZero() {
		t.Errorf("no time: %s", got)
	}
}

// FuzzShortages: a text of any bytes is searched without a panic, within bounds.
func FuzzShortages(f *testing.F) {
	f.Add("accept tcp [::]:1: accept4: too many open files; retrying in 1s")
	f.Add("fork/exec x: resource temporarily unavailable\nruntime: failed to create new OS thread (have 9 already; errno=12)")
	f.Add(": too many open files in system")
	f.Fuzz(func(t *testing.T, text string) {
		var g logs
		g.short.search([]byte(text))
		for _, s := range g.short.list() {
			if s.Lines <= 0 || len(s.Example) > maxExample+len("…") || s.Over < 0 {
				t.Errorf("%q of %d lines over %v, want %d bytes at most, some lines, no time below 0",
					s.Example, s.Lines, s.Over, maxExample+len("…"))
			}
		}
	})
}
