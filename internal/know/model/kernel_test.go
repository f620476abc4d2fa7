package model

import "testing"

// The compiler names a file from where it ran, a stack from its module or the root.
func TestEscapingIn(t *testing.T) {
	for _, c := range []struct {
		compiler, profile string
		want              bool
	}{
		{"./geo.go", "/src/app/geo.go", true},
		{"geo/geo.go", "example.org/app@v1.2.3/geo/geo.go", true},
		{"/src/app/geo.go", "/src/app/geo.go", true},
		{"geo.go", "/src/app/pgeo.go", false},
		{"a/geo.go", "/src/b/geo.go", false},
		{"", "/src/app/geo.go", false},
	} {
		if got := (&Escaping{File: c.compiler}).In(c.profile); got != c.want {
			t.Errorf("%q and %q: %v", c.compiler, c.profile, got)
		}
	}
}
