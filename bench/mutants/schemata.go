package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// overlay writes the packages with all mutants in them into dir, and returns the file that has the
// compiler read those. Each expression that a mutant changes becomes a call that
// chooses, on the line where the expression was:
//
//	func() mutantType1 { if mutantNow == 7 { return a > b }; return a < b }()
//
// Only one of both is evaluated, so that a mutant changes nothing while it is off.
func overlay(packages []*source, list []*mutant, dir string) (string, error) {
	files := map[string]string{}
	for i, p := range packages {
		for name, code := range p.schemata(list) {
			file := filepath.Join(dir, fmt.Sprint(i, "_", name))
			if err := os.WriteFile(file, code, 0o644); err != nil {
				return "", err
			}
			files[filepath.Join(p.dir, name)] = file
		}
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": files})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, data, 0o644)
}

// build compiles the tests of a package with an overlay.
func (p *source) build(ctx context.Context, overlay, binary string) error {
	_, err := command(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, p.path)
	return err
}

// schemata returns the files of the copy: those with mutants, and the switch.
func (p *source) schemata(list []*mutant) map[string][]byte {
	// A piece goes in at an offset. Where two begin, the longer one goes first.
	type piece struct {
		at, length int
		code       string
	}
	pieces, names := map[string][]piece{}, newNames(p.pkg)
	for _, m := range list {
		for _, e := range m.edits {
			if e.in != p {
				continue
			}
			file, from, to := p.name(e.expr), p.fset.Position(e.expr.Pos()).Offset, p.fset.Position(e.expr.End()).Offset
			pieces[file] = append(pieces[file],
				piece{from, to - from, fmt.Sprintf("func() %s { if mutantNow == %d { return %s }; return ", names.of(e.typ), m.id, e.code)},
				piece{to, 0, " }()"})
		}
	}
	files := map[string][]byte{}
	for file, list := range pieces {
		// What ends at an offset ends before anything begins there.
		slices.SortStableFunc(list, func(a, b piece) int {
			switch {
			case a.at != b.at:
				return a.at - b.at
			case (a.length == 0) != (b.length == 0):
				return cmp.Compare(a.length, b.length)
			}
			return b.length - a.length
		})
		var out []byte
		done, text := 0, p.bytes[file]
		for _, one := range list {
			out = append(append(out, text[done:one.at]...), one.code...)
			done = one.at
		}
		files[file] = append(out, text[done:]...)
	}
	if len(files) > 0 {
		files["mutant_switch.go"] = names.switchFile()
	}
	return files
}

// typeNames gives each type a name for the whole package, since where it is
// needed a variable may have the type's own name.
type typeNames struct {
	pkg     *types.Package
	names   map[string]string // by how the type is written
	imports map[string]string // the name of each path
}

func newNames(pkg *types.Package) *typeNames {
	return &typeNames{pkg, map[string]string{}, map[string]string{}}
}

func (n *typeNames) of(t types.Type) string {
	text := types.TypeString(t, func(p *types.Package) string {
		if p == n.pkg {
			return ""
		}
		if n.imports[p.Path()] == "" {
			n.imports[p.Path()] = fmt.Sprintf("mutantImport%d", len(n.imports)+1)
		}
		return n.imports[p.Path()]
	})
	if n.names[text] == "" {
		n.names[text] = fmt.Sprintf("mutantType%d", len(n.names)+1)
	}
	return n.names[text]
}

// switchFile says which mutant is on. One that allocates without end stops
// here, before it takes the machine with it.
func (n *typeNames) switchFile() []byte {
	var imports, declared strings.Builder
	for _, path := range slices.Sorted(maps.Keys(n.imports)) {
		fmt.Fprintf(&imports, "\t%s %q\n", n.imports[path], path)
	}
	for _, text := range slices.Sorted(maps.Keys(n.names)) {
		fmt.Fprintf(&declared, "type %s = %s\n", n.names[text], text)
	}
	return fmt.Appendf(nil, switchCode, n.pkg.Name(), imports.String(), variable, declared.String())
}

// variable of the environment has the number of the mutant.
const variable = "MUTANT"

const switchCode = `package %s

import (
	mutantOS "os"
	mutantMetrics "runtime/metrics"
	mutantStrconv "strconv"
	mutantTime "time"
%s)

var mutantNow = func() int {
	n, _ := mutantStrconv.Atoi(mutantOS.Getenv(%q))
	if n > 0 {
		go func() {
			heap := []mutantMetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
			for range mutantTime.Tick(50 * mutantTime.Millisecond) {
				if mutantMetrics.Read(heap); heap[0].Value.Uint64() > 1<<30 {
					panic("more than 1 GiB of objects")
				}
			}
		}()
	}
	return n
}()

%s`
