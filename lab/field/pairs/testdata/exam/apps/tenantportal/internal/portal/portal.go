// Package portal serves the pages of the portal.
package portal

import (
	"encoding/json"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"tenantportal/internal/session"
	"tenantportal/internal/upstream"
)

// An App is the portal.
type App struct {
	office *upstream.Client
	panels []string
	page   *template.Template
}

// New returns a portal that asks an office.
func New(office *upstream.Client) *App {
	return &App{
		office: office,
		panels: []string{"rent", "heating", "water", "repairs", "deposit", "letters", "parking", "cellar", "keys"},
		page: template.Must(template.New("page").Parse(`<!doctype html><title>{{.Flat}}</title><h1>Flat {{.Flat}}</h1>
{{range .Panels}}<section data-panel="/panels/{{.}}"><h2>{{.}}</h2></section>{{end}}`)),
	}
}

// Panels returns the names of the panels.
func (a *App) Panels() []string { return a.panels }

// Routes returns the handler of all requests.
func (a *App) Routes(sessions func(http.Handler) http.Handler) http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer, middleware.Timeout(10*time.Second))
	r.Get("/health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	r.Group(func(r chi.Router) {
		r.Use(sessions)
		r.Get("/flats/{flat}", a.home)
		r.Get("/panels/{panel}", a.panel)
	})
	return r
}

// home shows the page of a flat, which the session remembers for the panels.
func (a *App) home(w http.ResponseWriter, r *http.Request) {
	flat := session.From(r.Context()).Update("flat", func(string) string { return chi.URLParam(r, "flat") })
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = a.page.Execute(w, map[string]any{"Flat": flat, "Panels": a.panels})
}

// A Panel is a part of a page.
type Panel struct {
	Name  string          `json:"name"`
	Seen  int             `json:"seen"`
	Sum   float64         `json:"sum"`
	Facts []upstream.Fact `json:"facts"`
}

func (a *App) panel(w http.ResponseWriter, r *http.Request) {
	s := session.From(r.Context())
	p := Panel{Name: chi.URLParam(r, "panel")}
	flat := s.Get("flat")
	if flat == "" {
		http.Error(w, "which flat?", http.StatusConflict)
		return
	}
	var err error
	if p.Facts, err = a.office.Facts(r.Context(), p.Name, flat); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	for _, f := range p.Facts {
		p.Sum += f.Value
	}
	p.Sum = math.Round(p.Sum*100) / 100
	p.Seen, _ = strconv.Atoi(s.Update("seen:"+p.Name, func(old string) string {
		n, _ := strconv.Atoi(old)
		return strconv.Itoa(n + 1)
	}))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(p)
}
