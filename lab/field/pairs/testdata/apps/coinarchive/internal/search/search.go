// Package search answers queries about the collection.
package search

import (
	"encoding/json"
	"fmt"
	"sync"

	"coinarchive/internal/catalogue"
	"coinarchive/internal/postings"
)

// Archive is the searchable collection.
type Archive struct {
	mu    sync.RWMutex
	coins map[uint32]catalogue.Coin
	index *postings.Index
}

// Open loads a journal.
func Open(path string, batch bool) (*Archive, error) {
	a := &Archive{coins: map[uint32]catalogue.Coin{}, index: postings.New()}
	if batch {
		a.index = postings.NewUnordered()
	}
	if err := catalogue.Read(path, a.Add); err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	a.index.Order()
	return a, nil
}

// Add puts a coin into the collection.
func (a *Archive) Add(c catalogue.Coin) {
	a.mu.Lock()
	a.coins[c.Number] = c
	a.mu.Unlock()
	labels := c.Labels()
	a.index.Add(c.Number, labels[:]...)
}

// Page is one page of results.
type Page struct {
	Labels []string         `json:"labels"`
	Coins  []catalogue.Coin `json:"coins"`
	Weight float64          `json:"weight"`
}

// Query returns the coins that carry all labels as JSON.
func (a *Archive) Query(limit int, labels ...string) ([]byte, error) {
	p := Page{Labels: labels}
	numbers := a.index.Intersect(limit, labels...)
	a.mu.RLock()
	for _, n := range numbers {
		c := a.coins[n]
		p.Coins = append(p.Coins, c)
		p.Weight += c.Weight
	}
	a.mu.RUnlock()
	return json.Marshal(p)
}

// Len returns the number of coins and of labels.
func (a *Archive) Len() (coins, labels int) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.coins), a.index.Labels()
}
