// Package partner talks to the services that take part in a transfer.
package partner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Client asks one service.
type Client struct {
	http *http.Client
	url  string
}

// NewClient returns a client of the service at url.
func NewClient(url string) *Client {
	return &Client{url: url, http: &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
}

// Ask posts in to the path and reads the answer into out.
func (c *Client) Ask(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("partner: %s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// Serve returns a handler that answers as the partners do.
func Serve() http.Handler {
	mux := http.NewServeMux()
	answer := func(path string, takes time.Duration, f func(in map[string]any) any) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			var in map[string]any
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			time.Sleep(takes)
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(f(in))
		})
	}
	num := func(v any) int { f, _ := v.(float64); return int(f) }
	answer("/beds/offer", 7*time.Millisecond, func(in map[string]any) any {
		return map[string]any{"ward": fmt.Sprint(in["specialty"], "-2"), "bed": num(in["patient"]) % 40}
	})
	answer("/crews/offer", 9*time.Millisecond, func(in map[string]any) any {
		return map[string]any{"crew": fmt.Sprintf("K%02d", num(in["patient"])%30), "minutes": 12 + num(in["acuity"])}
	})
	answer("/isolation/state", 6*time.Millisecond, func(in map[string]any) any {
		return map[string]any{"germ": num(in["patient"])%17 == 0, "screened": true}
	})
	answer("/cover/check", 8*time.Millisecond, func(in map[string]any) any {
		return map[string]any{"covered": num(in["patient"])%23 != 0, "share": 0.1}
	})
	answer("/transfers/confirm", 3*time.Millisecond, func(in map[string]any) any {
		return map[string]any{"number": num(in["patient"])*7 + 100000}
	})
	return mux
}
