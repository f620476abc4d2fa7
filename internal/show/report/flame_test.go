package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/ground/layout"
)

// flameTree has a server that mostly decodes, the collector beside it, a hostile name and
// what is too small to be seen.
func flameTree() *flame.Tree {
	f := func(name string, o flame.Owner) flame.Func { return flame.Func{Name: name, Owner: o} }
	return &flame.Tree{
		Kind: "cpu", Unit: "nanoseconds", Total: 1_000_000_000, Ratio: 1, Note: "By 100 samples.",
		Funcs: []flame.Func{f("net/http.(*conn).serve", flame.Std), f("net/http.HandlerFunc.ServeHTTP", flame.Std), f("example.com/shop.(*Server).list", flame.Own),
			f("encoding/json.(*decodeState).object", flame.Std), f("example.com/shop.sort\x1b[31m", flame.Own), f("runtime.gcBgMarkWorker.func2", flame.Runtime), f("runtime.tiny", flame.Runtime)},
		Parent: []int32{-1, 0, 1, 2, 3, 3, 0, 0},
		Func:   []int32{-1, 0, 1, 2, 3, 4, 5, 6},
		Line:   make([]int32, 8),
		Self:   []int64{0, 0, 0, 50_000_000, 500_000_000, 240_000_000, 200_000_000, 10_000_000},
		Sum:    []int64{1_000_000_000, 790_000_000, 790_000_000, 790_000_000, 500_000_000, 240_000_000, 200_000_000, 10_000_000},
	}
}

func flameText80(t *testing.T, o FlameOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Flame(&b, flameTree(), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFlame(t *testing.T) {
	golden(t, "flame.txt", []byte(flameText80(t, FlameOptions{Others: []string{"sync", "mutex"}})))
	all := flameText80(t, FlameOptions{All: true, Of: 2_000_000_000})
	for _, want := range []string{"50.0% of 2.00 s", "▏http.(*conn).serve 79.0%", "▏http.HandlerFunc.ServeHTTP 79.0%"} {
		if !strings.Contains(all, want) {
			t.Errorf("with all frames it does not say %q:\n%s", want, all)
		}
	}
	for _, width := range []int{48, 80, 100, 200} {
		for _, color := range []bool{false, true} {
			text := flameText80(t, FlameOptions{Options: layout.Options{Width: width, Color: color}})
			if escape := strings.Contains(text, "\x1b["); escape != color || strings.Contains(text, "\x1b[31m") {
				t.Errorf("%d columns, colour %v: %q", width, color, text)
			}
			for _, l := range strings.Split(text, "\n") {
				if n := utf8.RuneCountInString(l); !color && n > width {
					t.Errorf("%d columns: a line has %d: %s", width, n, l)
				}
			}
		}
	}
}

func TestOwnName(t *testing.T) {
	for name, want := range map[string]string{"http.(*conn).serve": "serve", "main.run.func1.2": "run.func1.2", "main.f.gowrap3": "f.gowrap3", "memmove": "memmove", "func1": "func1"} {
		if got := ownName(name); got != want {
			t.Errorf("ownName(%q) = %q, want %q", name, got, want)
		}
	}
}
