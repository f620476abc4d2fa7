// Package registry has the entries of the courts' registries.
package registry

import (
	"errors"
	"fmt"
	"strings"

	"courtrecords/internal/court"
)

// Entry is one case of a registry.
type Entry struct {
	Docket  string   `json:"docket"`
	Title   string   `json:"title"`
	Parties []string `json:"parties"`
}

// ErrDenied is returned for tokens that do not fit.
var ErrDenied = errors.New("registry: denied")

// Registry is the index of a court.
type Registry struct {
	key     []byte
	entries []Entry
}

// New makes the registry with n entries.
func New(key []byte, n int) *Registry {
	r := &Registry{key: key}
	trades := [...]string{"Shipping", "Dairy", "Press", "Mills", "Estate", "Quarry", "Brewery"}
	for i := range n {
		a, b := trades[i%len(trades)], trades[(i*3+1)%len(trades)]
		r.entries = append(r.entries, Entry{
			Docket:  fmt.Sprintf("%d-CV-%05d", 2000+i%26, i*37%99991),
			Title:   fmt.Sprintf("%s Trust v. %s Holdings", a, b),
			Parties: []string{a + " Trust", b + " Holdings"},
		})
	}
	return r
}

// Find returns the entries whose title has all words.
func (r *Registry) Find(name, token, words string) ([]Entry, error) {
	if court.Sign(r.key, name) != token {
		return nil, ErrDenied
	}
	var out []Entry
	terms := strings.Fields(strings.ToLower(words))
next:
	for _, e := range r.entries {
		title := strings.ToLower(e.Title)
		for _, t := range terms {
			if !strings.Contains(title, t) {
				continue next
			}
		}
		if out = append(out, e); len(out) == 20 {
			break
		}
	}
	return out, nil
}
