// Package upstream is the office that knows about flats, and a client of it.
package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"time"
)

// A Fact is a line of a panel.
type Fact struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Office returns the handler of the office, which looks facts up in its archive.
func Office() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /facts/{subject}", func(w http.ResponseWriter, r *http.Request) {
		h := fnv.New32a()
		fmt.Fprint(h, r.PathValue("subject"), r.URL.Query().Get("flat"))
		n := h.Sum32()
		select {
		case <-time.After(time.Duration(9+n%14) * time.Millisecond):
		case <-r.Context().Done():
			return
		}
		facts := make([]Fact, 0, 12)
		for i := range cap(facts) {
			n = n*1664525 + 1013904223
			facts = append(facts, Fact{fmt.Sprintf("%s %d", r.PathValue("subject"), i), float64(n>>8%100000) / 100, "EUR"})
		}
		_ = json.NewEncoder(w).Encode(facts)
	})
	return mux
}

// A Client asks the office.
type Client struct {
	base string
	http *http.Client
}

// NewClient returns a client of an office.
func NewClient(base string) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 256
	t.MaxIdleConns = 256
	return &Client{base, &http.Client{Transport: t, Timeout: 5 * time.Second}}
}

// Facts returns what the office knows about a subject.
func (c *Client) Facts(ctx context.Context, subject, flat string) ([]Fact, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/facts/"+subject+"?flat="+url.QueryEscape(flat), nil)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("upstream: %s", answer.Status)
	}
	var facts []Fact
	err = json.NewDecoder(answer.Body).Decode(&facts)
	return facts, err
}
