package gate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// maxSource bounds a file in which benchmarks are looked for.
const maxSource = 4 << 20

// benchmarksIn finds the benchmarks of a package's directory. What cannot be
// parsed has none.
func benchmarksIn(dir string) map[string]Position {
	found := map[string]Position{}
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*_test.go"))
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && isBenchmark(f) {
				found[f.Name.Name] = Position{path, fset.Position(f.Pos()).Line}
			}
		}
	}
	return found
}

// escapeGlob keeps a directory's name from being a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// isBenchmark is testing's rule: a function of one *testing.B whose name goes
// on with no lower-case letter.
func isBenchmark(f *ast.FuncDecl) bool {
	rest, ok := strings.CutPrefix(f.Name.Name, "Benchmark")
	first, _ := utf8.DecodeRuneInString(rest)
	if !ok || rest != "" && unicode.IsLower(first) || f.Recv != nil || f.Type.TypeParams != nil || f.Type.Params.NumFields() != 1 {
		return false
	}
	star, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "B"
}

// packagesWithBenchmarks lists the directories of a module that have some,
// relative to it, with their benchmarks' names.
func packagesWithBenchmarks(dir string) (map[string][]string, error) {
	found := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // what cannot be read is nothing to measure
		}
		if path != dir && skipped(path, d.Name()) {
			return filepath.SkipDir
		}
		if names := slices.Sorted(maps.Keys(benchmarksIn(path))); len(names) > 0 {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			found[filepath.ToSlash(rel)] = names
		}
		return nil
	})
	return found, err
}

// skipped reports whether the go command would not look there either: hidden
// directories, test data, vendored packages, other modules.
func skipped(path, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" || name == "node_modules" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// Starter returns a policy to begin with, for the benchmarks of the module in a
// directory: their allocations, which need no quiet machine. The error is a
// [*problem.Error] when there are none.
func Starter(dir string) ([]byte, error) {
	found, err := packagesWithBenchmarks(dir)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, problem.New(problem.Failure, "write one: func BenchmarkParse(b *testing.B) { for b.Loop() { Parse(input) } }", "there are no benchmarks below %q", dir)
	}
	var b strings.Builder
	b.WriteString(starterHead)
	for i, rel := range slices.Sorted(maps.Keys(found)) {
		if i > 0 {
			b.WriteString("\n")
		}
		pkg := "./" + rel
		if rel == "." {
			pkg = "."
		}
		fmt.Fprintf(&b, "  - package: %q   # %s\n    bench: .\n", pkg, firstNames(found[rel]))
		b.WriteString("    limits:\n      allocs/op: 0%\n      B/op: 2%\n      # ns/op: 10%     # time: slower to measure, and only what exceeds the machine's noise fails\n")
	}
	b.WriteString(starterTail)
	return []byte(b.String()), nil
}

// firstNames names the first benchmarks.
func firstNames(names []string) string {
	const most = 4
	short := make([]string, len(names))
	for i, n := range names {
		short[i] = strings.TrimPrefix(n, "Benchmark")
	}
	if len(short) > most {
		return strings.Join(short[:most], ", ") + fmt.Sprintf(" and %d more", len(short)-most)
	}
	return strings.Join(short, ", ")
}

const starterHead = `# What a change is held to: gowhy gate -f gate.yaml
#
# Each check is measured on the base revision and on the working tree. Exit
# code 4: something regressed, 5: inconclusive, and the policy forbids that.

# base: origin/main        # default: where HEAD left the default branch
# inconclusive: fail       # default: pass, with a note
# time-limit: 30m          # of all checks together
# pairs: 20                # of rounds at most, where time is measured

checks:
`

const starterTail = `
  # A command of a package instead of its benchmarks. {binary} is the program.
  #
  # - name: startup
  #   package: ./cmd/app
  #   run: '{binary} -n 1000 testdata/input'
  #   ops: 1000            # that one run does
  #   limits:
  #     cpu/op: 5%
  #     peak-rss: 10%
`
