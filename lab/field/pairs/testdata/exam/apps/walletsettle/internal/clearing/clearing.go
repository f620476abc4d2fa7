// Package clearing speaks with the clearing house, and plays it.
package clearing

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

var key = []byte("region-3-clearing")

// An Order asks to move money.
type Order struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Cents int64  `json:"cents"`
	Mac   string `json:"mac"`
}

func (o *Order) mac() string {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s|%s|%d", o.From, o.To, o.Cents)
	return hex.EncodeToString(h.Sum(nil))
}

// A Receipt is the answer.
type Receipt struct {
	Ref string `json:"ref"`
}

// A House clears.
type House struct {
	l      net.Listener
	server *http.Server
}

// Start starts a house, which takes so long for an order.
func Start(takes time.Duration) (*House, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var o Order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.Mac != o.mac() {
			http.Error(w, "no such order", http.StatusBadRequest)
			return
		}
		time.Sleep(takes)
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(Receipt{Ref: o.Mac[:16]})
	})
	h := &House{l: l, server: &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}}
	go h.server.Serve(l)
	return h, nil
}

// URL is where the house is.
func (h *House) URL() string { return "http://" + h.l.Addr().String() }

// Close closes the house.
func (h *House) Close() error { return h.server.Close() }

// A Client asks the house.
type Client struct {
	url  string
	http *http.Client
}

// NewClient makes a client that keeps so many connections.
func NewClient(url string, conns int) *Client {
	return &Client{url: url, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: conns},
		Timeout:   5 * time.Second,
	}}
}

// Clear has an order cleared.
func (c *Client) Clear(ctx context.Context, o Order) (Receipt, error) {
	var r Receipt
	o.Mac = o.mac()
	body, err := json.Marshal(o)
	if err != nil {
		return r, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/orders", bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return r, fmt.Errorf("clearing: %s", resp.Status)
	}
	return r, json.NewDecoder(resp.Body).Decode(&r)
}
