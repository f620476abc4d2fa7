package keep

import "testing"

func TestLRU(t *testing.T) {
	loaded := 0
	l := New(2, func(key int) ([]byte, error) { loaded++; return []byte{byte(key)}, nil })
	for _, key := range []int{1, 2, 1, 3, 1, 2} {
		if v, err := l.Get(key); err != nil || v[0] != byte(key) {
			t.Errorf("Get(%d) = %v, %v", key, v, err)
		}
	}
	if loaded != 4 { // 1, 2, 3, and 2 again
		t.Errorf("loaded %d times, want 4", loaded)
	}
}
