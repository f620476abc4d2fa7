// Package site holds the sections and articles of a newspaper.
package site

import (
	"fmt"
	"math/rand"
	"strings"
)

// Node is a section or an article.
type Node struct {
	ID       int
	Slug     string
	Title    string
	Body     string
	Related  []int
	Parent   *Node
	Children []*Node
}

// Site is the tree of all nodes.
type Site struct {
	root   *Node
	byID   map[int]*Node
	linked bool
	leaves []int
}

func (s *Site) Article(id int) *Node { return s.byID[id] }
func (s *Site) Articles() []int      { return s.leaves }

// Trail gives the nodes from the front page down to a node.
func (s *Site) Trail(id int) []*Node {
	if !s.linked {
		return descend(s.root, id, nil)
	}
	n := s.byID[id]
	depth := 0
	for p := n; p != nil; p = p.Parent {
		depth++
	}
	out := make([]*Node, depth)
	for p := n; p != nil; p = p.Parent {
		depth--
		out[depth] = p
	}
	return out
}

func descend(n *Node, id int, above []*Node) []*Node {
	here := append(above, n)
	if n.ID == id {
		return here
	}
	for _, c := range n.Children {
		if t := descend(c, id, here); t != nil {
			return t
		}
	}
	return nil
}

// Address gives the path of a node's page.
func (s *Site) Address(id int) string {
	var b strings.Builder
	for _, n := range s.Trail(id)[1:] {
		b.WriteByte('/')
		b.WriteString(n.Slug)
	}
	return b.String()
}

var words = strings.Fields("council harbour budget school river theatre election festival museum market bridge police union winter harvest railway stadium museum library coast")

// Build makes up a site of sections with articles below them.
func Build(sections, articles int, linked bool) *Site {
	rng := rand.New(rand.NewSource(3))
	s := &Site{byID: make(map[int]*Node), linked: linked}
	id := 0
	add := func(p *Node) *Node {
		id++
		a, b := words[rng.Intn(len(words))], words[rng.Intn(len(words))]
		n := &Node{ID: id, Slug: fmt.Sprintf("%s-%s-%d", a, b, id), Title: strings.Title(a) + " & " + b, Parent: p}
		if p != nil {
			p.Children = append(p.Children, n)
		}
		s.byID[id] = n
		return n
	}
	s.root = add(nil)
	all := []*Node{s.root}
	for len(all) < sections {
		p := all[rng.Intn(len(all))]
		all = append(all, add(p))
	}
	for range articles {
		n := add(all[1+rng.Intn(len(all)-1)])
		var b strings.Builder
		for range 12 {
			for w := range 40 {
				word := words[rng.Intn(len(words))]
				if w%11 == 3 {
					word = "*" + word + "*"
				}
				b.WriteString(word)
				b.WriteByte(' ')
			}
			b.WriteString("\n\n")
		}
		n.Body = b.String()
		s.leaves = append(s.leaves, n.ID)
	}
	for _, l := range s.leaves {
		for range 5 {
			s.byID[l].Related = append(s.byID[l].Related, s.leaves[rng.Intn(len(s.leaves))])
		}
	}
	return s
}
