package screen

import (
	"testing"

	"github.com/gdamore/tcell/v2"
)

// What is drawn over something else is as if it were drawn on an empty screen.
func TestGrid(t *testing.T) {
	const width = 12
	red := tcell.StyleDefault.Foreground(tcell.ColorRed)
	begin := func() tcell.SimulationScreen {
		s := tcell.NewSimulationScreen("UTF-8")
		if err := s.Init(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Fini)
		s.SetSize(width, 1)
		return s
	}
	draw := func(s tcell.Screen, g *grid, text string, style tcell.Style) int {
		g.begin(width, 1)
		end := canvas{s, g}.put(0, 0, style, text)
		g.end(s)
		s.Show()
		return end
	}
	over, kept := begin(), &grid{}
	for _, c := range []struct {
		text  string
		style tcell.Style
		end   int
	}{
		{"plain", tcell.StyleDefault, 5},
		{"plain", red, 5},
		{"twelve cells", red, 12},
		{"more than twelve", red, 12},
		{"日本語", red, 6},
		{"日本語日本語日本語", red, 12},
		{"abcdef", red, 6},
		{"e\u0301e", red, 2},
		{"a\x1b[31m", tcell.StyleDefault, 9},
		{"", tcell.StyleDefault, 0},
		{"aé", tcell.StyleDefault, 2},
	} {
		alone := begin()
		if end := draw(over, kept, c.text, c.style); end != c.end {
			t.Errorf("%q ends at %d, want %d", c.text, end, c.end)
		}
		draw(alone, &grid{}, c.text, c.style)
		for x := range width {
			got, gs, gw := over.Get(x, 0)
			want, ws, ww := alone.Get(x, 0)
			if got != want || gs != ws || gw != ww {
				t.Errorf("%q: cell %d has %q %v %d, on an empty screen %q %v %d", c.text, x, got, gs, gw, want, ws, ww)
			}
		}
	}
}
