package listing

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxSource bounds the files that are read.
const maxSource = 16 << 20

// findRoot returns the directory of the workspace or module that dir is in.
func findRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	module := ""
	for d := dir; ; {
		if isFile(filepath.Join(d, "go.work")) {
			return d, nil
		}
		if module == "" && isFile(filepath.Join(d, "go.mod")) {
			module = d
		}
		up := filepath.Dir(d)
		if up == d {
			break
		}
		d = up
	}
	if module == "" {
		return "", errors.New("there is no go.mod in this directory or above it: run this in the program's source")
	}
	return module, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// A source is what was found of a function.
type source struct {
	path     string
	modified time.Time
	first    int // number of the first line
	lines    []string
}

// find looks for the function under root. A recording names files as the
// machine that compiled them had them, or by module: what is the same here is
// the end of the path. That end may fit another file, so the function must be
// declared there, around the line.
func find(root string, s spot) (source, error) {
	if !strings.HasSuffix(s.file, ".go") {
		return source{}, errors.New("it is not Go source")
	}
	rest := filepath.ToSlash(filepath.Clean(s.file))
	if under, err := filepath.Rel(root, s.file); err == nil && filepath.IsLocal(under) {
		rest = filepath.ToSlash(under)
	}
	rest = strings.TrimPrefix(rest, "/")
	seen := ""
	for {
		path := filepath.Join(root, filepath.FromSlash(rest))
		if filepath.IsLocal(filepath.FromSlash(rest)) && isFile(path) {
			src, err := read(path, s)
			if err == nil {
				return src, nil
			}
			seen = err.Error()
		}
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			break
		}
		rest = after
	}
	if seen != "" {
		return source{}, errors.New(seen)
	}
	return source{}, fmt.Errorf("it is not in %s", root)
}

// read takes the function around the lines out of a file.
func read(path string, s spot) (source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return source{}, err
	}
	if info.Size() > maxSource {
		return source{}, fmt.Errorf("%s is larger than %d MiB", path, maxSource>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return source{}, err
	}
	begin, end, ok := around(path, data, s)
	if !ok {
		return source{}, fmt.Errorf("%s does not declare it around line %d: it was changed since, or is another program's", path, s.lines[0])
	}
	all := strings.Split(string(data), "\n")
	begin, end = window(begin, min(end, len(all)), s.lines)
	return source{path: path, modified: info.ModTime(), first: begin, lines: all[begin-1 : end]}, nil
}

// around finds the declaration that holds the first of the lines and has the
// function's name.
func around(path string, data []byte, s spot) (begin, end int, ok bool) {
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, path, data, parser.SkipObjectResolution)
	if file == nil {
		return 0, 0, false
	}
	for _, d := range file.Decls {
		begin, end := fset.Position(d.Pos()).Line, fset.Position(d.End()).Line
		if s.lines[0] < begin || s.lines[0] > end {
			continue
		}
		f, isFunc := d.(*ast.FuncDecl)
		// Literals at package level are functions of the package's init.
		return begin, end, !isFunc || named(s.name, f.Name.Name)
	}
	return 0, 0, false
}

// named tells whether a symbol like "a/b.(*T[...]).f.func1" is of the declared
// function f or of a literal in it.
func named(symbol, f string) bool {
	if i := strings.IndexByte(symbol, '['); i >= 0 {
		if j := strings.LastIndexByte(symbol, ']'); j > i {
			symbol = symbol[:i] + symbol[j+1:]
		}
	}
	_, symbol, _ = strings.Cut(symbol[strings.LastIndexByte(symbol, '/')+1:], ".") // without the package
	return slices.Contains(strings.FieldsFunc(symbol, func(r rune) bool { return r == '.' || r == '-' }), f)
}

// window cuts a long function down to what is around its places.
func window(begin, end int, lines []int) (int, int) {
	if end-begin < maxLines {
		return begin, end
	}
	first, last := slices.Min(lines), min(slices.Max(lines), end)
	middle := (first + min(last, first+maxLines/2)) / 2
	begin = max(begin, min(middle-maxLines/2, end-maxLines+1))
	return begin, min(end, begin+maxLines-1)
}
