// Package flats is the stock of flats to let.
package flats

import (
	"math/rand"
	"strconv"
)

// Flat is one offer.
type Flat struct {
	ID       int
	City     string
	District string
	Rooms    int
	Rent     int
	Size     int
	Floor    int
	Heating  string
	Pets     bool
	Balcony  bool
	Lift     bool
	Text     string
}

var (
	cities    = []string{"Bremen", "Kiel", "Ulm", "Jena", "Mainz"}
	districts = []string{"Altstadt", "Nord", "West", "Hafen", "Bahnhof", "Süd"}
	heatings  = []string{"gas", "district", "pump"}
)

// Stock makes n offers.
func Stock(n int) []Flat {
	rng := rand.New(rand.NewSource(11))
	out := make([]Flat, n)
	for i := range out {
		rooms := 1 + rng.Intn(5)
		size := rooms*16 + rng.Intn(25)
		out[i] = Flat{
			ID:       10000 + i,
			City:     cities[rng.Intn(len(cities))],
			District: districts[rng.Intn(len(districts))],
			Rooms:    rooms,
			Rent:     size*9 + rng.Intn(400),
			Size:     size,
			Floor:    rng.Intn(6),
			Heating:  heatings[rng.Intn(len(heatings))],
			Pets:     rng.Intn(3) == 0,
			Balcony:  rng.Intn(2) == 0,
			Lift:     rng.Intn(3) == 0,
			Text:     "Bright flat of " + strconv.Itoa(rooms) + " rooms & kitchen, <quiet> street, near the \"Markt\"",
		}
	}
	return out
}

// Match says whether the flat meets one wish.
func (f *Flat) Match(field, value string) bool {
	switch field {
	case "city":
		return f.City == value
	case "district":
		return f.District == value
	case "rooms":
		n, err := strconv.Atoi(value)
		return err == nil && f.Rooms >= n
	case "rent":
		n, err := strconv.Atoi(value)
		return err == nil && f.Rent <= n
	case "heating":
		return f.Heating == value
	case "pets":
		return f.Pets || value != "yes"
	case "balcony":
		return f.Balcony || value != "yes"
	case "lift":
		return f.Lift || value != "yes"
	}
	return true
}
