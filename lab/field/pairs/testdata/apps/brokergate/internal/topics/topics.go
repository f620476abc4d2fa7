// Package topics finds the subscribers of a topic; + and # stand for levels.
package topics

import "strings"

// Subscriber gets publications.
type Subscriber struct {
	Name  string
	Count int64
	Bytes int64
	Last  [64]byte
}

type node struct {
	kids       map[string]*node
	subs, rest []*Subscriber
}

// Tree is the set of subscriptions.
type Tree struct{ root node }

// Add subscribes to a filter.
func (t *Tree) Add(filter string, s *Subscriber) {
	n := &t.root
	for level := range strings.SplitSeq(filter, "/") {
		if level == "#" {
			n.rest = append(n.rest, s)
			return
		}
		if n.kids == nil {
			n.kids = make(map[string]*node)
		}
		next := n.kids[level]
		if next == nil {
			next = &node{}
			n.kids[level] = next
		}
		n = next
	}
	n.subs = append(n.subs, s)
}

// Match appends to dst who wants the topic.
func (t *Tree) Match(dst []*Subscriber, topic string) []*Subscriber {
	return t.root.match(dst, topic, false)
}

func (n *node) match(dst []*Subscriber, topic string, end bool) []*Subscriber {
	dst = append(dst, n.rest...)
	if end {
		return append(dst, n.subs...)
	}
	level, rest, more := strings.Cut(topic, "/")
	if k := n.kids[level]; k != nil {
		dst = k.match(dst, rest, !more)
	}
	if k := n.kids["+"]; k != nil {
		dst = k.match(dst, rest, !more)
	}
	return dst
}
