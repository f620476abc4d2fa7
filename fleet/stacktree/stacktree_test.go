package stacktree

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/fleet/store"
)

// stacksOf makes stacks of texts, root first, with ";".
func stacksOf(values map[string]int64) *store.Stacks {
	s := &store.Stacks{Frames: map[store.StackID][]*store.Frame{}}
	for text, v := range values {
		var frames []*store.Frame
		for name := range strings.SplitSeq(text, ";") {
			if name != "" {
				frames = append([]*store.Frame{{Function: name, File: name + ".go"}}, frames...)
			}
		}
		id := store.IDOf(frames)
		s.Frames[id] = frames
		s.Samples = append(s.Samples, store.Sample{Stack: id, Value: v})
	}
	return s
}

// text writes a tree: each node with what it has itself and in all, by side.
func text(t *Tree, n *Node, indent string) string {
	name := "all"
	if n.Function != All {
		name = t.Functions[n.Function]
	}
	s := fmt.Sprintf("%s%s %d %d\n", indent, name, n.Self, n.Total)
	for _, c := range t.Sorted(n, nil) {
		s += text(t, c, indent+" ")
	}
	return s
}

func TestTree(t *testing.T) {
	tree := New()
	for side, stacks := range []*store.Stacks{
		stacksOf(map[string]int64{"main;a": 3, "main;b;a": 4, "main": 1, "": 2, "main;c": math.MaxInt64}),
		stacksOf(map[string]int64{"main;a": 5, "main;new": 6}),
	} {
		if err := tree.Add(t.Context(), stacks, side); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf(`all [2 0] [%[1]d 11]
 main [1 0] [%[1]d 11]
  a [3 5] [3 5]
  b [0 0] [4 0]
   a [4 0] [4 0]
  c [%[1]d 0] [%[1]d 0]
  new [0 6] [0 6]
`, int64(math.MaxInt64))
	if got := text(tree, &tree.Root, ""); got != want {
		t.Errorf("the tree is\n%s, want\n%s", got, want)
	}
	for i, name := range tree.Functions {
		if tree.Files[i] != name+".go" {
			t.Errorf("%s is in %s", name, tree.Files[i])
		}
	}
	only := tree.Sorted(tree.Root.only, func(n *Node) bool { return n.Total[1] > 0 })
	if len(only) != 2 || tree.Functions[only[0].Function] != "a" || tree.Functions[only[1].Function] != "new" {
		t.Errorf("%d children are on the other side, want a and new", len(only))
	}
}
