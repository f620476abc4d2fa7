// Package offers holds the holiday cottages.
package offers

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
)

type Cottage struct {
	ID     int     `json:"id"`
	Name   string  `json:"name"`
	Region string  `json:"region"`
	Beds   int     `json:"beds"`
	Price  float64 `json:"price"`
	Dogs   bool    `json:"dogs"`
	Sauna  bool    `json:"sauna"`
	Lake   int     `json:"lake_m"`
}

// Filter says what the guest looks for.
type Filter struct {
	Region, Name, Sort  string
	Beds, Lake          int
	MinPrice, MaxPrice  float64
	Dogs, Sauna         bool
	Page, Size          int
	Arrival, Departure  string
	Currency, Languages string
}

type Store struct {
	byRegion map[string][]Cottage
}

var Regions = []string{"north coast", "lake district", "high valley", "old forest", "southern isles"}

func NewStore(n int) *Store {
	r := rand.New(rand.NewPCG(3, 5))
	s := &Store{byRegion: map[string][]Cottage{}}
	for i := range n {
		reg := Regions[r.IntN(len(Regions))]
		s.byRegion[reg] = append(s.byRegion[reg], Cottage{
			ID: i, Name: fmt.Sprintf("Cottage %d %s", i, reg), Region: reg,
			Beds: 2 + r.IntN(7), Price: 50 + float64(r.IntN(20000))/100,
			Dogs: r.IntN(2) == 0, Sauna: r.IntN(4) == 0, Lake: r.IntN(3000),
		})
	}
	for _, list := range s.byRegion {
		sort.Slice(list, func(i, k int) bool { return list[i].Price < list[k].Price })
	}
	return s
}

// Find returns one page of the cottages that match, cheapest first.
func (s *Store) Find(f Filter) (page []Cottage, total int) {
	list := s.byRegion[f.Region]
	page = make([]Cottage, 0, f.Size)
	for i := range list {
		c := &list[i]
		if c.Beds < f.Beds || c.Price < f.MinPrice || (f.MaxPrice > 0 && c.Price > f.MaxPrice) {
			continue
		}
		if (f.Dogs && !c.Dogs) || (f.Sauna && !c.Sauna) || (f.Lake > 0 && c.Lake > f.Lake) {
			continue
		}
		if f.Name != "" && !strings.Contains(c.Name, f.Name) {
			continue
		}
		if total >= f.Page*f.Size && len(page) < f.Size {
			page = append(page, *c)
		}
		total++
	}
	return page, total
}
