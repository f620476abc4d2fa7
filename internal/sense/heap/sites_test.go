package heap

import (
	"math"
	"testing"

	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// TestMadeBy: objects are a place's that made nearly all of those that are sampled.
func TestMadeBy(t *testing.T) {
	for name, tt := range map[string]struct {
		samples map[string]int
		objects uint64
		want    string
	}{
		"one":                      {map[string]int{"main.a": 30}, 1e6, "main.a"},
		"of two nearly all":        {map[string]int{"main.a": 95, "main.b": 5}, 1e6, "main.a"},
		"of two not nearly all":    {map[string]int{"main.a": 80, "main.b": 20}, 1e6, ""},
		"few of many":              {map[string]int{"main.a": 6}, 1e6, ""},
		"few, but all of them":     {map[string]int{"main.a": 2}, 2, "main.a"},
		"as many as are enough":    {map[string]int{"main.a": 7}, 1e6, "main.a"},
		"enough, one of another's": {map[string]int{"main.a": 7, "main.b": 1}, 1e6, ""},
		"none":                     {nil, 5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := &made{}
			for place, n := range tt.samples {
				for range n {
					m.add(place, 2)
				}
			}
			if got := m.by(tt.objects); got != tt.want {
				t.Errorf("by(%d) = %q, want %q", tt.objects, got, tt.want)
			}
		})
	}
}

// TestEach: a sampled object stands for as many as the runtime's own profile counts for it.
func TestEach(t *testing.T) {
	for _, tt := range []struct {
		rate, size int64
		want       float64
	}{
		{512 << 10, 512, 1024.5}, {512 << 10, 512 << 10, 1.582}, {512 << 10, 64 << 20, 1}, {1, 16, 1}, {512 << 10, 0, 1},
	} {
		if got := (&profile{rate: tt.rate}).each(tt.size); math.Abs(got/tt.want-1) > 0.001 {
			t.Errorf("each(%d) at rate %d = %v, want %v", tt.size, tt.rate, got, tt.want)
		}
	}
}

func TestPlace(t *testing.T) {
	main := symbols.Place{Func: "main.load", File: "/src/cache.go", Line: 12}
	for name, tt := range map[string]struct {
		stack []symbols.Place
		want  string
	}{
		"own line":              {[]symbols.Place{main, {Func: "main.main", File: "/src/main.go", Line: 3}}, "main.load cache.go:12"},
		"the library's, for it": {[]symbols.Place{{Func: "bytes.growSlice"}, {Func: "bytes.(*Buffer).grow"}, main}, "bytes.(*Buffer).grow for main.load cache.go:12"},
		"the library's alone":   {[]symbols.Place{{Func: "net/http.(*conn).serve", File: "/go/server.go", Line: 7}}, "net/http.(*conn).serve server.go:7"},
		"none":                  {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &profile{stack: func(uint64) []symbols.Place { return tt.stack }, known: map[uint64]string{}}
			if got := p.place(1); got != tt.want {
				t.Errorf("place() = %q, want %q", got, tt.want)
			}
		})
	}
}
