package record

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestEndpoint(t *testing.T) {
	hello := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello\n") }
	index, single, all, agent := http.NewServeMux(), http.NewServeMux(), http.NewServeMux(), http.NewServeMux()
	index.HandleFunc("/debug/pprof/", pprof.Index)
	single.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline) // of others who mount what they need
	single.HandleFunc("/", hello)
	all.HandleFunc("/", hello)
	agent.HandleFunc(agentPath, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, agentGreet+"\n") })
	agent.HandleFunc("/debug/pprof/", pprof.Index)
	for name, test := range map[string]struct {
		mux   *http.ServeMux
		path  string
		agent bool
		first string // that one GET finds
	}{
		"index":             {index, pprofPath, false, pprofPath},
		"single handlers":   {single, pprofPath, false, ""},
		"answers all":       {all, "", false, ""},
		"answers nothing":   {http.NewServeMux(), "", false, ""},
		"agent beside them": {agent, agentPath, true, pprofPath},
	} {
		var asked atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); test.mux.ServeHTTP(w, r) }))
		url := func(path string) string {
			if path == "" {
				return ""
			}
			return server.URL + path
		}
		addrs, known := []string{strings.TrimPrefix(server.URL, "http://")}, map[string]bool{}
		for range 3 { // a stranger's log has one line of it
			if at := Index(t.Context(), addrs, false, known); at != url(test.first) {
				t.Errorf("%s: %q, want %q", name, at, url(test.first))
			}
			if n := asked.Load(); test.first == "" && n != 1 {
				t.Errorf("%s: asked %d times", name, n)
			}
		}
		if at := Index(t.Context(), addrs, true, map[string]bool{}); (at != "") != test.agent {
			t.Errorf("%s: the agent at %q", name, at)
		}
		if at, agent := Endpoint(t.Context(), addrs); at != url(test.path) || agent != test.agent {
			t.Errorf("%s: %q, agent %v; want %q", name, at, agent, url(test.path))
		}
		server.Close()
		if at := Index(t.Context(), addrs, false, map[string]bool{}); at != "" {
			t.Errorf("%s, which is gone: %q", name, at)
		}
	}
	if at := Index(t.Context(), nil, false, map[string]bool{}); at != "" {
		t.Errorf("without a port: %q", at)
	}
}

// A server that sends without an end, or hardly anything, costs little time and
// memory, and is told of.
func TestHostileServers(t *testing.T) {
	handlers := map[string]func(http.ResponseWriter, *http.Request){
		"sends more than programs do": func(w http.ResponseWriter, r *http.Request) {
			piece := append([]byte("\x1f\x8b\x08\x00"), make([]byte, 1<<16)...)
			for {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		},
		"did not answer in time": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				w.Write([]byte{0x1f})
				w.(http.Flusher).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		},
	}
	for want, handler := range handlers {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			mux.HandleFunc("/debug/pprof/{$}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "goroutine profile") })
			mux.HandleFunc("/debug/pprof/", handler)
			s := httptest.NewServer(mux)
			out := filepath.Join(t.TempDir(), "run.gowhy")
			begin := time.Now()
			o := Options{Out: out, Duration: 100 * time.Millisecond, unwatched: time.Millisecond, Without: []string{"proc", "kernel", "offcpu", "syscalls"}}
			res, err := Run(t.Context(), Target{URL: s.URL}, o)
			s.CloseClientConnections()
			s.Close()
			if took := time.Since(begin); took > time.Minute { // of 2 + 5 + 2 + 2 seconds
				t.Errorf("it took %v", took)
			}
			text := fmt.Sprint(err)
			if res != nil {
				text += fmt.Sprint(res.Refused)
			}
			if !strings.Contains(text, want) {
				t.Errorf("%s, want %q", text, want)
			}
			if info, err := os.Stat(out); err == nil && info.Size() > 2*allowance {
				t.Errorf("a recording of %d bytes", info.Size())
			}
		})
	}
}
