// Package booking finds, holds and sells seats.
package booking

import (
	"encoding/json"
	"sort"

	"venueseats/internal/shelf"
	"venueseats/internal/venue"
)

type Offer struct {
	Section string   `json:"section"`
	Row     string   `json:"row"`
	Seats   []string `json:"seats"`
	Price   int32    `json:"price"`
	score   float64
	at      [3]int
}

type Summary struct {
	Section string `json:"section"`
	Free    int    `json:"free"`
	From    int32  `json:"from"`
}

type Desk struct {
	shelf *shelf.Shelf
}

func New(s *shelf.Shelf) *Desk { return &Desk{s} }

// Offers gives the best places for a group, as JSON.
func (d *Desk) Offers(id, group int) ([]byte, error) {
	var list []Offer
	var sums []Summary
	err := d.shelf.Read(id, func(e *venue.Event) {
		list = best(e, group)
		sums = summarize(e)
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Offers   []Offer   `json:"offers"`
		Sections []Summary `json:"sections"`
	}{list, sums})
}

func best(e *venue.Event, group int) []Offer {
	var list []Offer
	for si := range e.Sections {
		s := &e.Sections[si]
		for ri := range s.Rows {
			seats := s.Rows[ri].Seats
			mid := float64(len(seats)-1) / 2
			run, top, at := 0, -1.0, -1
			for n := range seats {
				if seats[n].State != venue.Free {
					run = 0
					continue
				}
				if run++; run < group {
					continue
				}
				c := float64(n) - float64(group-1)/2 - mid
				score := 100/(1+c*c/8) - float64(6*s.Rank) - float64(ri)
				if score > top {
					top, at = score, n-group+1
				}
			}
			if at >= 0 {
				list = append(list, Offer{Section: s.Name, Row: s.Rows[ri].Label, score: top, at: [3]int{si, ri, at}})
			}
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].score > list[j].score })
	list = list[:min(5, len(list))]
	for i := range list {
		o := &list[i]
		for _, st := range e.Sections[o.at[0]].Rows[o.at[1]].Seats[o.at[2] : o.at[2]+group] {
			o.Seats = append(o.Seats, st.Label)
			o.Price += st.Price
		}
	}
	return list
}

func summarize(e *venue.Event) []Summary {
	out := make([]Summary, 0, len(e.Sections))
	for i := range e.Sections {
		sum := Summary{Section: e.Sections[i].Name}
		for _, r := range e.Sections[i].Rows {
			for n := range r.Seats {
				if st := &r.Seats[n]; st.State == venue.Free {
					sum.Free++
					if sum.From == 0 || st.Price < sum.From {
						sum.From = st.Price
					}
				}
			}
		}
		out = append(out, sum)
	}
	return out
}

// Toggle holds the seats of a place, or frees them again.
func (d *Desk) Toggle(id, section, row, seat, group int, now int64) (bool, error) {
	return d.shelf.Update(id, func(e *venue.Event) bool {
		s := &e.Sections[section%len(e.Sections)]
		seats := s.Rows[row%len(s.Rows)].Seats
		seat %= len(seats) - group
		for n := seat; n < seat+group; n++ {
			st := &seats[n]
			if st.State == venue.Free {
				st.State, st.Until = venue.Held, now+600
			} else {
				st.State, st.Until = venue.Free, 0
			}
		}
		return true
	})
}
