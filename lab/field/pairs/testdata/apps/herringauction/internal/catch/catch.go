// Package catch turns rows into lots.
package catch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"herringauction/internal/sheet"
)

// Lot is what is sold at once.
type Lot struct {
	Number  int
	Vessel  string
	Landed  time.Time
	Species string
	Size    int
	Kilos   float64
	Price   float64
	Buyer   string
}

var columns = []string{"Lot Number", "Vessel", "Registration", "Landed At", "Harbour", "Species", "Presentation",
	"Freshness", "Size Class", "Boxes", "Net Kilos", "Price per Kilo", "Buyer", "Remark"}

// File writes an auction day's file.
func File(seed uint64, lots int) string {
	rnd := rand.New(rand.NewPCG(seed, 21))
	species := []string{"herring", "mackerel", "plaice", "cod", "sole", "turbot"}
	var b strings.Builder
	b.WriteString(strings.Join(columns, ";") + "\n")
	day := time.Date(2025, 3, 1+int(seed), 4, 0, 0, 0, time.UTC)
	for i := range lots {
		fmt.Fprintf(&b, "%d;vessel %d;NL-%04d;%s;harbour %d;%s;whole;%c;%d;%d;%.1f;%.2f;buyer %d;\n", i+1, rnd.IntN(80), rnd.IntN(9000),
			day.Add(time.Duration(rnd.IntN(7200))*time.Second).Format(time.RFC3339), rnd.IntN(6), species[rnd.IntN(len(species))],
			'A'+rune(rnd.IntN(3)), 1+rnd.IntN(5), 1+rnd.IntN(40), 20+rnd.Float64()*900, 0.5+rnd.Float64()*14, rnd.IntN(60))
	}
	return b.String()
}

// Read reads all lots of a sheet.
func Read(s *sheet.Sheet, each func(*Lot) error) error {
	for s.Next() {
		var l Lot
		var err error
		if l.Number, err = s.Int("lot_number"); err != nil {
			return err
		}
		if l.Size, err = s.Int("size_class"); err != nil {
			return err
		}
		if l.Kilos, err = s.Float("net_kilos"); err != nil {
			return err
		}
		if l.Price, err = s.Float("price_per_kilo"); err != nil {
			return err
		}
		if l.Landed, err = time.Parse(time.RFC3339, s.Text("landed_at")); err != nil {
			return err
		}
		l.Vessel, l.Species, l.Buyer = s.Text("vessel"), s.Text("species"), s.Text("buyer")
		if err := each(&l); err != nil {
			return err
		}
	}
	return s.Err()
}
