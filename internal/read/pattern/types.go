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
	"strings"
)

// maxStandard bounds the bytes of the standard library that are read for its types: a
// program imports some two MiB directly.
const maxStandard = 8 << 20

// A Types checks packages as far as what is at hand allows: the package itself, and the
// declarations of the standard library's packages that it imports. What is behind these,
// and other modules, are empty packages: their types are not known.
type Types struct {
	set    *token.FileSet
	root   string // of the standard library's source; "" when it is not here
	known  map[string]*types.Package
	budget int64
}

// NewTypes returns one for files of a set, with the standard library at a GOROOT.
func NewTypes(set *token.FileSet, goroot string) *Types {
	t := &Types{set: set, known: map[string]*types.Package{}, budget: maxStandard}
	if goroot != "" {
		t.root = filepath.Join(goroot, "src")
	}
	return t
}

// Check returns what is known of the types in the files of a package.
func (t *Types) Check(pkg string, files []*ast.File) *types.Info {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	t.check(pkg, files, t, info)
	return info
}

func (t *Types) check(pkg string, files []*ast.File, from types.Importer, info *types.Info) *types.Package {
	config := types.Config{Importer: from, Error: func(error) {}, FakeImportC: true, IgnoreFuncBodies: info == nil, Sizes: types.SizesFor("gc", "amd64")}
	p, _ := config.Check(pkg, t.set, files, info) // what it does not know is an invalid type
	return p
}

// Import implements [types.Importer].
func (t *Types) Import(of string) (*types.Package, error) {
	if p := t.known[of]; p != nil {
		return p, nil
	}
	p := t.standard(of)
	if p == nil {
		p = empty(of)
	}
	t.known[of] = p
	return p, nil
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
	return t.check(of, files, nothing{}, nil)
}
