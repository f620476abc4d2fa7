// Package weigh has the tickets of the weighbridge.
package weigh

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Ticket is one load of a lorry.
type Ticket struct {
	Lorry    string
	Material string
	Customer int
	At       time.Time
	Gross    int
	Tare     int
	Axles    []int
}

var materials = []string{"granite 8/16", "granite 16/32", "gravel 2/8", "sand 0/2", "armour stone", "chippings 5/8"}

// Draw makes a ticket by chance.
func Draw(r *rand.Rand, no int) Ticket {
	t := Ticket{Lorry: fmt.Sprintf("QX-%04d", r.IntN(900)), Material: materials[r.IntN(len(materials))], Customer: r.IntN(300),
		At: time.Unix(1_700_000_000+int64(no)*40, 0).UTC(), Tare: 9000 + r.IntN(5000)}
	for range 3 + r.IntN(3) {
		a := 4000 + r.IntN(5000)
		t.Axles = append(t.Axles, a)
		t.Gross += a
	}
	return t
}

// Encode gives the record of a ticket.
func Encode(t Ticket) []byte {
	axles := make([]string, len(t.Axles))
	for i, a := range t.Axles {
		axles[i] = strconv.Itoa(a)
	}
	return fmt.Appendf(nil, "lorry=%s;material=%s;customer=%d;at=%s;gross=%d;tare=%d;axles=%s", t.Lorry, t.Material, t.Customer,
		t.At.Format(time.RFC3339), t.Gross, t.Tare, strings.Join(axles, ","))
}

// Decode reads a record.
func Decode(rec []byte) (Ticket, error) {
	var t Ticket
	var err error
	for field := range strings.SplitSeq(string(rec), ";") {
		k, v, ok := strings.Cut(field, "=")
		if !ok {
			return t, errors.New("weigh: bad field")
		}
		switch k {
		case "lorry":
			t.Lorry = v
		case "material":
			t.Material = v
		case "customer":
			t.Customer, err = strconv.Atoi(v)
		case "at":
			t.At, err = time.Parse(time.RFC3339, v)
		case "gross":
			t.Gross, err = strconv.Atoi(v)
		case "tare":
			t.Tare, err = strconv.Atoi(v)
		case "axles":
			for a := range strings.SplitSeq(v, ",") {
				n, err := strconv.Atoi(a)
				if err != nil {
					return t, err
				}
				t.Axles = append(t.Axles, n)
			}
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}
