// Package client asks the box offices of the venues.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"cinemaseats/internal/boxoffice"
	"cinemaseats/internal/venue"
)

type Client struct {
	gateway string
	fronted bool
	http    *http.Client
}

// New makes a client; every venue's name leads to the gateway.
func New(gateway string, fronted bool) *Client {
	d := &net.Dialer{Timeout: 3 * time.Second, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		MaxIdleConns:        100,
		MaxIdleConnsPerHost: 32,
		IdleConnTimeout:     90 * time.Second,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return d.DialContext(ctx, network, gateway)
		},
	}
	return &Client{gateway: gateway, fronted: fronted, http: &http.Client{Transport: t, Timeout: 10 * time.Second}}
}

func (c *Client) Seats(ctx context.Context, id, show int) (*boxoffice.Seats, error) {
	host := venue.Host(id)
	target := host
	if c.fronted {
		target = c.gateway
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/shows/%d", target, show), nil)
	if err != nil {
		return nil, err
	}
	req.Host = host
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
		return nil, fmt.Errorf("client: %s: %s", host, resp.Status)
	}
	s := new(boxoffice.Seats)
	return s, json.Unmarshal(body, s)
}
