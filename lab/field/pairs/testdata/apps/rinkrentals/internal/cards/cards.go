// Package cards talks to the acquirer.
package cards

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
)

// Acquirer is the other side.
func Acquirer() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(40+rand.IntN(40)) * time.Millisecond)
		sum := sha256.Sum256([]byte(r.FormValue("token") + r.FormValue("cents")))
		io.WriteString(w, hex.EncodeToString(sum[:8]))
	})
}

// Client reserves amounts on cards.
type Client struct {
	Base string
	HTTP *http.Client
}

// Reserve gives the reference of the reservation.
func (c *Client) Reserve(ctx context.Context, token string, cents int) (string, error) {
	q := url.Values{"token": {token}, "cents": {fmt.Sprint(cents)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+"/reserve?"+q.Encode(), nil)
	if err != nil {
		return "", err
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}
