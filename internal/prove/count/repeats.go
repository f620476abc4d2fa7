package count

import (
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// Whether hot functions are called with what they were called with before. Another copy of the program
// tells it, in which these begin with a call that looks at their arguments; only the go command sees
// the source that has it.

// Repeats are the calls of a function by what it was called with: arguments by what is in them, the
// receiver by what it has itself.
type Repeats struct {
	Calls     uint64 `json:"calls"`     // the first ones, at most [MostSeen]
	Different uint64 `json:"different"` // of them, those with something new
}

// MostSeen is how many calls of a function are looked at.
const MostSeen = 1 << 20

// seesVariable names the file that a copy writes into.
const seesVariable = "GOWHY_COUNT_SEES"

//go:embed sees.txt
var seesSource string

// A seen function is one whose calls are looked at.
type seen struct {
	of *Function
	at token.Pos // behind the brace that begins it
	// call is put there.
	call string
}

// repeats looks at the calls of hot functions of the main module. What keeps it from that is no fault
// of the counts: it is a note.
func (s *Setup) repeats(ctx context.Context, p *program, r *Report, tmp string, say Line) error {
	overlay, list, err := s.overlay(ctx, p, r, tmp)
	if err == nil && len(list) == 0 {
		return nil
	}
	if err == nil {
		err = s.look(ctx, p, r, overlay, list, tmp, say)
	}
	switch {
	case err == nil && len(s.Load) > 0:
		r.note("calls repeat as the load does: take one like that of real clients")
	case err != nil && ctx.Err() == nil:
		r.note("whether functions are called with the same again is not known: %v", err)
	}
	return ctx.Err()
}

// look builds the copy that looks at arguments, and runs it.
func (s *Setup) look(ctx context.Context, p *program, r *Report, overlay string, list []*seen, tmp string, say Line) error {
	say.Step("building a copy that looks at what functions are called with…")
	spec := p.spec
	spec.Out = p.binaryPath(filepath.Join(tmp, "seeing"))
	spec.Flags = append(slices.Clone(spec.Flags), "-overlay="+overlay)
	binary, err := subject.BuildRevision(ctx, spec)
	if err != nil {
		return err
	}
	say.Step("looking at what functions are called with…")
	return s.see(ctx, p, binary, filepath.Join(tmp, "sees"), r, list)
}

// see runs the copy with the largest size, and reads what it wrote.
func (s *Setup) see(ctx context.Context, p *program, built, file string, r *Report, list []*seen) error {
	if err := os.WriteFile(file, make([]byte, 16*len(list)), 0o600); err != nil {
		return err
	}
	program := s.settings(p, &Report{})[r.Base]
	program.Command = append([]string{built}, program.Command[1:]...)
	program.Env = append(slices.Clone(program.Env), seesVariable+"="+file)
	if _, err := s.runCopy(ctx, program); err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for i, f := range list {
		calls, different := binary.LittleEndian.Uint64(data[16*i:]), binary.LittleEndian.Uint64(data[16*i+8:])
		if calls > 0 && calls != math.MaxUint64 {
			f.of.Repeats = &Repeats{calls, different}
		}
	}
	return nil
}

// overlay writes the source with calls of what looks at arguments, for the go command to take in the place
// of what is there.
func (s *Setup) overlay(ctx context.Context, p *program, r *Report, tmp string) (file string, list []*seen, err error) {
	root, err := subject.ModuleDir(ctx, p.spec.Dir, p.packagePath())
	if err != nil {
		return "", nil, err
	}
	hot := map[string][]*Function{}
	for i := range r.Functions {
		f := &r.Functions[i]
		if rel, err := filepath.Rel(root, f.File); err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(rel, "vendor"+string(filepath.Separator)) && f.Cum >= hotCum {
			hot[f.File] = append(hot[f.File], f)
		}
	}
	replace := map[string]string{}
	write := func(at, name, text string) error {
		replace[at] = filepath.Join(tmp, fmt.Sprintf("overlay-%d-%s", len(replace), name))
		return os.WriteFile(replace[at], []byte(text), 0o600)
	}
	for name, functions := range hot {
		text, at, pkg := lookedAt(name, functions, len(list))
		if len(at) == 0 {
			continue
		}
		list = append(list, at...)
		helper := filepath.Join(filepath.Dir(name), "gowhy_sees.go")
		err := write(name, filepath.Base(name), text)
		if err == nil && replace[helper] == "" {
			err = write(helper, "sees.go", strings.NewReplacer("PACKAGE", pkg, "VARIABLE", seesVariable, "MOST", fmt.Sprint(MostSeen)).Replace(seesSource))
		}
		if err != nil {
			return "", nil, err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(tmp, "overlay.json")
	return file, list, os.WriteFile(file, data, 0o600)
}

// lookedAt returns a file's source in which those of some functions begin with a call whose arguments can be
// compared; these have numbers from first on.
func lookedAt(name string, functions []*Function, first int) (text string, list []*seen, pkg string) {
	set := token.NewFileSet()
	src, err := os.ReadFile(name)
	if err != nil || len(src) > maxSource {
		return "", nil, ""
	}
	file, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return "", nil, ""
	}
	for _, d := range file.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Body == nil {
			continue
		}
		name := symbol(decl)
		i := slices.IndexFunc(functions, func(f *Function) bool {
			_, local := model.SplitSymbol(f.Name)
			return model.WithoutTypes(local) == name
		})
		if i < 0 {
			continue
		}
		functions[i].Line = set.Position(decl.Pos()).Line
		if args := told(decl); args != "" {
			list = append(list, &seen{functions[i], decl.Body.Lbrace + 1, fmt.Sprintf(" gowhySees(%d, %s);", first+len(list), args)})
		}
	}
	var b strings.Builder
	last := 0
	for _, f := range list {
		at := set.Position(f.at).Offset
		b.Write(src[last:at])
		b.WriteString(f.call)
		last = at
	}
	b.Write(src[last:])
	return b.String(), list, file.Name.Name
}

// symbol returns the name that the linker has for a function, without its package: "f", "T.f", "(*T).f".
func symbol(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) != 1 {
		return decl.Name.Name
	}
	of, pointer := ast.Unparen(decl.Recv.List[0].Type), false
	if star, ok := of.(*ast.StarExpr); ok {
		of, pointer = ast.Unparen(star.X), true
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	if pointer {
		return "(*" + types.ExprString(of) + ")." + decl.Name.Name
	}
	return types.ExprString(of) + "." + decl.Name.Name
}

// told returns the receiver and the parameters of a function that answers with something by what it is
// called with; empty for others.
func told(decl *ast.FuncDecl) string {
	if !slices.ContainsFunc(fields(decl.Type.Results), func(f *ast.Field) bool { return types.ExprString(f.Type) != "error" }) {
		return ""
	}
	names := []string{"nil"}
	if decl.Recv != nil && len(decl.Recv.List) == 1 && len(decl.Recv.List[0].Names) == 1 && decl.Recv.List[0].Names[0].Name != "_" {
		names[0] = decl.Recv.List[0].Names[0].Name
	}
	for _, f := range fields(decl.Type.Params) {
		switch f.Type.(type) {
		case *ast.FuncType, *ast.ChanType, *ast.MapType:
			return ""
		}
		if types.ExprString(f.Type) == "context.Context" {
			continue
		}
		for _, n := range f.Names {
			if n.Name != "_" {
				names = append(names, n.Name)
			}
		}
	}
	if len(names) == 1 {
		return ""
	}
	return strings.Join(names, ", ")
}

func fields(list *ast.FieldList) []*ast.Field {
	if list == nil {
		return nil
	}
	return list.List
}
