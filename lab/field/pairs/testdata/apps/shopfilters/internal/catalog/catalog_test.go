package catalog

import (
	"reflect"
	"testing"
)

func TestSearch(t *testing.T) {
	c := Generate(500)
	conditions := []Condition{Resembles("oakan"), In("clocks"), Below(90000), Available()}
	asked := c.Search(conditions, 20)
	c.Planned = true
	if planned := c.Search(conditions, 20); len(asked) == 0 || !reflect.DeepEqual(asked, planned) {
		t.Errorf("in the asked order %v, in the planned one %v", asked, planned)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"lamp", "lamp", 0}, {"lamp", "lamps", 1}, {"oaken", "oakan", 1}, {"rug", "bed", 3}, {"", "sofa", 4}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%s, %s) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
