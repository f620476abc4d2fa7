package customs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Receipt is the answer of the office.
type Receipt struct {
	MRN    string `json:"mrn"`
	Digest string `json:"digest"`
	Risk   int    `json:"risk"`
}

// Client files declarations.
type Client struct {
	url string
	hc  *http.Client
}

func NewClient(url string, hc *http.Client) *Client { return &Client{url: url, hc: hc} }

func (c *Client) Declare(ctx context.Context, digest string, body []byte) (Receipt, error) {
	var rc Receipt
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/declarations", bytes.NewReader(body))
	if err != nil {
		return rc, err
	}
	req.Header.Set("Digest", digest)
	return rc, call(c.hc, req, &rc)
}

// Port is the port community system.
type Port struct {
	url string
	hc  *http.Client
}

func NewPort(url string, hc *http.Client) *Port { return &Port{url: url, hc: hc} }

// Announce asks for a berth slot for the voyage.
func (p *Port) Announce(ctx context.Context, voyage, mrn string) (slot int, err error) {
	var out struct{ Slot int }
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/announcements?voyage="+voyage+"&mrn="+mrn, nil)
	if err == nil {
		err = call(p.hc, req, &out)
	}
	return out.Slot, err
}

func call(hc *http.Client, req *http.Request, into any) error {
	res, err := hc.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %v", req.URL.Path, res.Status, err)
	}
	return json.Unmarshal(b, into)
}
