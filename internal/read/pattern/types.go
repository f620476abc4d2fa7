package pattern

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxStandard bounds the bytes of the standard library that are read for its types, and maxModules those of
// other packages: a program imports some two MiB of the first directly, and of the second what its hot packages do.
const (
	maxStandard = 8 << 20
	maxModules  = 4 << 20
)

// A Finder finds the files of a package that is imported by one in a folder, none where they are not here, and says
// whether both are of one module.
type Finder func(pkg, dir string) (files []*ast.File, own bool)

// A Types checks packages as far as what is at hand allows: the package itself, those of its module that it
// imports, and the declarations of other modules' packages and of the standard library's. What is behind these,
// and what is not here, are empty packages: their types are not known.
type Types struct {
	set      *token.FileSet
	root     string // of the standard library's source; "" when it is not here
	find     Finder
	known    map[string]*types.Package
	budget   int64 // bytes of the standard library
	modules  int64 // and of other packages
	info     *types.Info
	packages map[string][]*ast.File // that are checked with their functions
	files    []*ast.File            // of all of these
}

// NewTypes returns one for files of a set, with the standard library at a GOROOT and what finds other packages,
// nil for none.
func NewTypes(set *token.FileSet, goroot string, find Finder) *Types {
	t := &Types{
		set: set, find: find, known: map[string]*types.Package{}, budget: maxStandard, modules: maxModules,
		info: newInfo(), packages: map[string][]*ast.File{},
	}
	if goroot != "" {
		t.root = filepath.Join(goroot, "src")
	}
	return t
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
}

// Check returns what is known of the types in the files of a package.
func (t *Types) Check(pkg string, files []*ast.File) *types.Info {
	if known, ok := t.packages[pkg]; ok && !slices.Equal(known, files) {
		info := newInfo() // with its tests
		t.check(pkg, files, t, info)
		return info
	} else if !ok {
		t.whole(pkg, files)
	}
	return t.info
}

// whole checks a package with its functions.
func (t *Types) whole(pkg string, files []*ast.File) *types.Package {
	t.packages[pkg] = files
	t.files = append(t.files, files...)
	t.known[pkg] = t.check(pkg, files, t, t.info)
	return t.known[pkg]
}

// Files returns a package's files, and after them those of other packages whose functions are checked, too.
func (t *Types) Files(of []*ast.File) []*ast.File {
	all := slices.Clone(of)
	for _, f := range t.files {
		if !slices.Contains(of, f) {
			all = append(all, f)
		}
	}
	return all
}

func (t *Types) check(pkg string, files []*ast.File, from types.Importer, info *types.Info) *types.Package {
	config := types.Config{Importer: from, Error: func(error) {}, FakeImportC: true, IgnoreFuncBodies: info == nil, Sizes: types.SizesFor("gc", "amd64")}
	p, _ := config.Check(pkg, t.set, files, info) // what it does not know is an invalid type
	return p
}

// Import implements [types.Importer].
func (t *Types) Import(of string) (*types.Package, error) { return t.ImportFrom(of, "", 0) }

// ImportFrom implements [types.ImporterFrom].
func (t *Types) ImportFrom(of, dir string, _ types.ImportMode) (*types.Package, error) {
	if p := t.known[of]; p != nil {
		return p, nil
	}
	t.known[of] = empty(of) // for one that imports itself
	p := t.standard(of)
	if p == nil {
		p = t.found(of, dir)
	}
	if p != nil {
		t.known[of] = p
	}
	return t.known[of], nil
}

// found returns a package that is not of the standard library; nil where it is not here.
func (t *Types) found(of, dir string) *types.Package {
	if t.find == nil || dir == "" || t.modules <= 0 {
		return nil
	}
	files, own := t.find(of, dir)
	for _, f := range files {
		t.modules -= int64(f.FileEnd - f.FileStart)
	}
	switch {
	case len(files) == 0:
		return nil
	case own && t.packages[of] == nil:
		return t.whole(of, files)
	}
	return t.check(of, files, few{t}, nil)
}

// few imports of the packages that declarations name most, and empty ones for all others.
type few struct{ *Types }

func (f few) Import(of string) (*types.Package, error) {
	switch of {
	case "context", "io", "io/fs", "net/netip", "net/url", "sync", "time":
		return f.Types.Import(of)
	}
	return nothing{}.Import(of)
}

// ImportFrom implements [types.ImporterFrom], which the one that it embeds does in another way.
func (f few) ImportFrom(of, _ string, _ types.ImportMode) (*types.Package, error) {
	return f.Import(of)
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(of string) (*types.Package, error) {
	if of == "unsafe" {
		return types.Unsafe, nil
	}
	return empty(of), nil
}

func empty(of string) *types.Package {
	name := path.Base(of)
	if v := strings.TrimPrefix(name, "v"); v != name && strings.Trim(v, "0123456789") == "" {
		name = path.Base(path.Dir(of))
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "go-"), ".")
	p := types.NewPackage(of, name)
	p.MarkComplete()
	return p
}

// standard returns a package of the standard library by its declarations.
func (t *Types) standard(of string) *types.Package {
	if of == "unsafe" {
		return types.Unsafe
	}
	if host, _, _ := strings.Cut(of, "/"); t.root == "" || strings.Contains(host, ".") || !filepath.IsLocal(filepath.FromSlash(of)) {
		return nil
	}
	dir := filepath.Join(t.root, filepath.FromSlash(of))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	context := build.Default
	context.CgoEnabled = false
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if t.budget -= info.Size(); t.budget < 0 {
			return nil
		}
		if ok, err := context.MatchFile(dir, name); !ok || err != nil {
			continue
		}
		if f, _ := parser.ParseFile(t.set, filepath.Join(dir, name), nil, parser.SkipObjectResolution); f != nil {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil
	}
	return t.check(of, files, few{t}, nil)
}
