// Package deed reads the deeds that a land registry sends.
package deed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Deed is the transfer of a parcel.
type Deed struct {
	Parcel int
	Seller string
	Buyer  string
	Price  int64
	Bounds [][2]int
	raw    string
}

var errDeed = errors.New("deed: malformed")

// Parse reads one line.
func Parse(line string) (Deed, error) {
	d := Deed{raw: line}
	parcel, rest, ok := strings.Cut(line, "|")
	if !ok {
		return d, errDeed
	}
	var price, bounds string
	if d.Seller, rest, ok = strings.Cut(rest, "|"); !ok {
		return d, errDeed
	}
	if d.Buyer, rest, ok = strings.Cut(rest, "|"); !ok || d.Seller == d.Buyer {
		return d, errDeed
	}
	if price, bounds, ok = strings.Cut(rest, "|"); !ok {
		return d, errDeed
	}
	var err error
	if d.Parcel, err = strconv.Atoi(parcel); err != nil {
		return d, err
	}
	if d.Price, err = strconv.ParseInt(price, 10, 64); err != nil {
		return d, err
	}
	d.Bounds, err = corners(bounds)
	return d, err
}

func corners(s string) ([][2]int, error) {
	all := make([][2]int, 0, strings.Count(s, " ")+1)
	for p := range strings.SplitSeq(s, " ") {
		x, y, ok := strings.Cut(p, ",")
		if !ok {
			return nil, errDeed
		}
		var c [2]int
		var err error
		if c[0], err = strconv.Atoi(x); err != nil {
			return nil, err
		}
		if c[1], err = strconv.Atoi(y); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Bytes is what the notary seals.
func (d *Deed) Bytes() []byte { return []byte(d.raw) }

// Samples makes n lines.
func Samples(n int) []string {
	rnd := rand.New(rand.NewPCG(18, 71))
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for c := range 14 {
			if c > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%d,%d", rnd.IntN(100000), rnd.IntN(100000))
		}
		out[i] = fmt.Sprintf("%d|owner of house %d|buyer from district %d|%d|%s", 1000+rnd.IntN(90000), rnd.IntN(5000), rnd.IntN(70), 50000+rnd.IntN(900000), b.String())
	}
	return out
}
