// Package web answers searches.
package web

import (
	"encoding/json"
	"net/http"
	"slices"

	"farefinder/internal/criteria"
	"farefinder/internal/fares"
)

// Server answers searches.
type Server struct {
	table *fares.Table
	whole bool
}

// New returns a server.
func New(t *fares.Table, whole bool) *Server { return &Server{table: t, whole: whole} }

// Answer is what travellers get.
type Answer struct {
	From     string       `json:"from"`
	To       string       `json:"to"`
	Date     string       `json:"date"`
	Currency string       `json:"currency"`
	Found    int          `json:"found"`
	Fares    []fares.Fare `json:"fares"`
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	get := criteria.Direct(r)
	if s.whole {
		get = criteria.Values(r.URL.Query())
	}
	c, err := criteria.Read(get)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found := pick(s.table.Route(c.From, c.To), &c)
	order(found, c.Sort)
	a := Answer{From: c.From, To: c.To, Date: c.Date.Format(time2), Currency: c.Currency, Found: len(found), Fares: found}
	if len(a.Fares) > c.Limit {
		a.Fares = a.Fares[:c.Limit]
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(a)
}

const time2 = "Mon 02 Jan 2006"

func pick(all []fares.Fare, c *criteria.Criteria) []fares.Fare {
	out := make([]fares.Fare, 0, len(all))
	for _, f := range all {
		switch {
		case c.Cabin != "" && f.Cabin != c.Cabin, f.Stops > c.MaxStops, f.Bags < c.Bags, c.Refund && !f.Refund:
		case f.Departs < c.Earliest || f.Departs > c.Latest:
		case len(c.Carriers) > 0 && !slices.Contains(c.Carriers, f.Carrier):
		default:
			f.Cents = f.Cents*c.Adults + f.Cents*c.Children/2
			if f.Cents <= c.MaxCents {
				out = append(out, f)
			}
		}
	}
	return out
}

func order(list []fares.Fare, by string) {
	slices.SortFunc(list, func(a, b fares.Fare) int {
		switch by {
		case "departure":
			return a.Departs - b.Departs
		case "duration":
			return a.Minutes - b.Minutes
		}
		return a.Cents - b.Cents
	})
}
