package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/backup"
)

// patient returns a client for files: only the caller's context and a longer bound end it.
func (c *Client) patient() *Client {
	p, h := *c, *c.http
	h.Timeout = fileTime
	p.http = &h
	return &p
}

// Wish has a process of a service recorded, by q, and returns how that stands.
func (c *Client) Wish(ctx context.Context, q url.Values) (wish api.Wish, err error) {
	answer, err := c.do(ctx, http.MethodPost, "runs/record", q, nil)
	if err != nil {
		return wish, err
	}
	defer answer.Body.Close()
	data, err := c.whole(answer, mostAnswer)
	if err == nil && json.Unmarshal(data, &wish) != nil {
		err = fmt.Errorf("%s: the answer is not of a request to record", c.name)
	}
	return wish, err
}

// Fetch writes a recording, and fails when it is not that of the ID, which is the hash of
// its content.
func (c *Client) Fetch(ctx context.Context, id string, to io.Writer) error {
	answer, err := c.patient().do(ctx, http.MethodGet, "runs/"+url.PathEscape(id), nil, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		_, err := c.whole(answer, mostAnswer)
		return err
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(to, h), answer.Body); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != id {
		return fmt.Errorf("%s: what it sent is not recording %.12s", c.name, id)
	}
	return nil
}

// Backup writes all that the server keeps, and fails when it is not whole.
func (c *Client) Backup(ctx context.Context, to io.Writer) (backup.Contents, error) {
	p := c.patient()
	p.http.Timeout = 0 // it may be hundreds of gigabytes
	answer, err := p.send(ctx, http.MethodGet, backup.Path, nil)
	if err != nil {
		return backup.Contents{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		_, err := c.whole(answer, mostAnswer)
		return backup.Contents{}, err
	}
	body := io.TeeReader(answer.Body, to)
	contents, err := backup.Check(body)
	if err == nil {
		_, err = io.Copy(io.Discard, body) // what fills the last block
	}
	if err != nil {
		return backup.Contents{}, fmt.Errorf("%s: %w", c.name, err)
	}
	return contents, nil
}
