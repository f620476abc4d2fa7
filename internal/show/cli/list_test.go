package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/sense/proc"
)

func TestListRows(t *testing.T) {
	programs := []proc.Program{
		{PID: 7, Exe: "/srv/api", Build: &debug.BuildInfo{GoVersion: "go1.26.1", Path: "example.com/api/cmd/server", Main: debug.Module{Path: "example.com/api", Version: "v1.2.3"}},
			Listening: []string{"127.0.0.1:80"}, CPU: 90 * time.Second, Threads: 9, RSS: 3 << 20},
		{PID: 8, Err: os.ErrPermission},
		{PID: os.Getpid(), Build: &debug.BuildInfo{GoVersion: "go1.26.1", Path: "us"}},
		{PID: 9, Exe: "/tmp/go-build/evil\x1b[31m", Build: &debug.BuildInfo{GoVersion: "go1.20", Path: "command-line-arguments"}, CPU: 1500 * time.Millisecond, Threads: 1},
	}
	rows, refused := listRows(programs)
	if len(rows) != 2 || refused != 1 {
		t.Fatalf("%d rows, %d refused", len(rows), refused)
	}
	findEndpoints(t.Context(), rows, func(_ context.Context, addrs []string) (string, bool) {
		return "http://" + addrs[0] + "/debug/gowhy/", true
	})
	var text bytes.Buffer
	if err := writeTable(&text, rows, 0); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	if got := strings.Fields(lines[1]); !slices.Equal(got, []string{"7", "example.com/api/cmd/server", "v1.2.3", "go1.26.1", "90.0", "s", "9", "3", "MiB", "http://127.0.0.1:80/debug/gowhy/"}) {
		t.Errorf("%q", got)
	}
	if strings.Contains(text.String(), "\x1b") || !strings.HasPrefix(lines[2], "9 ") || !strings.Contains(lines[2], "1.50 s") {
		t.Errorf("%q", lines[2])
	}
	if strings.Index(lines[0], "GO ") != strings.Index(lines[1], "go1.26.1") || strings.Index(lines[1], "go1.26.1") != strings.Index(lines[2], "go1.20") {
		t.Errorf("not aligned:\n%s", &text)
	}
	// A narrow screen has fewer columns, but where it can be asked stays.
	for width, without := range map[int]string{98: "", 90: "THREADS", 75: "RSS", 62: "VERSION", 20: "CPU"} {
		text.Reset()
		if err := writeTable(&text, rows, width); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(text.String(), "\n")
		if without != "" && strings.Contains(head, without) || !strings.Contains(head, "ENDPOINT") || width > 65 && widerThan(text.String(), width) {
			t.Errorf("%d columns:\n%s", width, &text)
		}
	}
	text.Reset()
	if err := writeJSON(&text, rows); err != nil {
		t.Fatal(err)
	}
	var back []listRow
	if err := json.Unmarshal(text.Bytes(), &back); err != nil || len(back) != 2 || !back[0].Agent || back[0].Module != "example.com/api" || back[0].RSS != 3<<20 || back[1].Endpoint != "" {
		t.Errorf("writeJSON() reads back as %+v, %v, "+
			"want an agent and %d bytes of example.com/api, then one without an endpoint", back, err, 3<<20)
	}
}

// At most so many programs are asked at once.
func TestFindEndpoints(t *testing.T) {
	var rows []*listRow
	for range 3 * probesAtOnce {
		rows = append(rows, &listRow{Listening: []string{"x"}})
	}
	rows = append(rows, &listRow{})
	var now, most, all atomic.Int64
	findEndpoints(t.Context(), rows, func(context.Context, []string) (string, bool) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		runtime.Gosched()
		all.Add(1)
		now.Add(-1)
		return "", false
	})
	if most.Load() > probesAtOnce || all.Load() != 3*probesAtOnce {
		t.Errorf("%d of %d at once", most.Load(), all.Load())
	}
}

func TestListNotes(t *testing.T) {
	for refused, want := range map[int]string{0: "", 1: "gowhy: 1 process could not be looked into", 12: "gowhy: 12 processes could not be looked into"} {
		for _, shown := range []int{0, 5} {
			var text bytes.Buffer
			c := &command{Options: Options{Stderr: &text}}
			c.listNotes(shown, refused)
			if got := text.String(); !strings.HasPrefix(got, want) || strings.Contains(got, "no Go program") != (shown == 0) || refused > 0 && os.Geteuid() != 0 != strings.Contains(got, "hint: sudo gowhy list") {
				t.Errorf("%d shown, %d refused: %q", shown, refused, got)
			}
		}
	}
}

// The list of this machine has the test itself, with its endpoint.
func TestList(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	mux := http.NewServeMux() // http.DefaultServeMux has the agent, too, which gowhy's demonstrations need
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	server := &http.Server{Handler: mux}
	go server.Serve(l)
	defer server.Close()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	gowhy := exec.Command(self, "list", "--json")
	gowhy.Env = append(os.Environ(), mainEnv+"=1")
	var out, complaints bytes.Buffer
	gowhy.Stdout, gowhy.Stderr = &out, &complaints
	if err := gowhy.Run(); err != nil && gowhy.ProcessState == nil {
		t.Fatal(err)
	}
	stdout, stderr, code := out.String(), complaints.String(), gowhy.ProcessState.ExitCode()
	if runtime.GOOS != "linux" {
		if code != exitNoEvidence || !strings.Contains(stderr, "not available on this system") {
			t.Errorf("code %d, %s", code, stderr)
		}
		return
	}
	var rows []listRow
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil || code != exitWell {
		t.Fatalf("code %d, %v: %s%s", code, err, stdout, stderr)
	}
	i := slices.IndexFunc(rows, func(r listRow) bool { return r.PID == os.Getpid() })
	if i < 0 {
		t.Fatalf("this process is not in %s", stdout)
	}
	if r := rows[i]; r.Endpoint != "http://"+l.Addr().String()+"/debug/pprof/" || r.Agent || r.Go != runtime.Version() || r.Threads < 1 {
		t.Errorf("endpoint %q, agent %v, Go %q, %d threads, want http://%s/debug/pprof/, false, %q, 1 or more",
			r.Endpoint, r.Agent, r.Go, r.Threads, l.Addr(), runtime.Version())
	}
}

// A program whose network is another is not asked: its port here is somebody else's.
func TestReachable(t *testing.T) {
	rows := []*listRow{{PID: 1, Listening: []string{"127.0.0.1:6060"}}, {PID: 2, Listening: []string{"127.0.0.1:6060"}}}
	list := reachable(rows, func(pids ...int) map[int][]string {
		if len(pids) != 2 {
			t.Errorf("asked about %v", pids)
		}
		return map[int][]string{2: {"127.0.0.1:6060"}}
	})
	if len(list) != 1 || list[0].PID != 2 {
		t.Errorf("%v, want process 2 alone", list)
	}
}
