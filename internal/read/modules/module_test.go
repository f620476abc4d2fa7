package modules

import (
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A recording can name whatever it likes: only modules reach the go command.
func TestLocate(t *testing.T) {
	for _, c := range []struct {
		function, file string
		want           string // path@version, the package's directory, the file and the symbol
	}{
		{"github.com/dgraph-io/badger/v4.(*Iterator).fill.func1", "/home/a@b/go/pkg/mod/github.com/dgraph-io/badger/v4@v4.2.0/iterator.go", "github.com/dgraph-io/badger/v4@v4.2.0 . iterator.go (*Iterator).fill.func1"},
		{"gopkg.in/yaml%2ev3.(*decoder).unmarshal", "gopkg.in/yaml.v3@v3.0.1/decode.go", "gopkg.in/yaml.v3@v3.0.1 . decode.go (*decoder).unmarshal"},
		{"golang.org/x/net/http2/hpack.Decode", "C:/go/pkg/mod/golang.org/x/net@v0.1.1-0.20260102150405-0123456789ab/http2/hpack/decode.go", "golang.org/x/net@v0.1.1-0.20260102150405-0123456789ab http2/hpack decode.go Decode"},
		{"github.com/BurntSushi/toml.Decode", "/m/github.com/!burnt!sushi/toml@v1.2.3-!r!c.1+incompatible/decode.go", "github.com/BurntSushi/toml@v1.2.3-RC.1+incompatible . decode.go Decode"},

		{"runtime.mallocgc", "/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.1.linux-amd64/src/runtime/malloc.go", ""},
		{"main.main", "/go/pkg/mod/example.com/app@v1.0.0/main.go", ""},
		{"example.com/x.F", "/src/vendor/example.com/x/x.go", ""},
		{"example.com/x.F", "/go/pkg/mod/example.com/fork@v1.0.0/x.go", ""},
		{"example.com/x.F", "", ""},
		{"", "example.com/x@v1.0.0/x.go", ""},
		{"-x.com/x.F", "/go/pkg/mod/-x.com/x@v1.0.0/x.go", ""},
		{"example.com/x.F", "example.com/x@-v1.0.0/x.go", ""},
		{"example.com/x.F", "example.com/x@latest/x.go", ""},
		{"example.com/x.F", "example.com/x@v1.0.0", ""},
		{"example.com/x/../../etc.F", "example.com/x@v1.0.0/../../etc/passwd", ""},
		{"example.com/x/...F", "example.com/x/..@v1.0.0/x.go", ""},
		{"example.com/x\n\nreplace y => /z.F", "example.com/x\n\nreplace y => /z@v1.0.0/x.go", ""},
		{"example.com/x.F", "example.com/x@v1.0.0\n)/x.go", ""},
		{"example.com/x\x1b[2J.F", "example.com/x\x1b[2J@v1.0.0/x.go", ""},
		{"corp/x.F", "corp/x@v1.0.0/x.go", ""},
		{"example.com/x.F", strings.Repeat("a/", maxPath) + "example.com/x@v1.0.0/x.go", ""},
	} {
		pkg, symbol := model.SplitSymbol(c.function)
		s, ok := Locate(pkg, symbol, c.file)
		got := s.Path + "@" + s.Version + " " + s.Dir + " " + s.File + " " + s.Symbol
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%.60q in %.80q is %v, %q, want %q", c.function, c.file, ok, got, c.want)
		}
	}
}
