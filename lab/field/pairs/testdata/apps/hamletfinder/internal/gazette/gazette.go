// Package gazette makes and reads the official list of places.
package gazette

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Item is one line of the list.
type Item struct {
	Code   string
	Name   string
	Within string
	Lat    float64
	Lon    float64
	People int
}

var (
	heads = []string{"Ash", "Bram", "Cran", "Dun", "Elm", "Farn", "Green", "Hart", "Kirk", "Long", "Mill", "Nether", "Over", "Stan", "Wood"}
	tails = []string{"bury", "by", "combe", "dale", "field", "ford", "ham", "ley", "mere", "stead", "thorpe", "ton", "wick", "worth"}
)

// Print returns a list of n places.
func Print(n int) string {
	rnd := rand.New(rand.NewPCG(6, 19))
	var b strings.Builder
	for i := range n {
		within := ""
		if i > 0 {
			within = code(rnd.IntN(i))
		}
		fmt.Fprintf(&b, "%s;%s%s %d;%s;%.5f;%.5f;%d\n", code(i), heads[rnd.IntN(len(heads))], tails[rnd.IntN(len(tails))],
			rnd.IntN(40), within, 50+rnd.Float64()*9, -6+rnd.Float64()*8, rnd.IntN(4000))
	}
	return b.String()
}

func code(i int) string { return fmt.Sprintf("GB-%08d", i) }

// Read reads a list.
func Read(s string) ([]Item, error) {
	var out []Item
	for line := range strings.Lines(s) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ";")
		if len(f) != 6 {
			return nil, fmt.Errorf("gazette: line %q", line)
		}
		it := Item{Code: f[0], Name: f[1], Within: f[2]}
		var err error
		if it.Lat, err = strconv.ParseFloat(f[3], 64); err != nil {
			return nil, err
		}
		if it.Lon, err = strconv.ParseFloat(f[4], 64); err != nil {
			return nil, err
		}
		if it.People, err = strconv.Atoi(f[5]); err != nil {
			return nil, err
		}
		out = append(out, it)
	}
	return out, nil
}
