// Package api serves the collector.
package api

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"uplinkprobes/internal/agent"
	"uplinkprobes/internal/series"
)

// A Server has the handlers.
type Server struct {
	fleet    *agent.Fleet
	registry *series.Registry
}

// New returns the collector's interface.
func New(f *agent.Fleet, r *series.Registry) http.Handler {
	s := &Server{fleet: f, registry: r}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /poll", s.poll)
	mux.HandleFunc("GET /sites/{site}", s.site)
	return mux
}

// poll asks the next agent, as the scheduler wants it to.
func (s *Server) poll(w http.ResponseWriter, _ *http.Request) {
	site, n, err := s.ingest(s.fleet.Poll())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	reply(w, map[string]any{"site": site, "probes": n})
}

// ingest takes what an agent says.
func (s *Server) ingest(text string) (site string, n int, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	if !lines.Scan() {
		return "", 0, fmt.Errorf("an agent says nothing")
	}
	site, ok := strings.CutPrefix(lines.Text(), "site ")
	if !ok {
		return "", 0, fmt.Errorf("an agent says %q", lines.Text())
	}
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 3 {
			return site, n, fmt.Errorf("%s: a probe of %d fields", site, len(f))
		}
		one := s.registry.Get(series.Key{Site: site, Link: f[0], Kind: f[1]})
		n++
		if f[2] == "lost" {
			one.Lost()
			continue
		}
		ms, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return site, n, fmt.Errorf("%s: %w", site, err)
		}
		if err := one.Record(min(max(int64(ms*10), 1), 60_000)); err != nil {
			return site, n, fmt.Errorf("%s: %w", site, err)
		}
	}
	return site, n, lines.Err()
}

// site tells the percentiles of a site's series.
func (s *Server) site(w http.ResponseWriter, r *http.Request) {
	type row struct {
		Link string `json:"link"`
		Kind string `json:"kind"`
		series.Figures
	}
	var rows []row
	s.registry.Each(r.PathValue("site"), func(k series.Key, one *series.Series) {
		rows = append(rows, row{k.Link, k.Kind, one.Figures()})
	})
	if rows == nil {
		http.NotFound(w, r)
		return
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), cmp.Compare(a.Kind, b.Kind))
	})
	reply(w, rows)
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has left
}
