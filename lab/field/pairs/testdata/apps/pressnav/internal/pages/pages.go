// Package pages serves the articles.
package pages

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/http"
	"strconv"

	"pressnav/internal/markup"
	"pressnav/internal/site"
)

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html><head><title>{{.Title}}</title><link rel="canonical" href="{{.Address}}"></head><body>
<nav>{{range .Trail}}<a href="/{{.Slug}}" data-id="{{.ID}}">{{.Title}}</a> / {{end}}</nav>
<main><h1>{{.Title}}</h1>
{{.Body}}</main>
<aside><ul>{{range .Related}}<li><a href="{{.Address}}">{{.Title}}</a></li>{{end}}</ul></aside>
</body></html>
`))

type link struct {
	Title   string
	Address string
}

type view struct {
	Title   string
	Address string
	Trail   []*site.Node
	Body    template.HTML
	Related []link
}

type Server struct {
	site *site.Site
}

func New(s *site.Site) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /a/{id}", (&Server{site: s}).article)
	return mux
}

func (s *Server) article(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	n := s.site.Article(id)
	if err != nil || n == nil {
		http.NotFound(w, r)
		return
	}
	v := view{Title: n.Title, Trail: s.site.Trail(id), Address: s.site.Address(id), Body: markup.Render(n.Body)}
	for _, rel := range n.Related {
		v.Related = append(v.Related, link{s.site.Article(rel).Title, s.site.Address(rel)})
	}
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := fnv.New64a()
	h.Write(b.Bytes())
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, h.Sum64()))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(b.Bytes())
}
