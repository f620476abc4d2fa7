// Package shop is the way from the web shop to the planner and back.
package shop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"

	"stockprobe/internal/allocate"
	"stockprobe/internal/depot"
)

// Handler plans the orders that come in.
func Handler(p *allocate.Planner) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var o allocate.Order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		plan, err := p.Plan(&o)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(plan)
	})
	return mux
}

// Customer makes orders.
type Customer struct {
	rng      *rand.Rand
	articles int
	n        int
}

// NewCustomer returns a customer.
func NewCustomer(seed uint64, articles int) *Customer {
	return &Customer{rng: rand.New(rand.NewPCG(seed, 21)), articles: articles}
}

// Order sends one order and returns how many lines were picked and how many not.
func (c *Customer) Order(client *http.Client, url string) (picked, back int, err error) {
	c.n++
	o := allocate.Order{ID: fmt.Sprintf("O%07d", c.n), Postcode: c.rng.IntN(100000)}
	for range 6 + c.rng.IntN(14) {
		o.Lines = append(o.Lines, allocate.Line{SKU: depot.SKU(c.rng.IntN(c.articles)), Units: 1 + c.rng.IntN(4)})
	}
	body, err := json.Marshal(o)
	if err != nil {
		return 0, 0, err
	}
	resp, err := client.Post(url+"/orders", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("shop: %s", resp.Status)
	}
	var plan allocate.Plan
	if err := json.Unmarshal(answer, &plan); err != nil {
		return 0, 0, err
	}
	return len(plan.Picks), len(plan.Back), nil
}
