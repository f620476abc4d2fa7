// Package client asks a server of the fleet.
//
// It hides HTTP: an answer is a value of package api, and an error says what the server
// said. It follows no redirect and bounds what it reads.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/fleet/api"
)

// mostAnswer bounds an answer: 10,000 rows of long names have some MB.
const mostAnswer = 64 << 20

// Recordings are large and lines are slow.
const answerTime, fileTime = 2 * time.Minute, 15 * time.Minute

// A Client asks one server.
type Client struct {
	base   string
	name   string // the base without a password
	tenant string
	token  string // "" for a server that asks for none
	http   *http.Client
	pause  func(ctx context.Context, d time.Duration) error
}

// New returns a client of the server at a URL, for a tenant, "" where there is only one.
func New(base, tenant string) (*Client, error) {
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is no URL of a server, like http://127.0.0.1:4040", base)
	}
	name := strings.TrimSuffix(u.Redacted(), "/")
	return &Client{base: strings.TrimSuffix(base, "/"), name: name, tenant: tenant, pause: pause, http: &http.Client{
		Timeout:       answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// SetToken makes a client send a token.
func (c *Client) SetToken(token string) { c.token = token }

// TokenExposed returns the server, and whether the token goes to it over a network unencrypted.
func (c *Client) TokenExposed() (server string, exposed bool) {
	u, err := url.Parse(c.base)
	if err != nil || c.token == "" || u.Scheme != "http" || u.Hostname() == "localhost" {
		return c.name, false
	}
	return c.name, !net.ParseIP(u.Hostname()).IsLoopback()
}

// Roots returns the certificates of a file.
func Roots(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate in PEM", file)
	}
	return roots, nil
}

// Trust makes a client take the certificates that those of a file signed, and no others.
func (c *Client) Trust(file string) error {
	roots, err := Roots(file)
	if err != nil {
		return err
	}
	c.TrustRoots(roots)
	return nil
}

// TrustRoots makes a client take the certificates that these signed, and no others; nil
// are the system's.
func (c *Client) TrustRoots(roots *x509.CertPool) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: roots}
	c.http.Transport = t
}

// What an error is when nobody listens, and when the server wants a token or another.
var (
	ErrUnreachable = errors.New("no server answers")
	ErrToken       = errors.New("the server does not know who asks")
)

// Ask puts the answer to a question into a value: the question is a path of /api/v1.
func (c *Client) Ask(ctx context.Context, question string, q url.Values, into any) error {
	data, err := c.Raw(ctx, question, q)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: the answer does not fit the question: %w", c.name, err)
	}
	return nil
}

// Raw returns the answer as it came.
func (c *Client) Raw(ctx context.Context, question string, q url.Values) ([]byte, error) {
	answer, err := c.do(ctx, http.MethodGet, question, q, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return c.whole(answer, mostAnswer)
}

// mostPosted bounds the answer to a body: an agent shares its host.
const mostPosted = 1 << 20

// Post sends a body with its headers to a path, and returns the answer.
func (c *Client) Post(ctx context.Context, path string, header map[string]string, body []byte) ([]byte, error) {
	r, err := c.request(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := c.answer(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return c.whole(answer, mostPosted)
}

// do sends a request for a path of the API.
func (c *Client) do(ctx context.Context, method, question string, q url.Values, body io.Reader) (*http.Response, error) {
	return c.send(ctx, method, "/api/v1/"+question+"?"+q.Encode(), body)
}

func (c *Client) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	r, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	return c.answer(r)
}

// request returns one that says who asks.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "gowhy-fleet")
	if c.tenant != "" {
		r.Header.Set("X-Scope-OrgID", c.tenant)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, nil
}

func (c *Client) answer(r *http.Request) (*http.Response, error) {
	answer, err := c.http.Do(r)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("%w at %s", ErrUnreachable, c.name)
	}
	return answer, err
}

// whole returns all of an answer of a bounded length, or what it says is wrong.
func (c *Client) whole(answer *http.Response, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes", c.name, most)
	}
	if answer.StatusCode == http.StatusUnauthorized {
		return nil, fmt.Errorf("%s: %w: %w", c.name, ErrToken, StatusOf(answer, data))
	}
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s: %w", c.name, StatusOf(answer, data))
	}
	return data, nil
}

// mostSaid is how much is said of what another server than gowhy's answers.
const mostSaid = 200

// answerError reads an error out of a server's answer, and the hint beside it.
func answerError(status int, data []byte) (what, hint string) {
	var e api.Error
	if json.Unmarshal(data, &e) == nil && e.Error != "" {
		return e.Error, e.Hint
	}
	if len(data) > 0 && utf8.Valid(data) {
		return fmt.Sprintf("status %d: %.*q", status, mostSaid, data), ""
	}
	return fmt.Sprintf("status %d", status), ""
}
