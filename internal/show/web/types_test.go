package web

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/testing/typescript"
	"github.com/gowhy/gowhy/internal/watch/live"
)

var update = flag.Bool("update", false, "write what is generated")

const typesFile = "../../../ui/src/api.ts"

// roots are what is sent; all other types hang on them.
var roots = []any{
	Session{}, Findings{}, Together{}, Timeline{}, Lanes{}, Tiles{}, Moment{}, Edges{}, Holds{}, Selection{}, timeline.Hits{}, Flame{}, Table{}, Memory{}, Runtime{},
	Tasks{}, Task{}, Derivation{}, Marks{}, Standings{}, SourceText{}, Compare{}, Sources{}, Upload{}, Failure{}, Worst{}, MMU{}, LiveNews{}, LiveFlame{}, LiveMemory{}, LiveKept{}, LiveAsked{},
}

// The page's types are those of Go. A type of api.go that nothing sends is one
// too many, and a file that is not fresh is a page that believes what is not so.
func TestTypes(t *testing.T) {
	w := &typescript.Writer{Errorf: t.Errorf, Names: map[reflect.Type]string{
		reflect.TypeFor[live.Point](): "LivePoint", reflect.TypeFor[live.GroupName](): "LiveGroup"}}
	declared := read(t, w)
	for _, r := range roots {
		w.Add(reflect.TypeOf(r))
	}
	for _, name := range declared {
		if !slices.ContainsFunc(w.Types(), func(rt reflect.Type) bool {
			return rt.PkgPath() == reflect.TypeFor[Session]().PkgPath() && rt.Name() == name
		}) {
			t.Errorf("%s of api.go is part of no answer: add it to roots, or take it away", name)
		}
	}
	var fresh bytes.Buffer
	fresh.WriteString("// Made from internal/show/web/api.go by: go test ./internal/show/web -run TestTypes -update\n")
	fresh.WriteString("// Do not change it here.\n")
	fresh.Write(w.Text())
	fmt.Fprintf(&fresh, "\n/** Whose a function is, in the order of Flame.func_kinds. */\nexport const FrameKinds = [%s] as const\n", typescript.Quoted(FrameKinds, ", "))
	fmt.Fprintf(&fresh, "\n/** The states of goroutines, Ps and threads: internal/know/model has them. */\nexport const States = [\n")
	for _, s := range model.States {
		fmt.Fprintf(&fresh, "  { word: '%s', name: '%s', letter: '%s', reasons: [%s] },\n", s.Word, s.Name, s.Letter, typescript.Quoted(s.Reasons, ", "))
	}
	fresh.WriteString("] as const\n")
	if *update {
		if err := os.WriteFile(typesFile, fresh.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(typesFile)
	if err != nil || !bytes.Equal(old, fresh.Bytes()) {
		t.Errorf("%s is not what the types of Go say (%v): go test ./internal/show/web -run TestTypes -update", typesFile, err)
	}
}

// read reads the files of the types, and returns those of api.go.
func read(t *testing.T, w *typescript.Writer) []string {
	for _, pkg := range []string{"judge/diagnosis", "know/fact", "watch/live", "draw/timeline"} {
		files, err := filepath.Glob("../../" + pkg + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal("no files of", pkg, err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			if _, err := w.Read(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	declared, err := w.Read("api.go")
	if err != nil {
		t.Fatal(err)
	}
	return declared
}
