// Leaderboard keeps the best players of a tournament in order while results come in.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
)

type player struct {
	name   string
	points int
}

func byPoints(a, b player) int {
	return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(a.name, b.name))
}

// A board has the players with the most points first.
type board struct {
	players []player
	resort  bool
}

// win gives a player points.
func (b *board) win(name string, points int) {
	i := slices.IndexFunc(b.players, func(p player) bool { return p.name == name })
	if i < 0 {
		b.players = append(b.players, player{name: name})
		i = len(b.players) - 1
	}
	b.players[i].points += points
	if b.resort {
		b.sort()
	} else {
		b.rise(i)
	}
}

func (b *board) sort() { slices.SortFunc(b.players, byPoints) }

// rise moves one player up to where it belongs.
func (b *board) rise(i int) {
	p := b.players[i]
	to, _ := slices.BinarySearchFunc(b.players[:i], p, byPoints)
	copy(b.players[to+1:i+1], b.players[to:i])
	b.players[to] = p
}

// top are the names of the first three.
func (b *board) top() (names [3]string) {
	for i, p := range b.players[:min(3, len(b.players))] {
		names[i] = p.name
	}
	return names
}

func main() {
	resort := flag.Bool("resort", false, "sort everybody after each result")
	results := flag.Int("results", 60000, "how many results come in")
	flag.Parse()
	b, r := &board{resort: *resort}, rand.New(rand.NewPCG(1, 2))
	leaders := 0
	var last [3]string
	for range *results {
		b.win(fmt.Sprintf("player %03d", r.IntN(800)), 1+r.IntN(30))
		if top := b.top(); top != last {
			leaders++
			last = top
		}
	}
	fmt.Println("the first three changed", leaders, "times; at last", last)
	fmt.Printf("operations: %d\n", *results)
}
