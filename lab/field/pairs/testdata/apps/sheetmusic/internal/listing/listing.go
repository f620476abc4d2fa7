// Package listing shows scores as far as the reader may see them.
package listing

import (
	"sheetmusic/internal/catalogue"
	"sheetmusic/internal/policy"
)

var fields = []string{"title", "composer", "year", "parts", "shelf", "lender", "price", "scan"}

// View is a score as it is shown.
type View map[string]any

// Lister makes views.
type Lister struct {
	engine  *policy.Engine
	grouped bool
}

// New makes views by the rules of engine.
func New(engine *policy.Engine, grouped bool) *Lister { return &Lister{engine, grouped} }

// Page returns the views of a page.
func (l *Lister) Page(who policy.Subject, page []*catalogue.Score) []View {
	see := l.visible(who)
	out := make([]View, 0, len(page))
	for _, s := range page {
		v := View{"id": s.ID, "collection": s.Collection}
		for i, f := range fields {
			if see(s.Collection, i) {
				v[f] = value(s, f)
			}
		}
		out = append(out, v)
	}
	return out
}

func (l *Lister) visible(who policy.Subject) func(collection string, field int) bool {
	ask := func(collection string, field int) bool {
		return l.engine.Allowed(who, "read", collection+"/"+fields[field])
	}
	if !l.grouped {
		return ask
	}
	known := map[string][]bool{}
	return func(collection string, field int) bool {
		m, ok := known[collection]
		if !ok {
			m = make([]bool, len(fields))
			for i := range fields {
				m[i] = ask(collection, i)
			}
			known[collection] = m
		}
		return m[field]
	}
}

func value(s *catalogue.Score, field string) any {
	switch field {
	case "title":
		return s.Title
	case "composer":
		return s.Composer
	case "year":
		return s.Year
	case "parts":
		return s.Parts
	case "shelf":
		return s.Shelf
	case "lender":
		return s.Lender
	case "price":
		return s.Price
	default:
		return "/scans/" + s.Shelf + ".pdf"
	}
}
