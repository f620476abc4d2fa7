// Btreescores keeps the scores of players in a B-tree and tells who is around somebody.
package main

import (
	"errors"
	"flag"

	"github.com/google/btree"
)

type score struct{ points, player int }

func less(a, b score) bool {
	return a.points < b.points || a.points == b.points && a.player < b.player
}

func main() {
	flag.Parse()
	const players = 20000
	tree, points := btree.NewG(32, less), make([]int, players)
	for p := range players {
		points[p] = p * 7919 % 100000
		tree.ReplaceOrInsert(score{points[p], p})
	}
	pace(func(n int) error {
		p := n * 31 % players
		tree.Delete(score{points[p], p})
		points[p] = (points[p] + n%50) % 100000
		tree.ReplaceOrInsert(score{points[p], p})
		near := 0
		tree.AscendGreaterOrEqual(score{points[p], p}, func(score) bool { near++; return near < 10 })
		if near == 0 {
			return errors.New("nobody is there")
		}
		return nil
	})
}
