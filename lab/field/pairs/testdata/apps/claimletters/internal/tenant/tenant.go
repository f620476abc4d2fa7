// Package tenant has the insurers and their wording.
package tenant

import (
	"fmt"
	"strings"
)

// Tenant is one insurer.
type Tenant struct {
	Name    string
	Colour  string
	Locales []string
}

// Kinds are the letters that every insurer sends.
var Kinds = []string{"received", "accepted", "rejected", "question", "payment"}

// All gives n insurers.
func All(n int) []Tenant {
	out := make([]Tenant, n)
	for i := range out {
		out[i] = Tenant{Name: fmt.Sprintf("insurer-%03d", i), Colour: fmt.Sprintf("#%06x", i*4099), Locales: []string{"de", "fr", "en"}}
	}
	return out
}

var greet = map[string]string{"de": "Guten Tag", "fr": "Bonjour", "en": "Dear"}

// Wording gives the source of a letter.
func (t Tenant) Wording(kind, locale string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<html><head><title>%s {{.Number}}</title><style>h1 { color: %s }</style></head><body>`, t.Name, t.Colour)
	fmt.Fprintf(&b, `<h1>%s {{.Customer}}</h1><p>%s: {{.Number}}, {{money .Cents}}</p>`, greet[locale], kind)
	b.WriteString(`{{if .Items}}<table>{{range $i, $e := .Items}}<tr><td>{{$i}}</td><td title="{{$e.Title}}">{{$e.Title}}</td><td>{{money $e.Cents}}</td></tr>{{end}}</table>{{end}}`)
	if kind == "question" || kind == "rejected" {
		b.WriteString(`<a href="/claims/{{.Number}}/answer?by={{.Customer}}" onclick="track({{.Number}})">answer</a>`)
	}
	b.WriteString(`{{with .Note}}<p class="note">{{.}}</p>{{end}}</body></html>`)
	return b.String()
}
