package web

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

var update = flag.Bool("update", false, "write what is generated")

const typesFile = "../../../ui/src/api.ts"

// roots are what is sent; all other types hang on them.
var roots = []any{
	Session{}, Findings{}, Timeline{}, Lanes{}, Tiles{}, Moment{}, Edges{}, Selection{}, Hits{}, Flame{}, Table{}, Runtime{},
	Tasks{}, Task{}, Derivation{}, Marks{}, Standings{}, SourceText{}, Compare{}, Sources{}, Upload{}, Failure{}, Worst{}, MMU{}, LiveNews{}, LiveFlame{}, LiveKept{}, LiveAsked{},
}

// The page's types are those of Go. A type of api.go that nothing sends is one
// too many, and a file that is not fresh is a page that believes what is not so.
func TestTypes(t *testing.T) {
	g := newTypeWriter(t)
	for _, r := range roots {
		g.add(reflect.TypeOf(r))
	}
	for name := range g.declared {
		if !slices.ContainsFunc(g.order, func(rt reflect.Type) bool {
			return rt.PkgPath() == reflect.TypeFor[Session]().PkgPath() && rt.Name() == name
		}) {
			t.Errorf("%s of api.go is part of no answer: add it to roots, or take it away", name)
		}
	}
	fresh := g.file()
	if *update {
		if err := os.WriteFile(typesFile, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(typesFile)
	if err != nil || !bytes.Equal(old, fresh) {
		t.Errorf("%s is not what the types of Go say (%v): go test ./internal/show/web -run TestTypes -update", typesFile, err)
	}
}

// A typeWriter writes Go types as TypeScript.
type typeWriter struct {
	t        *testing.T
	order    []reflect.Type
	docs     map[string]string   // of types, and of their fields as "Type.Field"
	declared map[string]bool     // in api.go
	values   map[string][]string // of the constants of a type
}

func newTypeWriter(t *testing.T) *typeWriter {
	g := &typeWriter{t: t, docs: map[string]string{}, declared: map[string]bool{}, values: map[string][]string{}}
	var files []string
	for _, pkg := range []string{"judge/diagnosis", "know/fact"} {
		of, err := filepath.Glob("../../" + pkg + "/*.go")
		if err != nil || len(of) == 0 {
			t.Fatal("no files of", pkg, err)
		}
		files = append(files, of...)
	}
	for _, f := range append(files, "api.go") {
		if !strings.HasSuffix(f, "_test.go") {
			g.read(f)
		}
	}
	return g
}

// read takes the comments and the constants of a file, which reflection lacks.
func (g *typeWriter) read(path string) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				g.readType(spec, decl.Doc, path == "api.go")
			case *ast.ValueSpec:
				g.readValues(spec)
			}
		}
	}
}

func (g *typeWriter) readType(spec *ast.TypeSpec, doc *ast.CommentGroup, ours bool) {
	n := spec.Name.Name
	g.docs[n] = doc.Text()
	if ours && ast.IsExported(n) {
		g.declared[n] = true
	}
	if s, ok := spec.Type.(*ast.StructType); ok {
		for _, f := range s.Fields.List {
			for _, id := range f.Names {
				g.docs[n+"."+id.Name] = strings.TrimSpace(f.Doc.Text() + f.Comment.Text())
			}
		}
	}
}

func (g *typeWriter) readValues(spec *ast.ValueSpec) {
	id, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	for _, v := range spec.Values {
		if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				g.t.Fatal(err)
			}
			g.values[id.Name] = append(g.values[id.Name], text)
		}
	}
}

// add notes a type and all that it is made of, in the order of their first use.
func (g *typeWriter) add(rt reflect.Type) {
	switch rt.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if rt != rawMessage {
			g.add(rt.Elem())
		}
		return
	}
	if rt.PkgPath() == "" || slices.Contains(g.order, rt) {
		return
	}
	for _, other := range g.order {
		if other.Name() == rt.Name() {
			g.t.Errorf("two types are called %s: of %s and of %s", rt.Name(), rt.PkgPath(), other.PkgPath())
		}
	}
	if rt.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(rt).Implements(reflect.TypeFor[json.Marshaler]()) {
		g.t.Errorf("%s writes its JSON itself: what that looks like cannot be known here", rt)
	}
	g.order = append(g.order, rt)
	if rt.Kind() == reflect.Struct {
		for i := range rt.NumField() {
			if f := rt.Field(i); f.Tag.Get("json") != "-" {
				g.add(f.Type)
			}
		}
	}
}

func (g *typeWriter) file() []byte {
	var b bytes.Buffer
	b.WriteString("// Made from internal/show/web/api.go by: go test ./internal/show/web -run TestTypes -update\n")
	b.WriteString("// Do not change it here.\n")
	for _, rt := range g.order {
		b.WriteString("\n")
		g.comment(&b, "", g.docs[rt.Name()])
		if rt.Kind() != reflect.Struct {
			fmt.Fprintf(&b, "export type %s = %s\n", rt.Name(), g.named(rt))
			continue
		}
		fmt.Fprintf(&b, "export interface %s {\n", rt.Name())
		for i := range rt.NumField() {
			g.field(&b, rt, rt.Field(i))
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "\n/** The states of goroutines, Ps and threads: internal/know/model has them. */\nexport const States = [\n")
	for _, s := range model.States {
		fmt.Fprintf(&b, "  { word: '%s', name: '%s', letter: '%s', reasons: [%s] },\n", s.Word, s.Name, s.Letter, quotedList(s.Reasons, ", "))
	}
	b.WriteString("] as const\n")
	fmt.Fprintf(&b, "\n/** Whose a function is, in the order of Flame.func_kinds. */\nexport const FrameKinds = [%s] as const\n", quotedList(FrameKinds, ", "))
	return b.Bytes()
}

func (g *typeWriter) field(b *bytes.Buffer, rt reflect.Type, f reflect.StructField) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() {
		return
	}
	n, options, _ := strings.Cut(tag, ",")
	if n == "" {
		g.t.Errorf("%s.%s has no name in JSON", rt.Name(), f.Name)
	}
	optional := ""
	if options != "" {
		if options != "omitempty" && options != "omitzero" {
			g.t.Errorf("%s.%s: %q is unknown here", rt.Name(), f.Name, options)
		}
		optional = "?"
	}
	g.comment(b, "  ", g.docs[rt.Name()+"."+f.Name])
	fmt.Fprintf(b, "  %s%s: %s\n", n, optional, g.typeOf(f.Type, optional != ""))
}

// comment writes a doc comment, in which nothing ends it early.
func (g *typeWriter) comment(b *bytes.Buffer, indent, text string) {
	text = strings.ReplaceAll(strings.TrimSpace(text), "*/", "* /")
	if text == "" {
		return
	}
	if !strings.Contains(text, "\n") {
		fmt.Fprintf(b, "%s/** %s */\n", indent, text)
		return
	}
	fmt.Fprintf(b, "%s/**\n", indent)
	for _, line := range strings.Split(text, "\n") {
		fmt.Fprintln(b, strings.TrimRight(indent+" * "+line, " "))
	}
	fmt.Fprintf(b, "%s */\n", indent)
}

// named is what a named type that is no struct stands for: one of its constants,
// where it has some.
func (g *typeWriter) named(rt reflect.Type) string {
	if values := g.values[rt.Name()]; rt.Kind() == reflect.String && len(values) > 0 {
		return quotedList(values, " | ")
	}
	return g.basic(rt)
}

func quotedList(list []string, sep string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = "'" + s + "'"
	}
	return strings.Join(quoted, sep)
}

func (g *typeWriter) typeOf(rt reflect.Type, optional bool) string {
	switch {
	case rt == rawMessage:
		return "unknown"
	case rt.Kind() == reflect.Pointer && optional:
		return g.typeOf(rt.Elem(), false)
	case rt.Kind() == reflect.Pointer:
		return g.typeOf(rt.Elem(), false) + " | null"
	case rt.Kind() == reflect.Slice:
		elem := g.typeOf(rt.Elem(), false)
		if strings.Contains(elem, " ") {
			elem = "(" + elem + ")"
		}
		return elem + "[]"
	case rt.Kind() == reflect.Map:
		return "Record<string, " + g.typeOf(rt.Elem(), false) + ">"
	case rt.PkgPath() != "":
		return rt.Name()
	}
	return g.basic(rt)
}

func (g *typeWriter) basic(rt reflect.Type) string {
	switch rt.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return "number"
	}
	g.t.Errorf("%s has no type in TypeScript", rt)
	return "never"
}
