package rule

import "testing"

func TestFixtures(t *testing.T) {
	for _, c := range []struct {
		total, count int64
		want         bool
	}{{24, 12, true}, {23, 12, false}, {600, 6, false}} {
		if got := sick(c.total, c.count); got != c.want {
			t.Errorf("sick(%d, %d) = %v, want %v", c.total, c.count, got, c.want)
		}
	}
}
