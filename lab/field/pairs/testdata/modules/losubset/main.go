// Losubset finds out who may see which page, by roles.
package main

import (
	"flag"
	"fmt"

	"github.com/samber/lo"
)

type user struct {
	name   string
	grants []int
}

type page struct {
	title string
	needs []int
}

func users(n int) []user {
	return lo.Times(n, func(i int) user {
		return user{fmt.Sprint("user ", i), lo.Times(1500, func(g int) int { return g * 3 })}
	})
}

func pages(n int) []page {
	return lo.Times(n, func(i int) page {
		return page{fmt.Sprint("page ", i), lo.Times(300+i%4/3, func(g int) int { return (g*7+i)%500*9 + g/300 })}
	})
}

// visible are the pages for which a user has all that it takes.
func visible(u user, all []page) []string {
	may := lo.Filter(all, func(p page, _ int) bool { return lo.Every(u.grants, p.needs) })
	return lo.Map(may, func(p page, _ int) string { return p.title })
}

func main() {
	rounds := flag.Int("rounds", 150, "how many users are looked at")
	flag.Parse()
	all, n := pages(120), 0
	for _, u := range users(*rounds) {
		n += len(visible(u, all))
	}
	fmt.Println("visible:", n)
	fmt.Printf("operations: %d\n", *rounds)
}
