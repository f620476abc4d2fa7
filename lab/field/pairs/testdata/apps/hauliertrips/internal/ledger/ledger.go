// Package ledger has the mileage that tolls are charged by.
package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Mileage is what a truck has driven since it was last booked.
type Mileage struct {
	Truck  string  `json:"truck"`
	Metres float64 `json:"metres"`
	Fixes  int     `json:"fixes"`
}

// Client books mileages.
type Client struct {
	http *http.Client
	url  string
}

// NewClient returns a client of the ledger at url.
func NewClient(url string) *Client {
	return &Client{url: url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
}

// Book adds a mileage to the ledger.
func (c *Client) Book(m Mileage) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	resp, err := c.http.Post(c.url+"/mileage", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("ledger: %s", resp.Status)
	}
	return nil
}

// Server is the ledger.
type Server struct {
	Takes time.Duration

	mu     sync.Mutex
	metres map[string]float64
	total  float64
}

// ServeHTTP books one mileage.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m Mileage
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	time.Sleep(s.Takes)
	s.mu.Lock()
	if s.metres == nil {
		s.metres = make(map[string]float64)
	}
	s.metres[m.Truck] += m.Metres
	s.total += m.Metres
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// Total returns the trucks and the kilometres booked.
func (s *Server) Total() (trucks int, km float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.metres), s.total / 1000
}
