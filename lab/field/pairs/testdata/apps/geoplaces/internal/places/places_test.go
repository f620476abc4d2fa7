package places

import "testing"

func TestName(t *testing.T) {
	tree, packed := NewTree(100), NewPacked(100)
	for code := range uint32(102) {
		a, ok := tree.Name(nil, code)
		b, also := packed.Name(nil, code)
		if string(a) != string(b) || ok != also || ok != (code < 100) {
			t.Errorf("%d: %q, %v in the tree; %q, %v packed", code, a, ok, b, also)
		}
	}
}
