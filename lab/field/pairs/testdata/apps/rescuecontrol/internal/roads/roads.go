// Package roads asks the road service for driving times.
package roads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"
)

// Point is a place on the map, in metres.
type Point struct{ X, Y float64 }

// Beeline returns the distance as the crow flies.
func (p Point) Beeline(q Point) float64 { return math.Hypot(p.X-q.X, p.Y-q.Y) }

type question struct {
	From []Point `json:"from"`
	To   Point   `json:"to"`
}

// Client asks the service.
type Client struct {
	http *http.Client
	url  string
}

// NewClient returns a client of the service at url.
func NewClient(url string) *Client {
	return &Client{url: url, http: &http.Client{
		Timeout: time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16},
	}}
}

// Times returns the driving times to a place in seconds.
func (c *Client) Times(from []Point, to Point) ([]float64, error) {
	body, err := json.Marshal(question{from, to})
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Post(c.url+"/times", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("roads: %s", resp.Status)
	}
	var times []float64
	err = json.NewDecoder(resp.Body).Decode(&times)
	return times, err
}

// Serve returns the service.
func Serve(takes time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /times", func(w http.ResponseWriter, r *http.Request) {
		var q question
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		time.Sleep(takes)
		times := make([]float64, len(q.From))
		for i, p := range q.From {
			times[i] = 45 + p.Beeline(q.To)/(14+float64(int(p.X)%5))
		}
		json.NewEncoder(w).Encode(times)
	})
	return mux
}
