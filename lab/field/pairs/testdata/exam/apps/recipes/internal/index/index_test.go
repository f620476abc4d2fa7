package index

import (
	"math"
	"testing"

	"recipes/internal/kitchen"
)

func TestSearch(t *testing.T) {
	one, tiers := New(AtMost(1)), New(Tiers(3))
	cook := kitchen.NewCook(1, 500)
	for i := range 730 {
		d := cook.Recipe()
		for _, x := range []*Index{one, tiers} {
			x.Add(d)
			if i%10 == 9 {
				x.Refresh()
			}
		}
	}
	if n := len(*one.segments.Load()); n != 1 {
		t.Fatal("segments:", n)
	}
	if n := len(*tiers.segments.Load()); n < 2 || n > 12 {
		t.Fatal("segments:", n)
	}
	for range 100 {
		q := cook.Question()
		a, b := one.Search(q, 10), tiers.Search(q, 10)
		if len(a) != len(b) {
			t.Fatal(q, a, b)
		}
		for i := range a {
			if a[i].ID != b[i].ID || math.Abs(a[i].Score-b[i].Score) > 1e-9 {
				t.Fatal(q, a, b)
			}
		}
	}
}
