// Package routing chooses the carrier of a number.
package routing

import (
	"fmt"
	"math/rand/v2"
)

// Carrier takes messages to a country.
type Carrier struct {
	Name  string
	Price float64
}

type node struct {
	next    [10]int32
	carrier int32
}

// Table is a tree of prefixes.
type Table struct {
	nodes    []node
	carriers []Carrier
}

// NewTable makes a table with n prefixes.
func NewTable(n int) *Table {
	t := &Table{nodes: []node{{carrier: 0}}, carriers: []Carrier{{"default", 0.09}}}
	rnd := rand.New(rand.NewPCG(4, 2))
	for i := range 40 {
		t.carriers = append(t.carriers, Carrier{fmt.Sprintf("carrier-%02d", i), 0.01 + rnd.Float64()*0.05})
	}
	for range n {
		at := int32(0)
		for range 2 + rnd.IntN(4) {
			d := rnd.IntN(10)
			if t.nodes[at].next[d] == 0 {
				t.nodes = append(t.nodes, node{})
				t.nodes[at].next[d] = int32(len(t.nodes) - 1)
			}
			at = t.nodes[at].next[d]
		}
		t.nodes[at].carrier = int32(1 + rnd.IntN(40))
	}
	return t
}

// Find returns the carrier of the longest prefix.
func (t *Table) Find(number string) Carrier {
	var best, at int32
	for i := 1; i < len(number); i++ {
		d := number[i] - '0'
		if d > 9 || t.nodes[at].next[d] == 0 {
			break
		}
		at = t.nodes[at].next[d]
		if c := t.nodes[at].carrier; c != 0 {
			best = c
		}
	}
	return t.carriers[best]
}
