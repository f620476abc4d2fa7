package budget

import (
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	now, used := time.Unix(0, 0), time.Duration(0)
	m := NewMeter(10*time.Second, func() time.Time { return now }, func() time.Duration { return used })
	for range 100 { // a tenth of a CPU, then nothing
		now, used = now.Add(time.Second), used+100*time.Millisecond
		if got := m.Share(); got < 0.099 || got > 0.101 {
			t.Fatalf("Share() = %v, want 0.1", got)
		}
	}
	for range 12 {
		now = now.Add(time.Second)
		m.Share()
	}
	if got := m.Share(); got != 0 {
		t.Errorf("Share() = %v after twelve idle seconds, want 0", got)
	}
	if len(m.points) > 15 {
		t.Errorf("%d points are kept, want those of ten seconds", len(m.points))
	}
}
