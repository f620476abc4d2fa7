package modules

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Functions are those of a package by name, like "fill" or "Iterator.fill": one may
// be declared once for each system.
type Functions map[string][]Function

// A Function is a declaration. Its name is for people, like "(*Iterator).fill".
type Function struct {
	Name       string
	file, text string
}

// Packages are those that were read, by directory.
type Packages map[string]Functions

// maxSource bounds the files that are parsed.
const maxSource = 16 << 20

// Functions reads a package of a module in a directory; none when there is no such package.
func (p Packages) Functions(module, dir string) Functions {
	dir = filepath.Join(module, filepath.FromSlash(dir))
	if known, ok := p[dir]; ok {
		return known
	}
	list := Functions{}
	p[dir] = list
	entries, err := os.ReadDir(dir)
	if err != nil {
		return list
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource ||
			!strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		// What can be parsed of a file with errors is compared.
		file, _ := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if file == nil {
			continue
		}
		for _, d := range file.Decls {
			// A package may have several functions init, and their names in a
			// recording are those of its literals, too.
			if d, ok := d.(*ast.FuncDecl); ok && d.Name.Name != "init" {
				key, name := names(d)
				list[key] = append(list[key], Function{name, e.Name(), textOf(d)})
			}
		}
	}
	return list
}

// textOf returns a function without its comments, and without the positions of its
// lines: who formats it anew does not change it.
func textOf(d *ast.FuncDecl) string {
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), d); err != nil {
		return "" // a tree with errors in it
	}
	return b.String()
}

// names are "Iterator.fill" and "(*Iterator).fill" of a method, which may have come
// to another kind of receiver in another version.
func names(d *ast.FuncDecl) (key, name string) {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name, d.Name.Name
	}
	pointer := false
	for t := d.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.ParenExpr:
			t = x.X
		case *ast.StarExpr:
			t, pointer = x.X, true
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			key = x.Name + "." + d.Name.Name
			if pointer {
				return key, "(*" + x.Name + ")." + d.Name.Name
			}
			return key, key
		default:
			return d.Name.Name, d.Name.Name
		}
	}
}

// Find returns the function at a spot and the key that it is listed under: that in
// the spot's file where there are several. A function literal belongs to the function
// around it, in whose name its own begins.
func (l Functions) Find(s Spot) (key string, f Function, ok bool) {
	parts := strings.FieldsFunc(plain(s.Symbol), func(r rune) bool { return strings.ContainsRune(".-()*", r) })
	for n := min(len(parts), 2); n > 0; n-- {
		key = strings.Join(parts[:n], ".")
		list := l[key]
		if len(list) == 0 {
			continue
		}
		i := slices.IndexFunc(list, func(f Function) bool { return f.file == s.File })
		return key, list[max(i, 0)], true
	}
	return "", Function{}, false
}

// plain returns a symbol without type arguments.
func plain(symbol string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch r {
		case '[':
			depth++
			return -1
		case ']':
			depth--
			return -1
		}
		if depth > 0 {
			return -1
		}
		return r
	}, symbol)
}

// Compare says what another version of a package makes of a function: whether it has another body
// there, and whether it is not there any more. One that only moved, or is formatted anew, is the same.
func (l Functions) Compare(key string, used Function) (changed, gone bool) {
	now := l[key]
	if slices.ContainsFunc(now, func(f Function) bool { return f.text == used.text }) {
		return false, false
	}
	return len(now) > 0, len(now) == 0
}
