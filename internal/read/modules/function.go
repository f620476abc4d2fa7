package modules

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Functions are those of a package by name, like "fill" or "Iterator.fill": one may
// be declared once for each system.
type Functions map[string][]Function

// A Function is a declaration. Its name is for people, like "(*Iterator).fill".
type Function struct {
	Name       string
	file, text string
	mentions   []string // the identifiers in its body
	imports    []string // of its file
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
		imports := importsOf(file)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				// A package may have several functions init, and their names in a
				// recording are those of its literals, too.
				if d.Name.Name != "init" {
					key, name := names(d)
					list[key] = append(list[key], Function{name, e.Name(), textOf(d), bodyMentions(d), imports})
				}
			case *ast.GenDecl:
				list.addValues(d, e.Name(), imports)
			}
		}
	}
	return list
}

// ofValue begins the keys of variables, which no symbol has: a table of functions mentions these.
const ofValue = "= "

// addValues adds what the values of variables mention but for what is called to make them, once.
func (l Functions) addValues(d *ast.GenDecl, file string, imports []string) {
	for _, spec := range d.Specs {
		spec, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		mentions := mentionsOf(spec, true)
		for _, name := range spec.Names {
			l[ofValue+name.Name] = append(l[ofValue+name.Name], Function{file: file, mentions: mentions, imports: imports})
		}
	}
}

// bodyMentions returns the identifiers in the body of a function.
func bodyMentions(d *ast.FuncDecl) []string {
	if d.Body == nil { // in assembly
		return nil
	}
	return mentionsOf(d.Body, false)
}

// importsOf returns the packages that a file imports.
func importsOf(file *ast.File) (paths []string) {
	for _, i := range file.Imports {
		if path, err := strconv.Unquote(i.Path.Value); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// mentionsOf returns the identifiers in a tree, each once, or those of them that are not called there at once.
func mentionsOf(tree ast.Node, uncalled bool) []string {
	once, called := map[string]bool{}, map[ast.Node]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			for _, name := range mentionsOf(n.Body, false) {
				once[name] = true
			}
			return false
		case *ast.CallExpr:
			called[n.Fun] = uncalled
		case *ast.SelectorExpr:
			called[n.Sel], called[n.X] = called[n], called[n]
		case *ast.Ident:
			if !called[n] {
				once[n.Name] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(once))
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
