// Package typescript writes types of Go as TypeScript, for tests that hold a page to what
// its server sends.
//
// It hides how encoding/json names and leaves out fields, and where comments and the
// constants of a type are, which reflection lacks: [Writer.Read] takes them from source
// files, [Writer.Add] takes types. It never writes a file.
package typescript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Writer writes Go types as TypeScript. What it cannot write it says to Errorf.
type Writer struct {
	Errorf func(format string, arguments ...any)
	// Names are of types that are called otherwise than in Go, as two of one name must be.
	Names map[reflect.Type]string
	// Instead are the types of fields that write their own JSON, as "Type.Field" in Go.
	Instead map[string]string

	types  []reflect.Type
	docs   map[string]string   // of "package.Type", and of fields as "package.Type.Field"
	values map[string][]string // of the constants of a "package.Type"
}

var (
	rawMessage = reflect.TypeFor[json.RawMessage]()
	instant    = reflect.TypeFor[time.Time]()
)

// Read takes the comments and the constants of a file, and returns the exported types that
// it declares.
func (w *Writer) Read(file string) (declared []string, err error) {
	if w.docs == nil {
		w.docs, w.values = map[string]string{}, map[string][]string{}
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				w.readType(f.Name.Name+".", spec, decl.Doc)
				if ast.IsExported(spec.Name.Name) {
					declared = append(declared, spec.Name.Name)
				}
			case *ast.ValueSpec:
				if err := w.readValues(f.Name.Name+".", spec); err != nil {
					return nil, err
				}
			}
		}
	}
	return declared, nil
}

func (w *Writer) readType(pkg string, spec *ast.TypeSpec, doc *ast.CommentGroup) {
	n := pkg + spec.Name.Name
	w.docs[n] = doc.Text()
	if s, ok := spec.Type.(*ast.StructType); ok {
		for _, f := range s.Fields.List {
			for _, id := range f.Names {
				w.docs[n+"."+id.Name] = strings.TrimSpace(f.Doc.Text() + f.Comment.Text())
			}
		}
	}
}

func (w *Writer) readValues(pkg string, spec *ast.ValueSpec) error {
	id, ok := spec.Type.(*ast.Ident)
	if !ok {
		return nil
	}
	for _, v := range spec.Values {
		if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return err
			}
			w.values[pkg+id.Name] = append(w.values[pkg+id.Name], text)
		}
	}
	return nil
}

// key returns how a type is called in what was read.
func key(rt reflect.Type) string { return path.Base(rt.PkgPath()) + "." + rt.Name() }

func (w *Writer) name(rt reflect.Type) string {
	if n := w.Names[rt]; n != "" {
		return n
	}
	return rt.Name()
}

// Types returns those that were added, with all that they are made of.
func (w *Writer) Types() []reflect.Type { return w.types }

// Add notes a type and all that it is made of, in the order of their first use.
func (w *Writer) Add(rt reflect.Type) {
	switch {
	case rt == rawMessage, rt == instant:
		return
	case slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, rt.Kind()):
		w.Add(rt.Elem())
		return
	case rt.PkgPath() == "", isPlain(rt), slices.Contains(w.types, rt):
		return
	}
	for _, other := range w.types {
		if w.name(other) == w.name(rt) {
			w.Errorf("two types are called %s: of %s and of %s", w.name(rt), rt.PkgPath(), other.PkgPath())
		}
	}
	if rt.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(rt).Implements(reflect.TypeFor[json.Marshaler]()) {
		w.Errorf("%s writes its JSON itself: what that looks like cannot be known here", rt)
	}
	w.types = append(w.types, rt)
	if rt.Kind() == reflect.Struct {
		for i := range rt.NumField() {
			if f := rt.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				w.Add(f.Type)
			}
		}
	}
}

// isPlain is of durations: their name says nothing to who reads a number.
func isPlain(rt reflect.Type) bool { return rt == reflect.TypeFor[time.Duration]() }

// Text returns all types, one after the other.
func (w *Writer) Text() []byte {
	var b bytes.Buffer
	for _, rt := range w.types {
		b.WriteString("\n")
		comment(&b, "", w.docs[key(rt)])
		if rt.Kind() != reflect.Struct {
			fmt.Fprintf(&b, "export type %s = %s\n", w.name(rt), w.named(rt))
			continue
		}
		fmt.Fprintf(&b, "export interface %s {\n", w.name(rt))
		for i := range rt.NumField() {
			w.field(&b, rt, rt.Field(i))
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

func (w *Writer) field(b io.Writer, rt reflect.Type, f reflect.StructField) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() {
		return
	}
	n, options, _ := strings.Cut(tag, ",")
	if n == "" {
		w.Errorf("%s.%s has no name in JSON", rt.Name(), f.Name)
	}
	optional := ""
	if options != "" {
		if options != "omitempty" && options != "omitzero" {
			w.Errorf("%s.%s: %q is unknown here", rt.Name(), f.Name, options)
		}
		optional = "?"
	}
	typed := w.Instead[rt.Name()+"."+f.Name]
	if typed == "" {
		typed = w.typeOf(f.Type, optional != "")
	}
	comment(b, "  ", w.docs[key(rt)+"."+f.Name])
	fmt.Fprintf(b, "  %s%s: %s\n", n, optional, typed)
}

// comment writes a doc comment, in which nothing ends it early.
func comment(b io.Writer, indent, text string) {
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

// named returns what a named type that is no struct stands for: one of its constants,
// where it has some.
func (w *Writer) named(rt reflect.Type) string {
	if values := w.values[key(rt)]; rt.Kind() == reflect.String && len(values) > 0 {
		return Quoted(values, " | ")
	}
	return w.basic(rt)
}

// Quoted returns a list of texts.
func Quoted(list []string, separator string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = "'" + s + "'"
	}
	return strings.Join(quoted, separator)
}

func (w *Writer) typeOf(rt reflect.Type, optional bool) string {
	switch {
	case rt == rawMessage:
		return "unknown"
	case rt == instant: // in RFC 3339
		return "string"
	case rt.Kind() == reflect.Pointer && optional:
		return w.typeOf(rt.Elem(), false)
	case rt.Kind() == reflect.Pointer:
		return w.typeOf(rt.Elem(), false) + " | null"
	case rt.Kind() == reflect.Slice:
		elem := w.typeOf(rt.Elem(), false)
		if strings.Contains(elem, " ") && !strings.HasPrefix(elem, "[") {
			elem = "(" + elem + ")"
		}
		return elem + "[]"
	case rt.Kind() == reflect.Array:
		return "[" + strings.Join(slices.Repeat([]string{w.typeOf(rt.Elem(), false)}, rt.Len()), ", ") + "]"
	case rt.Kind() == reflect.Map:
		return "Record<string, " + w.typeOf(rt.Elem(), false) + ">"
	case rt.PkgPath() != "" && !isPlain(rt):
		return w.name(rt)
	}
	return w.basic(rt)
}

func (w *Writer) basic(rt reflect.Type) string {
	switch rt.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return "number"
	}
	w.Errorf("%s has no type in TypeScript", rt)
	return "never"
}
