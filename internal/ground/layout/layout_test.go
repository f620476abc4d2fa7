package layout

import (
	"reflect"
	"testing"
)

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		name  string
		width int
		want  string
	}{
		{"main.main", 9, "main.main"},
		{"net/http.(*conn).serve", 21, "…/http.(*conn).serve"},
		{"net/http.(*conn).serve", 18, "http.(*conn).serve"},
		{"net/http.(*conn).serve", 12, "htt…n).serve"},
		{"slices.Sort[go.shape.[]a/b.T]", 20, "slices…hape.[]a/b.T]"},
	} {
		if got := Shorten(tt.name, tt.width); got != tt.want {
			t.Errorf("%s in %d: %q, want %q", tt.name, tt.width, got, tt.want)
		}
	}
}

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 世界 █":      "plain é 世界 █",
		"a\x1b[31mb":        `a\x1b[31mb`,
		"line\nbreak\ttab":  `line\nbreak\ttab`,
		"\x9b31m":           "\ufffd31m",
		"\u009b31m":         `\u009b31m`,
		"a\u202eb\u2066c":   `a\u202eb\u2066c`,
		"zero\u200bwidth":   `zero\u200bwidth`,
		"bad\xff\xfe utf-8": "bad\ufffd\ufffd utf-8",
		"del\x7f nul\x00":   `del\x7f nul\x00`,
	} {
		if got := Safe(in); got != want {
			t.Errorf("Safe(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := Lines("  one two\n three averyveryverylongword four ", 9)
	if want := []string{"one two", "three", "averyveryverylongword", "four"}; !reflect.DeepEqual(got, want) {
		t.Errorf("Lines() = %q, want %q", got, want)
	}
	for text, want := range map[string][]string{
		"run `go test -v` again":          {"run", "`go test -v`", "again"},
		"(`go test`), `go vet`.":          {"(`go test`),", "`go vet`."},
		"an odd ` stays":                  {"an odd `", "stays"},
		"`too long for a line` it breaks": {"`too long for", "a line` it", "breaks"},
		"``` one":                         {"``` one"},
	} {
		if got := Lines(text, 13); !reflect.DeepEqual(got, want) {
			t.Errorf("Lines(%q, 13) = %q, want %q", text, got, want)
		}
	}
	if got := Lines(" \n ", 9); got != nil {
		t.Errorf("Lines(blanks) = %q, want nil", got)
	}
}
