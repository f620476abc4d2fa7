// Package grain grades deliveries.
package grain

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Delivery is one lorry load.
type Delivery struct {
	Farm, Sort                string
	Tonnes, Moisture, Protein float64
	Debris                    int
}

// Parse reads a delivery note.
func Parse(s string) (Delivery, error) {
	f := strings.Split(s, ";")
	if len(f) != 6 {
		return Delivery{}, fmt.Errorf("grain: note %q", s)
	}
	d := Delivery{Farm: f[0], Sort: f[1]}
	var err error
	for i, p := range []*float64{&d.Tonnes, &d.Moisture, &d.Protein} {
		if *p, err = strconv.ParseFloat(f[2+i], 64); err != nil {
			return d, err
		}
	}
	d.Debris, err = strconv.Atoi(f[5])
	return d, err
}

// Grade computes the class, and the dry weight after simulated drying.
func (d Delivery) Grade() (string, float64) {
	m, w := d.Moisture, d.Tonnes
	for range 400 {
		if m < 12 {
			break
		}
		loss := 0.004 * math.Pow(m-11.5, 1.1)
		w -= w * loss / 100
		m -= loss
	}
	w *= 1 - float64(d.Debris)/1000
	switch {
	case d.Protein > 13.5 && d.Debris < 10:
		return "A", w
	case d.Protein > 11.5:
		return "B", w
	}
	return "C", w
}
