package release

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A module is one at the version that the program was built with.
type module struct{ path, version string }

// A spot is a function of a module.
type spot struct {
	module
	dir    string // of the package, from the module's root
	file   string // without a directory
	symbol string // without the package, like (*Iterator).fill.func1
}

// What the go command is given: neither can begin with a dash, nor steer a go.mod.
var (
	modulePath    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)+(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)
	moduleVersion = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+incompatible)?$`)
)

// maxPath is longer than any path of a file.
const maxPath = 4096

// escaped is how the module cache writes upper case, for file systems that know
// no difference.
var escaped = regexp.MustCompile(`![a-z]`)

func unescape(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(s string) string { return strings.ToUpper(s[1:]) })
}

// locate reads the module from a place: its file is in the module cache, wherever
// that is, or with -trimpath begins with the module, and its package is the module
// with the file's directory behind. That leaves out the standard library, main
// packages, vendored packages, which have no version, and forks in their place.
func locate(p diagnosis.Place) (spot, bool) {
	pkg, symbol := model.SplitSymbol(p.Function)
	at := strings.LastIndexByte(p.File, '@')
	if pkg == "" || at < 0 || len(p.File) > maxPath {
		return spot{}, false
	}
	version, rest, inside := strings.Cut(p.File[at+1:], "/")
	s := spot{dir: path.Dir(rest), file: path.Base(rest), symbol: symbol}
	s.version, s.path = unescape(version), pkg
	if s.dir != "." {
		s.path, inside = strings.CutSuffix(pkg, "/"+s.dir)
	}
	root := "/" + unescape(p.File[:at])
	ok := inside && strings.HasSuffix(root, "/"+s.path) && filepath.IsLocal(filepath.FromSlash(s.dir)) &&
		modulePath.MatchString(s.path) && moduleVersion.MatchString(s.version)
	return s, ok
}
