// Package tariff asks the customs office for the duty on goods.
package tariff

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"cargomanifests/internal/customs"
	"cargomanifests/internal/manifest"
)

// Client talks to the office.
type Client struct {
	base string
	http *http.Client
}

// NewClient keeps up to conns connections.
func NewClient(base string, conns int) *Client {
	return &Client{base: base, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: conns, MaxIdleConns: conns}}}
}

// Assess fills in the duty of e.
func (c *Client) Assess(ctx context.Context, e *manifest.Entry) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/ruling?code="+url.QueryEscape(e.Code), nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("tariff: office says %s", resp.Status)
	}
	var r customs.Ruling
	if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
		return err
	}
	e.Duty = e.Value * int64(r.Percent) / 100
	return nil
}
