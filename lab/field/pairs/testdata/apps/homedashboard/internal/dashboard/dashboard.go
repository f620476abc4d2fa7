// Package dashboard puts together what controllers say.
package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// A Source is a controller.
type Source struct{ Name, URL string }

// A Board shows all sources.
type Board struct {
	Client   *http.Client
	Sources  []Source
	Together bool
}

type part struct {
	Part  string `json:"part"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

func (b Board) ask(ctx context.Context, s Source) (p part, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		return p, err
	}
	resp, err := b.Client.Do(req)
	if err != nil {
		return p, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return p, fmt.Errorf("%s says %s", s.Name, resp.Status)
	}
	return p, json.NewDecoder(resp.Body).Decode(&p)
}

func (b Board) fill(ctx context.Context, out *part, s Source) {
	p, err := b.ask(ctx, s)
	if err != nil {
		p = part{Part: s.Name, Error: err.Error()}
	}
	*out = p
}

func (b Board) collect(ctx context.Context) []part {
	out := make([]part, len(b.Sources))
	if !b.Together {
		for i, s := range b.Sources {
			b.fill(ctx, &out[i], s)
		}
		return out
	}
	var wg sync.WaitGroup
	for i, s := range b.Sources {
		wg.Go(func() { b.fill(ctx, &out[i], s) })
	}
	wg.Wait()
	return out
}

func (b Board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(b.collect(r.Context()))
}
