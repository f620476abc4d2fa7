// Package catalog has the articles of a shop.
package catalog

import (
	"fmt"
	"slices"
)

// An Article is for sale.
type Article struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Cents    int    `json:"cents"`
	Stock    int    `json:"stock"`
}

// A Catalog is all of them.
type Catalog struct {
	articles []Article
	Planned  bool
}

var (
	categories = []string{"lamps", "chairs", "tables", "rugs", "shelves", "vases", "clocks", "mirrors", "beds", "sofas"}
	adjectives = []string{"oaken", "slender", "northern", "painted", "folding", "velvet", "garden", "rustic"}
)

// Generate makes a catalogue up.
func Generate(n int) *Catalog {
	c := &Catalog{}
	for i := range n {
		category := categories[i*7%len(categories)]
		c.articles = append(c.articles, Article{
			ID: i, Category: category, Cents: 900 + i*7919%90000, Stock: i * 31 % 40,
			Name: fmt.Sprintf("%s %s number %d", adjectives[i%len(adjectives)], category, i),
		})
	}
	return c
}

// A Condition is something that articles must meet, and how much it takes to find out.
type Condition struct {
	Name string
	Cost int
	Met  func(a *Article) bool
}

// Search is up to limit articles that meet all conditions.
func (c *Catalog) Search(conditions []Condition, limit int) []Article {
	if c.Planned {
		conditions = slices.Clone(conditions)
		slices.SortStableFunc(conditions, func(x, y Condition) int { return x.Cost - y.Cost })
	}
	var out []Article
	for i := range c.articles {
		if a := &c.articles[i]; all(conditions, a) {
			if out = append(out, *a); len(out) == limit {
				break
			}
		}
	}
	return out
}

func all(conditions []Condition, a *Article) bool {
	for _, condition := range conditions {
		if !condition.Met(a) {
			return false
		}
	}
	return true
}
