// Matches counts how often each pattern of needless work is found on any line of other
// people's code, hot or not, and keeps what a person said of some: whether the equivalent would
// do the same and be cheaper there.
//
// It hides how a source tells which calls its stacks would show: functions and methods by
// their types, and the runtime's functions by the operators that the compiler makes them of.
//
//	go run ./bench/patterns/matches -scan $(go env GOROOT)/src,DIR,… # all matches, as lines
//	go run ./bench/patterns/matches -page MATCHES.md                 # the page of what was read
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/pattern"
	"github.com/gowhy/gowhy/internal/read/sourcefile"
)

func main() {
	scan := flag.String("scan", "", "look through these `DIRS`, separated by commas")
	page := flag.String("page", "", "write the page to this `FILE`")
	read := flag.String("read", "bench/patterns/matches/read.txt", "what was said of matches is in this `FILE`")
	flag.Parse()
	var err error
	switch {
	case *scan != "":
		err = scanAll(strings.Split(*scan, ","), os.Stdout)
	case *page != "":
		err = writePage(*read, *page)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "matches:", err)
		os.Exit(1)
	}
}

// A tally is what was looked through, and how often each pattern was found.
type tally struct {
	lines, packages int
	found           map[model.Pattern]int
}

// scanAll writes a line for each match in the packages below some directories, and then what
// there was of each directory.
func scanAll(dirs []string, w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, dir := range dirs {
		t := tally{found: map[model.Pattern]int{}}
		dir, err := filepath.Abs(dir) // modules are found from where a file is
		if err != nil {
			return err
		}
		err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case !d.IsDir():
				return nil
			case at != dir && slices.Contains([]string{"testdata", "vendor", "cmd"}, d.Name()):
				return fs.SkipDir
			}
			t.scan(dir, at, out)
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "= %s %d lines %d packages", filepath.Base(dir), t.lines, t.packages)
		for _, p := range slices.Sorted(maps.Keys(t.found)) {
			fmt.Fprintf(out, " %s=%d", p, t.found[p])
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// scan looks through the package of a directory.
func (t *tally) scan(root, dir string, out io.Writer) {
	set := token.NewFileSet()
	files := parsed(set, dir)
	if len(files) == 0 {
		return
	}
	for _, f := range files {
		t.lines += set.Position(f.End()).Line
	}
	t.packages++
	p := pkg{path: importPath(root, dir), set: set, files: files}
	types := pattern.NewTypes(set, build.Default.GOROOT, func(pkg, from string) ([]*ast.File, bool) {
		m := sourcefile.ModuleAround(from)
		if m == nil {
			return nil, false
		}
		folder, own := m.Folder(pkg)
		return parsed(set, folder), own
	})
	p.info = types.Check(p.path, files)
	p.all = types.Files(files)
	for _, r := range p.reasons() {
		t.found[r.Pattern]++
		file, _ := filepath.Rel(filepath.Dir(named(root)), r.File)
		fmt.Fprintf(out, "%s\t%s:%d\t%s\n", r.Pattern, filepath.ToSlash(file), r.Line, r.What)
	}
}

// parsed returns the files of the package in a directory, without its tests.
func parsed(set *token.FileSet, dir string) (files []*ast.File) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range names {
		ok, err := build.Default.MatchFile(dir, filepath.Base(name))
		if err != nil || !ok || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution); err == nil {
			files = append(files, f)
		}
	}
	return files
}

// named returns the directory that a module has its name from: the one above of a later major version.
func named(root string) string {
	if base, _, versioned := strings.Cut(filepath.Base(root), "@"); versioned && strings.Trim(base, "v0123456789") == "" {
		return filepath.Dir(root)
	}
	return root
}

// importPath returns the path of a package, of the standard library or as if its module's name were
// the directory's.
func importPath(root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		rel = filepath.Base(dir)
	}
	if filepath.Base(root) == "src" {
		return filepath.ToSlash(rel)
	}
	return "example.com/" + filepath.ToSlash(filepath.Join(filepath.Base(root), rel))
}

func compareReasons(a, b model.Reason) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(string(a.Pattern), string(b.Pattern)))
}
