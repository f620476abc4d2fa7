// Package modules knows the source of modules as the go command keeps it.
//
// It hides how a module and its version are read from the path of a source file, where downloaded
// modules are, and how the functions of two versions are compared. Nothing is fetched, and
// nothing of what is read is run.
package modules

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// A Module is one at the version that a program was built with.
type Module struct{ Path, Version string }

// A Spot is a function of a module.
type Spot struct {
	Module
	Dir    string // of the package, from the module's root
	File   string // without a directory
	Symbol string // without the package, like (*Iterator).fill.func1
}

// What the go command is given: neither can begin with a dash, nor steer a go.mod.
var (
	modulePath  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)+(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)
	versionForm = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+incompatible)?$`)
)

// maxPath is longer than any path of a file.
const maxPath = 4096

// escaped is how the module cache writes upper case, for file systems that know
// no difference.
var escaped = regexp.MustCompile(`![a-z]`)

// unescape returns the way back from [Escape].
func unescape(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(s string) string { return strings.ToUpper(s[1:]) })
}

// IsVersion reports whether a text is a version of a module.
func IsVersion(version string) bool { return versionForm.MatchString(version) }

// Locate reads the module from a function's package and symbol and the path of its file, which is in
// the module cache, wherever that is, or with -trimpath begins with the module, and its package is the module
// with the file's directory behind. That leaves out the standard library, main
// packages, vendored packages, which have no version, and forks in their place.
func Locate(pkg, symbol, file string) (Spot, bool) {
	at := strings.LastIndexByte(file, '@')
	if pkg == "" || at < 0 || len(file) > maxPath {
		return Spot{}, false
	}
	version, rest, inside := strings.Cut(file[at+1:], "/")
	s := Spot{Dir: path.Dir(rest), File: path.Base(rest), Symbol: symbol}
	s.Version, s.Path = unescape(version), pkg
	if s.Dir != "." {
		s.Path, inside = strings.CutSuffix(pkg, "/"+s.Dir)
	}
	root := "/" + unescape(file[:at])
	ok := inside && strings.HasSuffix(root, "/"+s.Path) && filepath.IsLocal(filepath.FromSlash(s.Dir)) &&
		modulePath.MatchString(s.Path) && versionForm.MatchString(s.Version)
	return s, ok
}

// Caches returns the folders of downloaded modules, as the go command chooses them.
func Caches() (roots []string) {
	if c := os.Getenv("GOMODCACHE"); c != "" {
		return []string{c}
	}
	for _, p := range filepath.SplitList(os.Getenv("GOPATH")) {
		roots = append(roots, filepath.Join(p, "pkg", "mod"))
	}
	if home, err := os.UserHomeDir(); err == nil && len(roots) == 0 {
		roots = append(roots, filepath.Join(home, "go", "pkg", "mod"))
	}
	return roots
}

// Escape returns a module's path or version as the folder of downloaded ones has it: an upper-case
// letter is an exclamation mark and the lower-case one.
func Escape(path string) string {
	var b strings.Builder
	for _, r := range path {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
