package limit

import "testing"

func TestAllow(t *testing.T) {
	l := New(2)
	if !l.Allow("ada") || !l.Allow("ada") || l.Allow("ada") {
		t.Error("want two of three for ada")
	}
	if !l.Allow("bob") {
		t.Error("bob pays for ada")
	}
}
