// Package query reads search filters from requests.
package query

import (
	"net/http"
	"net/url"
	"strconv"

	"cottagesearch/internal/offers"
)

// Source gives the value of a named parameter.
type Source interface {
	Value(name string) string
}

type direct struct{ r *http.Request }

func (d direct) Value(name string) string { return d.r.URL.Query().Get(name) }

type parsed struct{ v url.Values }

func (p parsed) Value(name string) string { return p.v.Get(name) }

// Of returns the parameters of a request.
func Of(r *http.Request, kept bool) Source {
	if kept {
		return parsed{v: r.URL.Query()}
	}
	return direct{r: r}
}

func number(s Source, name string, def int) int {
	if s.Value(name) == "" {
		return def
	}
	n, err := strconv.Atoi(s.Value(name))
	if err != nil || n < 0 {
		return def
	}
	return n
}

func amount(s Source, name string) float64 {
	f, err := strconv.ParseFloat(s.Value(name), 64)
	if err != nil {
		return 0
	}
	return f
}

func yes(s Source, name string) bool {
	return s.Value(name) == "1" || s.Value(name) == "true"
}

// Filter builds the filter of a search.
func Filter(s Source) offers.Filter {
	f := offers.Filter{
		Region:    s.Value("region"),
		Name:      s.Value("name"),
		Sort:      s.Value("sort"),
		Beds:      number(s, "beds", 1),
		Lake:      number(s, "lake", 0),
		MinPrice:  amount(s, "min"),
		MaxPrice:  amount(s, "max"),
		Dogs:      yes(s, "dogs"),
		Sauna:     yes(s, "sauna"),
		Page:      number(s, "page", 0),
		Size:      number(s, "size", 12),
		Arrival:   s.Value("arrival"),
		Departure: s.Value("departure"),
		Currency:  s.Value("currency"),
		Languages: s.Value("lang"),
	}
	if f.Size > 50 {
		f.Size = 50
	}
	return f
}
