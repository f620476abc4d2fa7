// Package orders reads the order lines that shippers send.
package orders

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

type Order struct {
	Shipper  string
	From, To string
	Class    uint8
	Kg       float64
	Pickup   time.Time
	Items    []Item
}

type Item struct {
	SKU string
	Qty int
	Kg  float64
}

var errShort = errors.New("orders: short line")

// Parse reads "shipper;from;to;class;days;sku:qty:kg,..." relative to now.
func Parse(line string, now time.Time) (Order, error) {
	f := strings.Split(line, ";")
	if len(f) < 6 {
		return Order{}, errShort
	}
	c, errC := strconv.Atoi(f[3])
	days, errD := strconv.Atoi(f[4])
	if err := errors.Join(errC, errD); err != nil {
		return Order{}, err
	}
	o := Order{Shipper: f[0], From: f[1], To: f[2], Class: uint8(c), Pickup: now.AddDate(0, 0, days)}
	for _, it := range strings.Split(f[5], ",") {
		p := strings.Split(it, ":")
		if len(p) != 3 {
			return Order{}, errShort
		}
		q, errQ := strconv.Atoi(p[1])
		kg, errK := strconv.ParseFloat(p[2], 64)
		if err := errors.Join(errQ, errK); err != nil {
			return Order{}, err
		}
		o.Items = append(o.Items, Item{p[0], q, kg})
		o.Kg += kg * float64(q)
	}
	return o, nil
}

// Lines makes n order lines between a fixed set of regular customers.
func Lines(n int, r *rand.Rand) []string {
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		fmt.Fprintf(&b, "S%04d;%05d;%05d;%d;%d;", r.IntN(900), 10000+r.IntN(24)*37, 50000+r.IntN(24)*41, r.IntN(3), 1+r.IntN(3))
		for k := 0; k < 24; k++ {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "K%06d:%d:%.2f", r.IntN(1e6), 1+r.IntN(20), r.Float64()*30)
		}
		out[i] = b.String()
	}
	return out
}
