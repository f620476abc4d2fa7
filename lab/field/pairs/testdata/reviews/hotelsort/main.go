// Hotelsort shows the hotels of a city in the order that each guest likes.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
)

type hotel struct {
	id     int
	name   string
	price  int
	stars  int
	metres int
}

// A wish is the order that a guest likes.
type wish func(a, b hotel) int

func cheapest(a, b hotel) int {
	if a.price != b.price {
		return a.price - b.price
	}
	return a.id - b.id
}

func nearest(a, b hotel) int {
	if a.metres != b.metres {
		return a.metres - b.metres
	}
	return a.id - b.id
}

func best(a, b hotel) int {
	if a.stars != b.stars {
		return b.stars - a.stars
	}
	return cheapest(a, b)
}

func arrange(all []hotel, w wish) {
	sort.Slice(all, func(i, j int) bool { return w(all[i], all[j]) < 0 })
}

func arrangeFunc(all []hotel, w wish) {
	slices.SortFunc(all, w)
}

func main() {
	old := flag.Bool("sort-slice", false, "sort by positions")
	guests := flag.Int("guests", 3000, "how many guests look")
	flag.Parse()
	r := rand.New(rand.NewPCG(9, 10))
	city := make([]hotel, 1500)
	for i := range city {
		city[i] = hotel{i, fmt.Sprintf("Hotel %d", i), 60 + r.IntN(300), 1 + r.IntN(5), r.IntN(9000)}
	}
	sorted := arrangeFunc
	if *old {
		sorted = arrange
	}
	wishes, prices := []wish{cheapest, nearest, best}, 0
	page := make([]hotel, len(city))
	for g := range *guests {
		copy(page, city)
		sorted(page, wishes[g%len(wishes)])
		prices += page[g%10].price
	}
	fmt.Println("mean price:", prices / *guests)
	fmt.Printf("operations: %d\n", *guests)
}
