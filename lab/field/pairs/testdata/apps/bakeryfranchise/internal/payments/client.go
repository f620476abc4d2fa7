// Package payments talks to the card acquirer.
package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Client authorizes cards.
type Client struct {
	Base string
	HTTP *http.Client
}

// Authorization is the acquirer's answer.
type Authorization struct {
	Code  string `json:"code"`
	Cents int    `json:"cents"`
}

// Authorize asks for the amount.
func (c *Client) Authorize(ctx context.Context, card string, cents int) (Authorization, error) {
	var a Authorization
	body, err := json.Marshal(map[string]any{"card": card, "cents": cents})
	if err != nil {
		return a, err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", c.Base+"/authorize", bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	return a, json.NewDecoder(resp.Body).Decode(&a)
}

// Acquirer is the handler of the other side.
func Acquirer() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Card  string
			Cents int
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		time.Sleep(40 * time.Millisecond)
		json.NewEncoder(w).Encode(Authorization{fmt.Sprintf("A%s%06d", in.Card, in.Cents), in.Cents})
	})
}
