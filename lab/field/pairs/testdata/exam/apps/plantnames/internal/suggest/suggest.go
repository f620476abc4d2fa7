// Package suggest is the field where gardeners type.
package suggest

import (
	"fmt"
	"html"
	"strings"

	"plantnames/internal/shelf"
	"plantnames/internal/trie"
)

// A Finder finds the numbers of names that begin in a way.
type Finder interface {
	Find(prefix string, most int) []int32
}

// A Box proposes names.
type Box struct {
	names []string
	find  Finder
	most  int
}

// New makes a box of names, which are kept in an order.
func New(order string, names []string, most int) (*Box, error) {
	b := &Box{names: names, most: most}
	folded := make([]string, len(names))
	for i, n := range names {
		folded[i] = Fold(n)
	}
	switch order {
	case "tree":
		root := &trie.Node{}
		for i, n := range folded {
			root.Add(n, int32(i))
		}
		b.find = root
	case "shelf":
		b.find = shelf.New(folded)
	default:
		return nil, fmt.Errorf("names are not kept in a %q", order)
	}
	return b, nil
}

// Fold makes a name what it is found by.
func Fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "'", "")) }

// Key returns the list that is shown after a key.
func (b *Box) Key(typed string) string {
	var out strings.Builder
	out.WriteString("<ul role=listbox>\n")
	for i, n := range b.find.Find(Fold(typed), b.most) {
		name := b.names[n]
		fmt.Fprintf(&out, "<li id=o%d><b>%s</b>%s <a href=\"/plants/%d\">show</a></li>\n", i,
			html.EscapeString(name[:min(len(typed), len(name))]), html.EscapeString(name[min(len(typed), len(name)):]), n)
	}
	out.WriteString("</ul>\n")
	return out.String()
}
