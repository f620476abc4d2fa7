// Package dispatch sends notices to partners.
package dispatch

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"parcelhooks/internal/events"
)

// Config says how to reach a partner.
type Config struct {
	URL     string
	Secret  []byte
	Roots   *x509.CertPool
	Workers int
	Tuned   bool
}

// Sender sends to one partner.
type Sender struct {
	url    string
	secret []byte
	client *http.Client
}

type receipt struct {
	Serial int64 `json:"serial"`
	Taken  int   `json:"taken"`
}

// New returns a sender.
func New(c Config) *Sender {
	tr := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 3 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: 10 * time.Second,
		MaxIdleConns:          200,
		IdleConnTimeout:       90 * time.Second,
	}
	if c.Tuned {
		tr.MaxIdleConnsPerHost = c.Workers
	}
	return &Sender{url: c.URL + "/v1/notices", secret: c.Secret, client: &http.Client{Transport: tr, Timeout: 15 * time.Second}}
}

// Deliver sends one notice and waits for the receipt.
func (s *Sender) Deliver(ctx context.Context, n *events.Notice) (int, error) {
	body, signature, err := events.Seal(n, s.secret)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Parcel-Signature", signature)
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("partner says %s", resp.Status)
	}
	var got receipt
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return 0, err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	if got.Serial != n.Serial {
		return 0, fmt.Errorf("receipt for %d, want %d", got.Serial, n.Serial)
	}
	return got.Taken, nil
}
