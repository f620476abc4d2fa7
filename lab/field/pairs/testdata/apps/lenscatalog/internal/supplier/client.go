package supplier

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Client asks the laboratory.
type Client struct {
	Base string
	HTTP *http.Client
	V2   bool
}

// First gives the first of n alternatives that passes accept.
func (c *Client) First(ctx context.Context, sku string, n int, accept func(Lens) bool) (Lens, error) {
	q := url.Values{"sku": {sku}, "n": {strconv.Itoa(n)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+"/lens?"+q.Encode(), nil)
	if err != nil {
		return Lens{}, err
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return Lens{}, err
	}
	defer c.done(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return Lens{}, fmt.Errorf("supplier: %s", resp.Status)
	}
	dec := json.NewDecoder(resp.Body)
	for {
		var l Lens
		if err := dec.Decode(&l); err != nil {
			return Lens{}, fmt.Errorf("supplier: %s: %w", sku, err)
		}
		if accept(l) {
			return l, nil
		}
	}
}

func (c *Client) done(body io.ReadCloser) {
	if c.V2 {
		io.Copy(io.Discard, io.LimitReader(body, 64<<10))
	}
	body.Close()
}
