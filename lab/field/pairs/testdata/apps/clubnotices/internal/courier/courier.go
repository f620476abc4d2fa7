// Package courier delivers notices over HTTP.
package courier

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"clubnotices/internal/clubs"
)

// Options of the courier.
type Options struct {
	V2    bool
	Tries int
}

// Courier delivers to the clubs of a directory.
type Courier struct {
	dir     *clubs.Directory
	opts    Options
	retries atomic.Int64

	mu      sync.Mutex
	clients map[int]*http.Client
}

func New(dir *clubs.Directory, opts Options) *Courier {
	return &Courier{dir: dir, opts: opts, clients: make(map[int]*http.Client)}
}

// Retries counts second and third tries.
func (c *Courier) Retries() int64 { return c.retries.Load() }

// Deliver sends the body and tries again when the club is not well.
func (c *Courier) Deliver(ctx context.Context, number int, body []byte) error {
	club := c.dir.Club(number)
	client := c.client(club)
	var err error
	for try := range c.opts.Tries {
		if try > 0 {
			c.retries.Add(1)
			time.Sleep(time.Duration(try*5) * time.Millisecond)
		}
		if err = c.send(ctx, client, club, body); err == nil {
			return nil
		}
	}
	return fmt.Errorf("courier: club %d: %w", club.ID, err)
}

// client returns a client that keeps to the timeouts of the club.
func (c *Courier) client(club *clubs.Club) *http.Client {
	if !c.opts.V2 {
		return newClient(club)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	cl, ok := c.clients[club.ID]
	if !ok {
		cl = newClient(club)
		c.clients[club.ID] = cl
	}
	return cl
}

func newClient(club *clubs.Club) *http.Client {
	dialer := &net.Dialer{Timeout: club.Timeout / 2, KeepAlive: 15 * time.Second}
	return &http.Client{
		Timeout: club.Timeout,
		Transport: &http.Transport{
			DialContext:           dialer.DialContext,
			ResponseHeaderTimeout: club.Timeout,
			MaxIdleConnsPerHost:   2,
		},
	}
}

func (c *Courier) send(ctx context.Context, client *http.Client, club *clubs.Club, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, club.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	m := hmac.New(sha256.New, club.Secret)
	m.Write(body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Seal", hex.EncodeToString(m.Sum(nil)))
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("answer %s", resp.Status)
	}
	return nil
}
