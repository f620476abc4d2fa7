package rollup

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"tillreports/internal/sales"
)

// A Client asks the store.
type Client struct {
	url  string
	page int // most sales in an answer
	http *http.Client
}

// NewClient returns the client of a store.
func NewClient(url string, page int) *Client {
	return &Client{url: url, page: page, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}}}
}

// Page returns sales from a number on, and whether there may be more.
func (c *Client) Page(ctx context.Context, from int) (page []sales.Sale, more bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/?from=%d", c.url, from), nil)
	if err != nil {
		return nil, false, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, false, fmt.Errorf("sales from %d: %s", from, resp.Status)
	}
	err = json.NewDecoder(resp.Body).Decode(&page)
	return page, len(page) >= c.page, err
}
