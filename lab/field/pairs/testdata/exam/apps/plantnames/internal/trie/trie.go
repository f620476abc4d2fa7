// Package trie keeps names by their letters.
package trie

import "slices"

// A Node is where one gets by some letters.
type Node struct {
	next  map[rune]*Node
	names []int32 // that end here
}

// Add adds a name by its number.
func (n *Node) Add(name string, number int32) {
	for _, r := range name {
		if n.next == nil {
			n.next = map[rune]*Node{}
		}
		child := n.next[r]
		if child == nil {
			child = &Node{}
			n.next[r] = child
		}
		n = child
	}
	n.names = append(n.names, number)
}

// Find returns the first numbers, by the alphabet, of names that begin so.
func (n *Node) Find(prefix string, most int) []int32 {
	for _, r := range prefix {
		if n = n.next[r]; n == nil {
			return nil
		}
	}
	return n.collect(nil, most)
}

func (n *Node) collect(out []int32, most int) []int32 {
	out = append(out, n.names[:min(len(n.names), most-len(out))]...)
	if len(out) == most || len(n.next) == 0 {
		return out
	}
	letters := make([]rune, 0, len(n.next))
	for r := range n.next {
		letters = append(letters, r)
	}
	slices.Sort(letters)
	for _, r := range letters {
		if out = n.next[r].collect(out, most); len(out) == most {
			break
		}
	}
	return out
}
