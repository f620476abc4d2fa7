// Package search answers the search page.
package search

import (
	"encoding/json"
	"net/http"
	"strconv"

	"flatviewings/internal/access"
	"flatviewings/internal/listing"
)

// Page is the handler of the search page.
type Page struct {
	Book   *listing.Book
	Access *access.Client
	V2     bool
}

type card struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
	Rent  int    `json:"rent"`
}

// ServeHTTP answers GET /search?user=…&rooms=…&rent=…&wish=….
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rooms, _ := strconv.Atoi(r.FormValue("rooms"))
	rent, err := strconv.Atoi(r.FormValue("rent"))
	user := r.FormValue("user")
	if err != nil || user == "" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	flats := p.Book.Find(rooms, rent, r.FormValue("wish"), 20)
	cards, err := p.visible(user, flats)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(cards)
}

func (p *Page) visible(user string, flats []listing.Flat) ([]card, error) {
	cards := make([]card, 0, len(flats))
	if p.V2 {
		ids := make([]int, len(flats))
		for i, f := range flats {
			ids[i] = f.ID
		}
		may, err := p.Access.MayAll(user, ids)
		if err != nil {
			return nil, err
		}
		for i, f := range flats {
			if may[i] {
				cards = append(cards, toCard(f))
			}
		}
		return cards, nil
	}
	for _, f := range flats {
		may, err := p.Access.May(user, f.ID)
		if err != nil {
			return nil, err
		}
		if may {
			cards = append(cards, toCard(f))
		}
	}
	return cards, nil
}

func toCard(f listing.Flat) card { return card{f.ID, f.Title, f.Rent} }
