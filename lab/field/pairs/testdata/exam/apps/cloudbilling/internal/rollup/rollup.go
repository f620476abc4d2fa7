// Package rollup sums lines along the levels of an organisation.
package rollup

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cloudbilling/internal/usage"
)

// A Node is a level: an organisation, a folder, a project, a service or an article.
type Node struct {
	Name   string
	Micros int64
	Lines  int
	Units  map[string]float64
	Below  []*Node // by name, once the tree is finished
	byName map[string]*Node
}

// New returns the tree of an organisation.
func New(org string) *Node { return &Node{Name: org} }

// ErrPath is that of a line which belongs nowhere.
var ErrPath = errors.New("a line without a path")

// Add adds a line to all levels of its path.
func (n *Node) Add(l usage.Line) error {
	if l.Path == "" {
		return fmt.Errorf("%s: %w", n.Name, ErrPath)
	}
	n.count(l)
	at := n
	for part := range strings.SplitSeq(l.Path, "/") {
		at = at.child(part)
		at.count(l)
	}
	if at.Units == nil {
		at.Units = map[string]float64{}
	}
	at.Units[l.Unit] += l.Amount
	return nil
}

func (n *Node) count(l usage.Line) {
	n.Micros += l.Micros
	n.Lines++
}

func (n *Node) child(name string) *Node {
	c := n.byName[name]
	if c == nil {
		c = &Node{Name: name}
		if n.byName == nil {
			n.byName = map[string]*Node{}
		}
		n.byName[name] = c
	}
	return c
}

// Finish puts levels in order.
func (n *Node) Finish() {
	for _, name := range slices.Sorted(maps.Keys(n.byName)) {
		c := n.byName[name]
		c.Finish()
		n.Below = append(n.Below, c)
	}
	n.byName = nil
}
