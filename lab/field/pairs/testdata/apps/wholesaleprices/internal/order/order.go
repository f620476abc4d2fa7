// Package order has orders of shops.
package order

// An Order is articles, each as often as it is ordered.
type Order struct {
	Shop     int
	Articles []int
}

// Prices know what articles cost.
type Prices interface{ Cents(article int) int }

// Price is what an order costs.
func Price(p Prices, o *Order) (sum int) {
	for _, a := range o.Articles {
		sum += p.Cents(a)
	}
	return sum
}

// Generate makes an order of four thousand articles up.
func Generate(i int) Order {
	o := Order{Shop: i % 70, Articles: make([]int, 4000)}
	for k := range o.Articles {
		o.Articles[k] = (i*31 + k*7) % 5000
	}
	return o
}
