// Package views shows answers as pages.
package views

import (
	"html/template"
	"io"
	"net/http"
	"net/url"

	"roomfinder/internal/finder"
	"roomfinder/internal/flats"
)

var page = template.Must(template.New("page").Parse(`<!doctype html><title>{{.City}}</title>
<ul>{{range .Flats}}<li><a href="/flat/{{.ID}}">{{.District}}</a> {{.Rooms}} rooms, {{.Size}} m², {{.Rent}} €
<p>{{.Text}}</p></li>
{{end}}</ul>`))

// Search is the page of answers.
type Search struct {
	Finder *finder.Finder
}

type content struct {
	City  string
	Flats []*flats.Flat
}

func wishes(q url.Values) finder.Wishes {
	w := finder.Wishes{}
	for field, values := range q {
		if field != "page" && len(values) == 1 && values[0] != "" {
			w[field] = values[0]
		}
	}
	return w
}

// ServeHTTP shows the first answers.
func (s *Search) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	hits := s.Finder.Find(wishes(q))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "private")
	if err := page.Execute(w, content{City: q.Get("city"), Flats: hits[:min(len(hits), 12)]}); err != nil {
		io.WriteString(w, "\n<!-- incomplete -->")
	}
}
