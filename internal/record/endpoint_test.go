package record

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"strings"
	"testing"
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
	}{
		"index":             {index, pprofPath, false},
		"single handlers":   {single, pprofPath, false},
		"answers all":       {all, "", false},
		"answers nothing":   {http.NewServeMux(), "", false},
		"agent beside them": {agent, agentPath, true},
	} {
		server := httptest.NewServer(test.mux)
		want := ""
		if test.path != "" {
			want = server.URL + test.path
		}
		if at, agent := Endpoint(t.Context(), []string{strings.TrimPrefix(server.URL, "http://")}); at != want || agent != test.agent {
			t.Errorf("%s: %q, agent %v; want %q", name, at, agent, want)
		}
		server.Close()
	}
	if at, _ := Endpoint(t.Context(), nil); at != "" {
		t.Errorf("without a port: %q", at)
	}
}
