// Package search answers what shoppers look for.
package search

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"branchstock/internal/catalog"
)

// Hit is one answer.
type Hit struct {
	SKU    string  `json:"sku"`
	Title  string  `json:"title"`
	Price  float64 `json:"price"`
	Branch int     `json:"branch"`
	Far    int     `json:"far"`
}

// Engine searches a catalog.
type Engine struct {
	Catalog *catalog.Catalog
}

// Find answers a query of a shopper near a branch, with the best hits as JSON.
func (e *Engine) Find(query string, near int) ([]byte, int) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil, 0
	}
	first := words[len(words)-1]
	var hits []Hit
	for _, p := range e.Catalog.With(first) {
		a := p.Article
		if a.Count == 0 || !all(a.Title, words[:len(words)-1]) {
			continue
		}
		hits = append(hits, Hit{a.SKU, a.Title, a.Price, p.Branch, max(p.Branch-near, near-p.Branch)})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Far/10, b.Far/10), cmp.Compare(a.Price, b.Price), cmp.Compare(a.SKU, b.SKU))
	})
	n := len(hits)
	out, _ := json.Marshal(hits[:min(n, 10)])
	return out, n
}

func all(title string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(title, w) {
			return false
		}
	}
	return true
}
