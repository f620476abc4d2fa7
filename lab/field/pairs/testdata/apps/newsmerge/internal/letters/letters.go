// Package letters writes the letter to a member in the member's language.
package letters

import (
	"fmt"
	"html/template"
	"io"

	"newsmerge/internal/people"
)

const page = `{{define "head"}}<!doctype html><html lang="{{.Lang}}"><head><title>{{t "title"}}</title>
<style>body{font-family:serif} .price{color:#a00}</style></head>{{end}}
{{define "offer"}}<tr class="offer"><td><a href="https://club.example{{.Link}}" title="{{.Title}}">{{.Title}}</a></td>
<td class="price">{{money .Cents}}</td><td>{{t "until"}} {{.Until}}</td></tr>{{end}}
{{define "foot"}}<p class="small">{{t "leave"}} <a href="https://club.example/leave?m={{.ID}}&a={{.Mail}}">{{t "here"}}</a></p>
<script>var member = {{.ID}}; var lang = {{.Lang}};</script>{{end}}
{{define "letter"}}{{template "head" .}}<body><h1>{{t "hello"}} {{.Name}}</h1>
<p>{{t "points"}}: <b>{{.Points}}</b></p>{{if gt .Points 10000}}<p class="gold">{{t "gold"}}</p>{{end}}
<table>{{range .Offers}}{{template "offer" .}}{{else}}<tr><td>{{t "none"}}</td></tr>{{end}}</table>
{{template "foot" .}}</body></html>{{end}}`

var texts = map[string]map[string]string{
	"en": {"title": "News from the club", "hello": "Hello", "points": "Your points", "until": "until", "leave": "No more letters? Click", "here": "here"},
	"de": {"title": "Neues vom Klub", "hello": "Guten Tag", "points": "Ihre Punkte", "until": "bis", "leave": "Keine Briefe mehr? Klicken Sie", "here": "hier"},
	"fr": {"title": "Nouvelles du club", "hello": "Bonjour", "points": "Vos points", "until": "jusqu'au", "leave": "Plus de lettres ? Cliquez", "here": "ici"},
	"pl": {"title": "Wieści z klubu", "hello": "Dzień dobry", "points": "Punkty", "until": "do", "here": "tutaj"},
	"tr": {"title": "Kulüpten haberler", "hello": "Merhaba", "points": "Puanlar", "here": "burada"},
	"es": {"title": "Noticias del club", "hello": "Hola", "points": "Sus puntos", "until": "hasta", "here": "aquí"},
}

// Press writes letters.
type Press struct {
	base *template.Template
	sets map[string]*template.Template
}

// NewPress returns a press. With sets it has one form for each language.
func NewPress(sets bool) (*Press, error) {
	base, err := template.New("page").Funcs(words("en")).Parse(page)
	if err != nil {
		return nil, err
	}
	p := &Press{base: base}
	if !sets {
		return p, nil
	}
	p.sets = make(map[string]*template.Template)
	for lang := range texts {
		if p.sets[lang], err = p.form(lang); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Press) form(lang string) (*template.Template, error) {
	c, err := p.base.Clone()
	if err != nil {
		return nil, err
	}
	return c.Funcs(words(lang)), nil
}

// Write writes the letter to m.
func (p *Press) Write(w io.Writer, m *people.Member) error {
	form := p.sets[m.Lang]
	if form == nil {
		var err error
		if form, err = p.form(m.Lang); err != nil {
			return err
		}
	}
	return form.ExecuteTemplate(w, "letter", m)
}

func words(lang string) template.FuncMap {
	own, en := texts[lang], texts["en"]
	return template.FuncMap{
		"t": func(key string) string {
			if s, ok := own[key]; ok {
				return s
			}
			if s, ok := en[key]; ok {
				return s
			}
			return key
		},
		"money": func(cents int64) string {
			if lang == "en" {
				return fmt.Sprintf("£%d.%02d", cents/100, cents%100)
			}
			return fmt.Sprintf("%d,%02d €", cents/100, cents%100)
		},
	}
}
