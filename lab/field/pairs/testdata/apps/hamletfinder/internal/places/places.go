// Package places holds the tree of places.
package places

import (
	"fmt"

	"hamletfinder/internal/gazette"
)

// Place is a node of the tree.
type Place struct {
	gazette.Item
	Parent *Place
	Inside []*Place
	Total  int
}

// Tree is the tree of all places.
type Tree struct {
	All   []*Place
	codes map[string]*Place
	Roots int
}

// Grow makes a tree of the items; with keyed, codes are looked up in a map.
func Grow(items []gazette.Item, keyed bool) (*Tree, error) {
	t := &Tree{}
	if keyed {
		t.codes = make(map[string]*Place, len(items))
	}
	for _, it := range items {
		p := &Place{Item: it}
		t.All = append(t.All, p)
		if keyed {
			t.codes[it.Code] = p
		}
	}
	return t, t.link()
}

func (t *Tree) link() error {
	for _, p := range t.All {
		if p.Within == "" {
			t.Roots++
			continue
		}
		p.Parent = t.byCode(p.Within)
		if p.Parent == nil {
			return fmt.Errorf("places: %s is within unknown %s", p.Code, p.Within)
		}
		p.Parent.Inside = append(p.Parent.Inside, p)
	}
	for _, p := range t.All {
		for q := p; q != nil; q = q.Parent {
			q.Total += p.People
		}
	}
	return nil
}

func (t *Tree) byCode(code string) *Place {
	if t.codes != nil {
		return t.codes[code]
	}
	for _, p := range t.All {
		if p.Code == code {
			return p
		}
	}
	return nil
}

// Trail returns the names of the places around p.
func (p *Place) Trail() []string {
	var out []string
	for q := p.Parent; q != nil; q = q.Parent {
		out = append(out, q.Name)
	}
	return out
}
