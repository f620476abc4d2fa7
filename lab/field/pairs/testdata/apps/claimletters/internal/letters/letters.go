// Package letters renders the letters of all insurers.
package letters

import (
	"fmt"
	"html/template"
	"io"
	"sync"

	"claimletters/internal/claims"
	"claimletters/internal/tenant"
)

type key struct{ tenant, kind, locale string }

type letter struct {
	once   sync.Once
	source string
	tmpl   *template.Template
	err    error
}

// Set has the letters by insurer, kind and locale.
type Set struct{ letters map[key]*letter }

var funcs = template.FuncMap{"money": func(c int) string { return fmt.Sprintf("%d.%02d", c/100, c%100) }}

var sample = claims.Claim{Number: "N1", Customer: "A & B", Cents: 1, Items: []claims.Item{{Title: "x", Cents: 1}}, Note: "n"}

// Open prepares the letters of the insurers.
func Open(tenants []tenant.Tenant, v2 bool) (*Set, error) {
	s := &Set{letters: map[key]*letter{}}
	for _, t := range tenants {
		for _, loc := range t.Locales {
			for _, kind := range tenant.Kinds {
				l := &letter{source: t.Wording(kind, loc)}
				s.letters[key{t.Name, kind, loc}] = l
				if v2 {
					continue
				}
				if _, err := l.get(); err != nil {
					return nil, fmt.Errorf("letters: %s/%s/%s: %w", t.Name, kind, loc, err)
				}
			}
		}
	}
	return s, nil
}

func (l *letter) get() (*template.Template, error) {
	l.once.Do(func() {
		l.tmpl, l.err = template.New("letter").Funcs(funcs).Parse(l.source)
		if l.err == nil {
			l.err = l.tmpl.Execute(io.Discard, sample)
		}
	})
	return l.tmpl, l.err
}

// Render writes a letter.
func (s *Set) Render(w io.Writer, t, kind, locale string, c claims.Claim) error {
	l, ok := s.letters[key{t, kind, locale}]
	if !ok {
		return fmt.Errorf("letters: no %s of %s in %s", kind, t, locale)
	}
	tmpl, err := l.get()
	if err != nil {
		return err
	}
	return tmpl.Execute(w, c)
}
