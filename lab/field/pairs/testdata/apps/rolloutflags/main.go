// Rolloutflags decides which visitors see which features while their carts are priced.
package main

import (
	"flag"
	"fmt"

	"rolloutflags/internal/cart"
	"rolloutflags/internal/flags"
)

func main() {
	carts := flag.Int("carts", 60000, "carts to price")
	features := flag.Int("features", 80, "features that can be turned on")
	shared := flag.Bool("shared", false, "share what nobody changes")
	flag.Parse()
	set := flags.NewSet(*shared)
	for i := range *features {
		set.Turn(fmt.Sprintf("feature-%02d", i), flags.Rollout{Percent: i * 7 % 101, Team: fmt.Sprint("team ", i%5)})
	}
	p := cart.Pricer{Flags: set}
	total := 0
	for i := range *carts {
		c := cart.Generate(i)
		total += p.Price(&c)
	}
	fmt.Println("total:", total)
	fmt.Printf("operations: %d\n", *carts)
}
