// Package signon keeps the access tokens for the registries of the courts.
package signon

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Token is what a registry wants to see.
type Token struct {
	Value   string
	Expires time.Time
}

func (t Token) fresh(now time.Time) bool { return now.Add(20 * time.Millisecond).Before(t.Expires) }

// Source hands out tokens by court.
type Source interface {
	Token(ctx context.Context, court string) (Token, error)
}

type issuer struct {
	base   string
	client *http.Client
}

func (i issuer) issue(ctx context.Context, court string) (Token, error) {
	req, err := http.NewRequestWithContext(ctx, "POST", i.base+"/token?court="+court, nil)
	if err != nil {
		return Token{}, err
	}
	resp, err := i.client.Do(req)
	if err != nil {
		return Token{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Token{}, fmt.Errorf("signon: %s: %s", court, resp.Status)
	}
	var body struct {
		Token  string `json:"access_token"`
		Millis int    `json:"expires_in_ms"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return Token{}, err
	}
	return Token{body.Token, time.Now().Add(time.Duration(body.Millis) * time.Millisecond)}, nil
}

// Cache is a Source with all tokens in one table.
type Cache struct {
	issuer issuer

	mu     sync.Mutex
	tokens map[string]Token
}

// NewCache makes a cache for the issuer at base.
func NewCache(base string, client *http.Client) *Cache {
	return &Cache{issuer: issuer{base, client}, tokens: make(map[string]Token)}
}

// Token returns the token of a court and renews it when it is about to expire.
func (c *Cache) Token(ctx context.Context, court string) (Token, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, ok := c.tokens[court]; ok && t.fresh(time.Now()) {
		return t, nil
	}
	t, err := c.issuer.issue(ctx, court)
	if err != nil {
		return Token{}, err
	}
	c.tokens[court] = t
	return t, nil
}

// Table is a Source with an entry for each court.
type Table struct {
	issuer issuer

	mu      sync.Mutex
	entries map[string]*entry
}

type entry struct {
	mu    sync.Mutex
	token Token
}

// NewTable makes a table for the issuer at base.
func NewTable(base string, client *http.Client) *Table {
	return &Table{issuer: issuer{base, client}, entries: make(map[string]*entry)}
}

// Token returns the token of a court and renews it when it is about to expire.
func (t *Table) Token(ctx context.Context, court string) (Token, error) {
	t.mu.Lock()
	e := t.entries[court]
	if e == nil {
		e = new(entry)
		t.entries[court] = e
	}
	t.mu.Unlock()

	e.mu.Lock()
	defer e.mu.Unlock()
	if e.token.fresh(time.Now()) {
		return e.token, nil
	}
	tok, err := t.issuer.issue(ctx, court)
	if err != nil {
		return Token{}, err
	}
	e.token = tok
	return tok, nil
}
