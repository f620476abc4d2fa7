// Knightpaths tells from which fields of a board a knight is on another field after
// so many moves, and in how many ways.
package main

import (
	"flag"
	"fmt"
)

type field struct{ file, rank int8 }

var jumps = []field{{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}

func (f field) onBoard() bool { return f.file >= 0 && f.file < 8 && f.rank >= 0 && f.rank < 8 }

func (f field) String() string { return string([]byte{'a' + byte(f.file), '1' + byte(f.rank)}) }

// A counter counts the ways from a field to the goal.
type counter struct {
	goal field
	seen map[position]int
}

type position struct {
	at    field
	moves int
}

func (c *counter) ways(at field, moves int) int {
	if !at.onBoard() {
		return 0
	}
	if moves == 0 {
		if at == c.goal {
			return 1
		}
		return 0
	}
	if c.seen != nil {
		if n, ok := c.seen[position{at, moves}]; ok {
			return n
		}
	}
	n := 0
	for _, j := range jumps {
		n += c.ways(field{at.file + j.file, at.rank + j.rank}, moves-1)
	}
	if c.seen != nil {
		c.seen[position{at, moves}] = n
	}
	return n
}

func main() {
	plain := flag.Bool("plain", false, "do not keep what was counted")
	moves := flag.Int("moves", 6, "moves of the knight")
	boards := flag.Int("goals", 40, "how many goals are asked for")
	flag.Parse()
	asked := 0
	for i := range *boards {
		c := counter{goal: field{int8(i % 8), int8(i / 8 % 8)}}
		if !*plain {
			c.seen = map[position]int{}
		}
		best, most := field{}, -1
		for file := range int8(8) {
			for rank := range int8(8) {
				asked++
				if n := c.ways(field{file, rank}, *moves); n > most {
					best, most = field{file, rank}, n
				}
			}
		}
		if i < 64 {
			fmt.Printf("to %v from %v: %d ways\n", c.goal, best, most)
		}
	}
	fmt.Printf("operations: %d\n", asked)
}
