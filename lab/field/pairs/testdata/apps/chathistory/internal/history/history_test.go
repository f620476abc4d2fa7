package history

import (
	"reflect"
	"testing"

	"chathistory/internal/talk"
)

func TestRooms(t *testing.T) {
	list, ring := NewList(5), NewRing(5)
	for i := range 12 {
		list.Say(talk.Message(i))
		ring.Say(talk.Message(i))
		if a, b := list.Newest(3), ring.Newest(3); !reflect.DeepEqual(a, b) || a[0].Number != i {
			t.Errorf("after %d: the list has %v, the ring %v", i, a, b)
		}
	}
}
