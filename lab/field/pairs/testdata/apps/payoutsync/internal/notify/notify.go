// Package notify hands pay-outs to the bank, with retries.
package notify

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"payoutsync/internal/payout"
)

type Notifier struct {
	url    string
	client *http.Client
	follow bool
}

func New(url string, follow bool) *Notifier {
	return &Notifier{
		url:    url,
		follow: follow,
		client: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConns: 64, MaxIdleConnsPerHost: 64}},
	}
}

const (
	firstPause = 40 * time.Millisecond
	longPause  = 1500 * time.Millisecond
	attempts   = 50
)

// Send delivers the pay-out and waits for the bank's answer as long as ctx allows.
func (n *Notifier) Send(ctx context.Context, p payout.Payout) error {
	body, sig, err := p.Encode()
	if err != nil {
		return err
	}
	// An order that is on the wire must not be cut off half way.
	dctx := context.WithoutCancel(ctx)
	if n.follow {
		dctx = ctx
	}
	res := make(chan error, 1)
	go func() { res <- n.deliver(dctx, body, sig) }()
	select {
	case err := <-res:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *Notifier) deliver(ctx context.Context, body []byte, sig string) error {
	pause := firstPause
	var err error
	for range attempts {
		if err = n.post(ctx, body, sig); err == nil {
			return nil
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
		pause = min(pause*2, longPause)
	}
	return err
}

func (n *Notifier) post(ctx context.Context, body []byte, sig string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url+"/orders", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Signature", sig)
	resp, err := n.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("notify: bank answered %s", resp.Status)
	}
	return nil
}
