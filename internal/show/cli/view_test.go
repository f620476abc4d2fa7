package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/show/web"
)

// startView runs gowhy view and returns the address that it prints. It ends with
// the test.
func startView(t *testing.T, args ...string) string {
	t.Helper()
	out, in := io.Pipe()
	var said bytes.Buffer
	ctx, stop := context.WithCancel(context.Background())
	c := &command{Options: Options{Rules: testRules, Stdout: in, Stderr: &said}}
	root := c.root()
	root.SetArgs(append([]string{"view", "--no-open"}, args...))
	ended := make(chan int)
	go func() {
		code := c.code(root.ExecuteContext(ctx))
		in.Close()
		ended <- code
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v: %s", err, &said)
	}
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != exitWell {
			t.Errorf("it ended with %d: %s", code, &said)
		}
	})
	return strings.TrimSpace(address)
}

func fetch[T any](t *testing.T, address string) (v T) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %d %v: %s", address, resp.StatusCode, err, body)
	}
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return v
}

// From the command line to a goroutine's spans.
func TestView(t *testing.T) {
	dir := t.TempDir()
	evidenceFiles(t, dir)
	address := startView(t, filepath.Join(dir, "trace.out"), filepath.Join(dir, "heap.pprof"), filepath.Join(dir, "evil.out"))
	s := fetch[web.Session](t, address+"api/session")
	// Two traces are two runs, and of which the profile is nobody can tell.
	var names []string
	for _, r := range s.Runs {
		names = append(names, r.Name)
	}
	if !slices.Equal(names, []string{"trace.out", "evil.out", "heap.pprof"}) {
		t.Fatalf("%q", names)
	}
	head := fetch[web.Timeline](t, address+"api/timeline?r=0")
	if head.DurationNS <= 0 || len(head.Lanes) == 0 {
		t.Fatalf("the timeline is %d ns long with %d lanes, want more than 0", head.DurationNS, len(head.Lanes))
	}
	f := fetch[web.Findings](t, address+"api/findings?r=0")
	if len(f.Diagnosis.Findings) != 1 || f.Diagnosis.Findings[0].Rule != "manyponies" || len(f.Links) != 1 {
		t.Fatalf("the findings are %+v with %d links, want one, of manyponies, with 1",
			f.Diagnosis.Findings, len(f.Links))
	}
	if runs := fetch[web.Session](t, address+"api/session").Runs; !slices.Contains(runs[0].Screens, "timeline") || slices.Contains(runs[2].Screens, "timeline") || runs[0].Verdict != "problem" {
		t.Errorf("screens %q and %q, verdict %q, want a timeline of the first alone, problem",
			runs[0].Screens, runs[2].Screens, runs[0].Verdict)
	}
	groups := fetch[web.Table](t, address+"api/groups?r=0")
	if len(groups.Rows) == 0 {
		t.Error("no goroutines")
	}
	viewNever500(t, address)
}

// viewNever500 asks every endpoint of a real run for what it does not have.
func viewNever500(t *testing.T, address string) {
	values := []string{"", "0", "-1", "1", "99999999999999999999", "9223372036854775807", "-9223372036854775808", "x", "\x00", "1e9", "ps", "g:0", "g:99999", "go:1", "go:1@2",
		"task:1", "regions:0", "p:0", "p:-1", "m:0", "gc", "stw", "samples", "tasks,ps,,nothing", "dur>10ms", `func:"`, "state:waiting id:1", "(", strings.Repeat("ps,", 300), strings.Repeat("x", 9000)}
	for path, parameters := range map[string][]string{
		"api/timeline": nil, "api/timeline/lanes": {"parent", "offset", "limit", "q"}, "api/timeline/tiles": {"level", "tile", "lanes"},
		"api/timeline/at": {"lane", "at"}, "api/timeline/edges": {"from", "to", "lanes"}, "api/timeline/select": {"from", "to", "lanes"},
		"api/timeline/search": {"q", "limit"}, "api/flame": {"kind", "group", "min", "base", "limit"}, "api/goroutines": {"group", "sort", "desc", "q", "offset", "limit"},
		"api/mmu": {"flags", "window"}, "api/task": {"id"}, "api/compare": {"a", "b", "trial", "with"}, "api/export": {"format", "profile", "table", "group"},
	} {
		for i, v := range values {
			q := url.Values{"r": {"0"}}
			for k, p := range parameters {
				q.Set(p, values[(i+k*7)%len(values)])
				if k == i%len(parameters) {
					q.Set(p, v)
				}
			}
			resp, err := http.Get(address + path + "?" + q.Encode())
			if err != nil {
				t.Fatalf("%s?%s: %v", path, q.Encode(), err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode >= 500 || err != nil {
				t.Errorf("%s?%.300s: %d %v %.300s", path, q.Encode(), resp.StatusCode, err, body)
			}
		}
	}
}

// A report file has the timeline's overview, and the same evidence gives the same
// bytes.
func TestHTMLReport(t *testing.T) {
	dir := t.TempDir()
	evidenceFiles(t, dir)
	var files [2][]byte
	for i := range files {
		out := filepath.Join(dir, "r.html")
		var said bytes.Buffer
		c := &command{Options: Options{Rules: testRules, Stdout: io.Discard, Stderr: &said}}
		root := c.root()
		root.SetArgs([]string{"report", filepath.Join(dir, "trace.out"), filepath.Join(dir, "contended.out"), filepath.Join(dir, "evil.out"), "-o", out})
		if code := c.code(root.ExecuteContext(t.Context())); code != exitWell {
			t.Fatalf("%d: %s", code, &said)
		}
		var err error
		if files[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same evidence gave two files")
	}
	text := string(files[0])
	for _, want := range []string{`"api/timeline/tiles?lanes=`, `"api/goroutines?group=`, `"api/compare?a=0\u0026b=2"`, `"static":true`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in the file", want)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("it has an escape sequence")
	}
}

// Of several files those that can be read are shown; what was left out is said by
// the run that it was given with. A report is written of all or of nothing.
func TestViewLeavesOut(t *testing.T) {
	dir := t.TempDir()
	evidenceFiles(t, dir)
	junk := filepath.Join(dir, "junk.bin")
	if err := os.WriteFile(junk, []byte{0, 1, 2, 0xff, 0xfe, 7}, 0o600); err != nil {
		t.Fatal(err)
	}
	files := []string{filepath.Join(dir, "trace.out"), junk, filepath.Join(dir, "nothere.pprof"), filepath.Join(dir, "heap.pprof")}
	address := startView(t, files...)
	s := fetch[web.Session](t, address+"api/session")
	if len(s.Runs) != 1 {
		t.Fatalf("the runs are %+v, want one", s.Runs)
	}
	src := fetch[web.Sources](t, address+"api/sources?r=0")
	if !slices.ContainsFunc(src.Notes, func(n string) bool { return strings.Contains(n, "not read") && strings.Contains(n, "junk.bin") }) {
		t.Errorf("notes: %q", src.Notes)
	}
	if run := fetch[web.Session](t, address+"api/session").Runs[0]; !slices.Contains(run.Screens, "timeline") || !slices.Contains(run.Screens, "flame") {
		t.Errorf("the screens are %q, want timeline and flame among them", run.Screens)
	}
	var said bytes.Buffer
	c := &command{Options: Options{Rules: testRules, Stdout: io.Discard, Stderr: &said}}
	root := c.root()
	root.SetArgs([]string{"report", files[0], junk, "-o", filepath.Join(dir, "r.html")})
	if code := c.code(root.ExecuteContext(t.Context())); code == exitWell || !strings.Contains(said.String(), "junk.bin") {
		t.Errorf("report: %d, %s", code, &said)
	}
}

func TestNewestRecording(t *testing.T) {
	dir := t.TempDir()
	if got := newestRecording(dir); got != nil {
		t.Error(got)
	}
	for i, n := range []string{"b.gowhy", "a.gowhy", "newer.txt"} {
		p := filepath.Join(dir, n)
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if got := newestRecording(dir); len(got) != 1 || filepath.Base(got[0]) != "a.gowhy" {
		t.Error(got)
	}
}

func TestTunnel(t *testing.T) {
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	for connection, want := range map[string][2]string{
		"10.0.0.1 5000 10.0.0.2 22":   {"ssh -N -L 4711:127.0.0.1:4711 ", "@10.0.0.2"},
		"10.0.0.1 5000 10.0.0.2 2222": {"ssh -N -L 4711:127.0.0.1:4711 -p 2222 ", "@10.0.0.2"},
		"what":                        {"ssh -N -L 4711:127.0.0.1:4711 ", "THIS-MACHINE"},
	} {
		if got := tunnel(at, connection); !strings.HasPrefix(got, want[0]) || !strings.HasSuffix(got, want[1]) {
			t.Errorf("%s: %q", connection, got)
		}
	}
}

func TestBrowser(t *testing.T) {
	for _, c := range []struct{ browser, want string }{
		{"/bin/x", "/bin/x URL"}, {"/bin/x --new", "/bin/x --new URL"}, {"/bin/x -u %s -q:other", "/bin/x -u URL -q"},
	} {
		t.Setenv("BROWSER", c.browser)
		if got := browser("URL"); got == nil || strings.Join(got.Args, " ") != c.want {
			t.Errorf("%q: %v", c.browser, got)
		}
	}
}
