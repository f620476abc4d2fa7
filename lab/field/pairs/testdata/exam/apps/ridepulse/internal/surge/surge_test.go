package surge

import (
	"slices"
	"testing"

	"ridepulse/internal/feed"
	"ridepulse/internal/window"
)

func TestBoard(t *testing.T) {
	var want []Zone
	for _, state := range []string{"windows", "panes"} {
		agg, err := window.New(state, window.Layout{Size: 30, Slide: 1})
		if err != nil {
			t.Fatal(err)
		}
		b := NewBoard(agg, 12)
		source := feed.NewSource(100, 5, 1741608000)
		var got []Zone
		for range 40 {
			if err := b.Handle(source.Next(100)); err != nil {
				t.Fatal(err)
			}
			got = append(got, b.Top(5)...)
		}
		if b.Published() < 150 || len(got) == 0 {
			t.Errorf("%s: %d windows, %d zones", state, b.Published(), len(got))
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the top zones differ", state)
		}
	}
}
