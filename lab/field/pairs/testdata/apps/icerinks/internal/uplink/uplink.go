// Package uplink brings batches to the collector.
package uplink

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"icerinks/internal/reading"
	"icerinks/internal/retry"
)

// Options of an uplink.
type Options struct {
	URL     string
	Conns   int
	Attempt time.Duration
	Base    time.Duration
	V2      bool
}

// Uplink posts batches and repeats those that were not taken.
type Uplink struct {
	url    string
	client *http.Client
	policy retry.Policy
	Lost   atomic.Int64
}

// New makes an uplink.
func New(o Options) *Uplink {
	p := retry.Policy{Base: o.Base, Jitter: 0.2}
	if o.V2 {
		p = p.Or(retry.Standard)
	}
	t := &http.Transport{MaxIdleConnsPerHost: o.Conns, MaxIdleConns: 2 * o.Conns}
	return &Uplink{url: o.URL, client: &http.Client{Transport: t, Timeout: o.Attempt}, policy: p}
}

// Send brings a batch to the collector.
func (u *Uplink) Send(ctx context.Context, b *reading.Batch) error {
	body, err := reading.Encode(b)
	if err != nil {
		return err
	}
	err = retry.Do(ctx, u.policy, func(ctx context.Context) error { return u.post(ctx, body) })
	if err != nil {
		u.Lost.Add(1)
	}
	return err
}

func (u *Uplink) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.url, bytes.NewReader(body))
	if err != nil {
		return retry.Permanent{Err: err}
	}
	req.Header.Set("Content-Encoding", "gzip")
	resp, err := u.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	switch {
	case resp.StatusCode < 300:
		return nil
	case resp.StatusCode < 500:
		return retry.Permanent{Err: fmt.Errorf("uplink: %s", resp.Status)}
	default:
		return fmt.Errorf("uplink: %s", resp.Status)
	}
}
