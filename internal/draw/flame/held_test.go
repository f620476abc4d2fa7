package flame

import (
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestHeld: holders are below the root, the most first, and what a step has is never more than
// what leads to it has, whatever a look says.
func TestHeld(t *testing.T) {
	of := func(n uint64) model.ObjectSum { return model.ObjectSum{Objects: 1, Bytes: n} }
	tree := HolderTree(&model.HeapLook{Reached: of(120), Holders: []model.Holder{
		{Kind: model.HeldByGoroutines, Name: "net/http.(*conn).serve", Count: 12, ObjectSum: of(20), Path: []model.HolderStep{{Field: "main.handle"}, {Type: "[]byte", ObjectSum: of(19), Retained: 99}}},
		{Kind: model.HeldByVariable, Name: "main.cache", ObjectSum: of(90), Path: []model.HolderStep{{Field: ".sessions", Type: "map[string]*main.Session", Retained: 88}, {Type: "main.Session", Retained: 80}, {Field: ".raw", Size: 48, Retained: 70}}},
	}}, Owners{})
	want := []struct {
		name   string
		parent int32
		sum    int64
		owner  Owner
	}{
		{"", -1, 120, Own}, {"main.cache.sessions", 0, 90, Own}, {"map[string]*main.Session", 1, 88, Own}, {"main.Session.raw", 2, 80, Own}, {"48-byte objects", 3, 70, Runtime},
		{"12 goroutines in net/http.(*conn).serve in main.handle", 0, 20, Std}, {"[]byte", 5, 20, Runtime},
	}
	if len(tree.Sum) != len(want) || tree.Total != 120 {
		t.Fatalf("%d nodes of %d bytes, want %d of 120: %+v", len(tree.Sum), tree.Total, len(want), tree)
	}
	for i, w := range want {
		var f Func
		if tree.Func[i] >= 0 {
			f = tree.Funcs[tree.Func[i]]
		}
		if f.Name != w.name || f.Owner != w.owner || tree.Parent[i] != w.parent || tree.Sum[i] != w.sum {
			t.Errorf("node %d is %q of %v below %d with %d, want %+v", i, f.Name, f.Owner, tree.Parent[i], tree.Sum[i], w)
		}
	}
	if tree.Self[4] != 70 || tree.Self[6] != 20 || tree.Self[1] != 0 {
		t.Errorf("of their own %v, want that of the last of each way", tree.Self)
	}
}

// TestHeldWays: a look with all ways has them all, what has most first, each with what is behind it.
func TestHeldWays(t *testing.T) {
	of := func(n uint64) model.ObjectSum { return model.ObjectSum{Objects: 1, Bytes: n} }
	tree := HolderTree(&model.HeapLook{Reached: of(130), Tree: []model.HeldNode{
		{Parent: -1, Type: "12 goroutines in net/http.(*conn).serve", ObjectSum: of(20)},
		{Parent: -1, Type: "main.cache", ObjectSum: of(1)}, {Parent: 1, Field: ".few", Type: "[]byte", ObjectSum: of(9)}, {Parent: 1, Field: ".many", Type: "[]string", ObjectSum: of(30)},
		{Parent: 3, Type: "string", ObjectSum: of(70)},
	}}, Owners{})
	want := []struct {
		name      string
		parent    int32
		sum, self int64
		owner     Owner
	}{
		{"", -1, 130, 0, Own}, {"main.cache", 0, 110, 1, Own}, {"main.cache.many []string", 1, 100, 30, Runtime}, {"string", 2, 70, 70, Runtime},
		{"main.cache.few []byte", 1, 9, 9, Runtime}, {"12 goroutines in net/http.(*conn).serve", 0, 20, 20, Std},
	}
	if len(tree.Sum) != len(want) || tree.Total != 130 {
		t.Fatalf("%d nodes of %d bytes, want %d of 130: %+v", len(tree.Sum), tree.Total, len(want), tree)
	}
	for i, w := range want {
		var f Func
		if tree.Func[i] >= 0 {
			f = tree.Funcs[tree.Func[i]]
		}
		if f.Name != w.name || f.Owner != w.owner || tree.Parent[i] != w.parent || tree.Sum[i] != w.sum || tree.Self[i] != w.self {
			t.Errorf("node %d is %q of %v below %d with %d, %d its own, want %+v", i, f.Name, f.Owner, tree.Parent[i], tree.Sum[i], tree.Self[i], w)
		}
	}
}

func TestPointee(t *testing.T) {
	for name, want := range map[string]string{
		"map[string]*a.B": "a.B", "[]*a.B": "a.B", "[4]a.B": "a.B", "chan a.B": "a.B", "*a.B[int]": "a.B[int]", "map[string][]byte": "byte", "[": "", "": "",
	} {
		if got := pointee(name); got != want {
			t.Errorf("pointee(%q) = %q, want %q", name, got, want)
		}
	}
}
