package code

import (
	"fmt"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// EscapesAt returns what the compiler let escape to the heap on the line of a place. The
// compiler writes files relative to where it was run, a profile absolute or by module: one
// must end in the other.
func EscapesAt(m *model.Model, place diagnosis.Place) (out []model.Escaping) {
	for _, e := range m.Escapes {
		if e.Line == place.Line && e.In(place.File) {
			out = append(out, e)
		}
	}
	return out
}

// EscapeWords repeats what the compiler says about the lines of places; ""
// when it was not asked or says nothing.
func EscapeWords(m *model.Model, places []diagnosis.Place) string {
	const most = 4 // values of one finding; the rest are in the compiler's output
	var said []string
	for _, place := range places {
		for _, e := range EscapesAt(m, place) {
			if e.Stays {
				continue
			}
			how := "escapes to the heap"
			if e.Moved {
				how = "is moved to the heap"
			}
			line := fmt.Sprintf("%s:%d %s %s", Base(place.File), place.Line, e.What, how)
			if len(said) < most && (len(said) == 0 || said[len(said)-1] != line) {
				said = append(said, line)
			}
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "The compiler says: " + strings.Join(said, "; ") + "."
}
