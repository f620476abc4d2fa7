// Package upstream fetches rates from a pair of servers.
package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"hotelrates/internal/hotel"
)

// Client asks two servers that hold the same rates.
type Client struct {
	http  *http.Client
	addrs [2]string
	lag   time.Duration
	turn  atomic.Uint32
}

// New returns a client. The second server is asked lag after the first.
func New(a, b string, lag time.Duration) *Client {
	tr := &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 128, IdleConnTimeout: 90 * time.Second}
	return &Client{http: &http.Client{Transport: tr}, addrs: [2]string{a, b}, lag: lag}
}

type answer struct {
	rates []hotel.Rate
	err   error
}

// Rates returns the rates of a hotel for a night, of whichever server answers first.
func (c *Client) Rates(ctx context.Context, id, night string) ([]hotel.Rate, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := int(c.turn.Add(1) % 2)
	got := make(chan answer, 2)
	ask := func(addr string) {
		rates, err := c.fetch(ctx, addr, id, night)
		got <- answer{rates, err}
	}
	go ask(c.addrs[first])
	if c.lag > 0 {
		t := time.NewTimer(c.lag)
		defer t.Stop()
		select {
		case a := <-got:
			if a.err == nil {
				return a.rates, nil
			}
		case <-t.C:
		}
	}
	go ask(c.addrs[1-first])
	a := <-got
	if a.err != nil && ctx.Err() == nil {
		a = <-got
	}
	return a.rates, a.err
}

func (c *Client) fetch(ctx context.Context, addr, id, night string) ([]hotel.Rate, error) {
	u := "http://" + addr + "/rates?" + url.Values{"hotel": {id}, "night": {night}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("upstream: %s", resp.Status)
	}
	var rates []hotel.Rate
	return rates, json.Unmarshal(body, &rates)
}
