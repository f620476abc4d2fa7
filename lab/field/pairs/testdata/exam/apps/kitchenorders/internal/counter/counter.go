// Package counter is where guests order, over HTTP.
package counter

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"

	"kitchenorders/internal/kitchen"
	"kitchenorders/internal/menu"
	"kitchenorders/internal/order"
)

// A Counter takes orders.
type Counter struct {
	menu    *menu.Menu
	kitchen *kitchen.Kitchen
	numbers atomic.Int64
}

// New makes the handler of a canteen.
func New(m *menu.Menu, k *kitchen.Kitchen) http.Handler {
	c := &Counter{menu: m, kitchen: k}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /order", c.order)
	return mux
}

type receipt struct {
	Number int
	Dishes []string
	Grams  int
	Cents  int
}

func (c *Counter) order(w http.ResponseWriter, r *http.Request) {
	dishes, err := strconv.Atoi(r.URL.Query().Get("dishes"))
	if err != nil || dishes < 1 || dishes > 12 {
		http.Error(w, "dishes is a number from 1 to 12", http.StatusBadRequest)
		return
	}
	number := int(c.numbers.Add(1))
	var tray []*menu.Dish
	for i := range dishes {
		tray = append(tray, c.menu.Dish(number*7+i*11))
	}
	o, err := order.New(number, tray)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	grams, err := c.kitchen.Cook(r.Context(), o)
	if errors.Is(err, kitchen.ErrStruck) {
		http.Error(w, "the kitchen closes", http.StatusServiceUnavailable)
		return
	}
	if err != nil {
		return // the guest left
	}
	out := receipt{Number: number, Grams: grams, Cents: o.Cents()}
	for _, d := range tray {
		out.Dishes = append(out.Dishes, d.Name)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}
