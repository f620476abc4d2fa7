// Package match turns the terms of a vessel into requirements on a berth's attributes.
package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"berthallot/internal/harbour"
)

type requirement struct {
	key, op string
	values  map[string]struct{}
	bound   int
}

// Selector is the conjunction of a vessel's requirements.
type Selector []requirement

// FromTerms checks the terms and returns their selector, ordered by key.
func FromTerms(terms []harbour.Term) (Selector, error) {
	sel := make(Selector, 0, len(terms))
	for _, t := range terms {
		r, err := newRequirement(t)
		if err != nil {
			return nil, err
		}
		sel = append(sel, r)
	}
	slices.SortFunc(sel, func(a, b requirement) int { return strings.Compare(a.key, b.key) })
	return sel, nil
}

func newRequirement(t harbour.Term) (requirement, error) {
	r := requirement{key: strings.ToLower(t.Key), op: t.Op}
	if err := checkName(r.key); err != nil {
		return r, err
	}
	switch t.Op {
	case "in", "notin":
		r.values = make(map[string]struct{}, len(t.Values))
		for _, v := range t.Values {
			if err := checkName(v); err != nil {
				return r, err
			}
			r.values[v] = struct{}{}
		}
	case "gt":
		var err error
		r.bound, err = strconv.Atoi(strings.Join(t.Values, ""))
		return r, err
	default:
		return r, fmt.Errorf("match: unknown operator %q", t.Op)
	}
	return r, nil
}

func checkName(s string) error {
	if s == "" || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsLower(c) && !unicode.IsDigit(c) }) {
		return fmt.Errorf("match: bad name %q", s)
	}
	return nil
}

// Matches tells whether the attributes meet every requirement.
func (s Selector) Matches(attrs map[string]string) bool {
	for i := range s {
		r := &s[i]
		v, ok := attrs[r.key]
		switch r.op {
		case "in":
			if _, in := r.values[v]; !ok || !in {
				return false
			}
		case "notin":
			if _, in := r.values[v]; in {
				return false
			}
		case "gt":
			if n, err := strconv.Atoi(v); err != nil || n <= r.bound {
				return false
			}
		}
	}
	return true
}
