package cache

import "testing"

func TestCache(t *testing.T) {
	c := New(2)
	for i, key := range []string{"a", "b", "b", "c"} {
		c.Put(key, float64(i))
	}
	if _, ok := c.Get("a"); ok {
		t.Error("the oldest is still there")
	}
	if v, ok := c.Get("b"); !ok || v != 2 {
		t.Errorf("b is %v, %v; want what was put last", v, ok)
	}
}
