package tariff

import (
	"reflect"
	"testing"
)

// book is one with two carriers.
func book(t *testing.T, live bool) *Book {
	t.Helper()
	b := NewBook(Options{Live: live})
	b.Add(Generate("swift", 10, 1))
	b.Add(Generate("steady", 10, 2))
	b.Add(Generate("swift", 10, 3)) // in place of the first
	return b
}

func TestPrices(t *testing.T) {
	kept, live := book(t, false).Prices("Z004", 900), book(t, true).Prices("Z004", 900)
	if len(kept) != 2 || kept[0].Cents > kept[1].Cents {
		t.Errorf("Prices() = %v, want two, the cheapest first", kept)
	}
	if !reflect.DeepEqual(kept, live) {
		t.Errorf("live prices are %v, kept ones %v", live, kept)
	}
	if got := book(t, false).Prices("Z999", 900); len(got) != 0 {
		t.Errorf("Prices() of no zone = %v", got)
	}
}
