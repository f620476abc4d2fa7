package journey

import (
	"reflect"
	"testing"

	"itineraries/internal/bookings"
)

func TestOrder(t *testing.T) {
	one, two := bookings.Legs(3, 40), bookings.Legs(3, 40)
	if err := (&Planner{}).Order(one); err != nil {
		t.Fatal(err)
	}
	if err := (&Planner{ReadFirst: true}).Order(two); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(one, two) || starts(&one[0]).After(starts(&one[39])) {
		t.Error("legs are in two orders, or in none")
	}
}
