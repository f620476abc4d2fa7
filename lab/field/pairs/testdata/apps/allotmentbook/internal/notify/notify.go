// Package notify sends letters to tenants.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Letter is one message to a tenant.
type Letter struct {
	To   string `json:"to"`
	Text string `json:"text"`
}

// Client talks to the letter service.
type Client struct {
	url  string
	http *http.Client
}

// NewClient returns a client of the service at url.
func NewClient(url string) *Client {
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.MaxIdleConnsPerHost = 100
	return &Client{url: url, http: &http.Client{Transport: tr, Timeout: 5 * time.Second}}
}

// Send hands over a letter.
func (c *Client) Send(ctx context.Context, l Letter) error {
	body, err := json.Marshal(l)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("notify: %s", resp.Status)
	}
	return nil
}

// Handler is the letter service.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var l Letter
		if err := json.NewDecoder(r.Body).Decode(&l); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		time.Sleep(14 * time.Millisecond)
		w.WriteHeader(http.StatusAccepted)
	})
}
