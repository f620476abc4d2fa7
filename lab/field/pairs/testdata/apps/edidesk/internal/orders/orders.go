// Package orders makes orders of messages and checks them.
package orders

import (
	"fmt"
	"strconv"
	"time"

	"edidesk/internal/edifact"
)

// Line is one article of an order.
type Line struct {
	GTIN     string `json:"gtin"`
	Supplier string `json:"supplier"`
	Quantity int    `json:"quantity"`
	Cents    int64  `json:"cents"`
	Checked  bool   `json:"checked"`
}

// Order is a purchase order.
type Order struct {
	Number   string    `json:"number"`
	Date     time.Time `json:"date"`
	Buyer    string    `json:"buyer"`
	Seller   string    `json:"seller"`
	Currency string    `json:"currency"`
	Lines    []Line    `json:"lines"`
	Total    int64     `json:"total"`
}

// From makes an order of a message.
func From(m *edifact.Message) (*Order, error) {
	if m.Kind != "ORDERS" {
		return nil, fmt.Errorf("orders: message %s is %q", m.Ref, m.Kind)
	}
	o := &Order{}
	var cur *Line
	want := -1
	for _, s := range m.Segments {
		switch s.Tag {
		case "BGM":
			o.Number = s.Part(1, 0)
		case "DTM":
			t, err := time.Parse("20060102", s.Part(0, 1))
			if err != nil {
				return nil, err
			}
			o.Date = t
		case "NAD":
			if s.Part(0, 0) == "BY" {
				o.Buyer = s.Part(1, 0)
			} else {
				o.Seller = s.Part(1, 0)
			}
		case "CUX":
			o.Currency = s.Part(0, 1)
		case "LIN":
			o.Lines = append(o.Lines, Line{GTIN: s.Part(2, 0)})
			cur = &o.Lines[len(o.Lines)-1]
			cur.Checked = checkDigit(cur.GTIN)
		case "PIA":
			cur.Supplier = s.Part(1, 0)
		case "QTY":
			n, err := strconv.Atoi(s.Part(0, 1))
			if err != nil {
				return nil, err
			}
			cur.Quantity = n
		case "PRI":
			f, err := strconv.ParseFloat(s.Part(0, 1), 64)
			if err != nil {
				return nil, err
			}
			cur.Cents = int64(f*100 + 0.5)
			o.Total += cur.Cents * int64(cur.Quantity)
		case "CNT":
			want, _ = strconv.Atoi(s.Part(0, 1))
		}
	}
	if want != len(o.Lines) {
		return nil, fmt.Errorf("orders: %s has %d lines, says %d", o.Number, len(o.Lines), want)
	}
	return o, nil
}

func checkDigit(gtin string) bool {
	sum := 0
	for i := range len(gtin) - 1 {
		d := int(gtin[i] - '0')
		if (len(gtin)-i)%2 == 0 {
			d *= 3
		}
		sum += d
	}
	return (10-sum%10)%10 == int(gtin[len(gtin)-1]-'0')
}
