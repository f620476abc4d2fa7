package diagnosis

import (
	"testing"

	"github.com/gowhy/gowhy/internal/model"
)

// What recording does in a program is not the program's, wherever it was
// called from.
func TestOfRecording(t *testing.T) {
	work := model.Frame{Func: "main.work", File: "main.go", Line: 4}
	for leaf, want := range map[string]bool{
		"github.com/gowhy/gowhy/agent.snapshot":      true,
		"github.com/gowhy/gowhy/agent.(*conn).serve": true,
		"net/http/pprof.Index":                       true,
		"github.com/other/gowhy/agent.snapshot":      false,
		"runtime/pprof.StartCPUProfile":              false, // the program's own idea
		"net/http.(*conn).serve":                     false,
	} {
		frames := []model.Frame{{Func: "bytes.growSlice", Line: 9}, {Func: leaf, File: "f.go", Line: 7}, work}
		if got := OfRecording(frames); got != want {
			t.Errorf("%s: %v, want %v", leaf, got, want)
		}
		if place, ok := UserPlace(frames); ok == want {
			t.Errorf("%s: the user's place is %v", leaf, place)
		}
	}
}
