// Package inventory tells what the stock of shops is worth, by the lists they send.
package inventory

import (
	"encoding/json"
	"errors"
	"io"
)

type item struct {
	SKU    string  `json:"sku"`
	Count  int     `json:"count"`
	Price  float64 `json:"price"`
	Active bool    `json:"active"`
}

type stock struct {
	Shop  string `json:"shop"`
	Items []item `json:"items"`
}

// Worth is what the active items of a shop are worth.
type Worth struct {
	Shop  string
	Items int
	Total float64
}

func (w *Worth) add(count, price float64) {
	w.Items++
	w.Total += count * price
}

// Read reads a list.
func Read(r io.Reader) (w Worth, err error) {
	var in stock
	if err := json.NewDecoder(r).Decode(&in); err != nil {
		return w, err
	}
	w.Shop = in.Shop
	for _, one := range in.Items {
		if one.Active {
			w.add(float64(one.Count), one.Price)
		}
	}
	return w, nil
}

// ReadAny reads a list of any shape that has items.
func ReadAny(r io.Reader) (w Worth, err error) {
	var in any
	if err := json.NewDecoder(r).Decode(&in); err != nil {
		return w, err
	}
	top, ok := in.(map[string]any)
	if !ok {
		return w, errors.New("no list")
	}
	w.Shop, _ = top["shop"].(string)
	items, _ := top["items"].([]any)
	for _, one := range items {
		fields, _ := one.(map[string]any)
		if active, _ := fields["active"].(bool); active {
			count, _ := fields["count"].(float64)
			price, _ := fields["price"].(float64)
			w.add(count, price)
		}
	}
	return w, nil
}
