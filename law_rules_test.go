package gowhy_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// A number of a finding is born with its origin, in package fact: neither a rule, nor what measures
// for it, nor the judge of a fleet puts one together by hand, and no sentence has a digit of its own.
func TestFactsAreBorn(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.pkg != "internal/judge/rules" && !within(s.pkg, "internal/judge/measure") && s.pkg != "fleet/findings" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if of := typeName(n.Type); len(n.Elts) > 0 && slices.Contains([]string{"fact.Fact", "diagnosis.Cost", "diagnosis.Bound"}, of) {
					t.Errorf("%s/%s: a %s that nothing measured: use a constructor of package fact, CostOf, Limit, Estimate or Direction", s.pkg, s.name, of)
				}
			case *ast.CallExpr:
				f := typeName(n.Fun)
				if len(n.Args) == 0 || f != "fact.Sentence" && !strings.HasSuffix(f, ".Say") {
					return true
				}
				for _, text := range literals(n.Args[0]) {
					if digits.MatchString(quoted.ReplaceAllString(text, "")) {
						t.Errorf("%s/%s: %s says %q: a number in a sentence is a fact", s.pkg, s.name, f, text)
					}
				}
			}
			return true
		})
	}
}

var (
	digits = regexp.MustCompile(`\d`)
	quoted = regexp.MustCompile("`[^`]*`") // commands and code
)

// Prose stands in lines that can be read. Code samples and tables have line ends of
// their own, commands and lists of names few blanks: those are exempt, and so is lab,
// whose cases are found by their lines.
func TestProseHasShortLines(t *testing.T) {
	const longest, blanks = 120, 9
	for _, s := range sources(t) {
		if s.isTest() || s.pkg == "lab" || strings.HasPrefix(s.pkg, "lab/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING || lit.Value[0] == '`' || strings.Contains(lit.Value, `\n`) {
				return true
			}
			if text := strings.Trim(lit.Value, `"`); utf8.RuneCountInString(text) > longest && strings.Count(text, " ") >= blanks {
				t.Errorf("%s/%s: a literal of %d columns: %.60s…", s.pkg, s.name, utf8.RuneCountInString(text), text)
			}
			return true
		})
	}
}

// typeName is "pkg.Name" of a type or a function, "" for others.
func typeName(e ast.Expr) string {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := sel.X.(*ast.Ident); ok {
			return x.Name + "." + sel.Sel.Name
		}
	}
	return ""
}

// literals returns the strings that an expression is put together from.
func literals(e ast.Expr) (texts []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// What three files of the rules use stands in a file named by its subject: nobody
// looks for it in another illness.
func TestSharedNamesOfRules(t *testing.T) {
	declared, uses := map[string]string{}, map[string]map[string]bool{}
	files := slices.DeleteFunc(sources(t), func(s source) bool { return s.pkg != "internal/judge/rules" || s.isTest() })
	for _, s := range files {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					declared[d.Name.Name] = s.name
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						declared[spec.Name.Name] = s.name
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							declared[n.Name] = s.name
						}
					}
				}
			}
		}
	}
	for _, s := range files {
		if s.name == "rules.go" {
			continue // the list of all
		}
		local := map[string]bool{} // parameters and variables, which hide a name
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				for _, id := range n.Names {
					local[id.Name] = true
				}
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
						local[id.Name] = true
					}
				}
			case *ast.RangeStmt:
				for _, e := range []ast.Expr{n.Key, n.Value} {
					if id, ok := e.(*ast.Ident); ok {
						local[id.Name] = true
					}
				}
			case *ast.DeclStmt:
				ast.Inspect(n, func(m ast.Node) bool {
					if v, ok := m.(*ast.ValueSpec); ok {
						for _, id := range v.Names {
							local[id.Name] = true
						}
					}
					return true
				})
			}
			return true
		})
		var look func(ast.Node) bool
		look = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr: // a field or a method is not the name
				ast.Inspect(n.X, look)
				return false
			case *ast.KeyValueExpr:
				ast.Inspect(n.Value, look)
				return false
			case *ast.Ident:
				if file := declared[n.Name]; file != "" && file != s.name && !local[n.Name] {
					if uses[n.Name] == nil {
						uses[n.Name] = map[string]bool{}
					}
					uses[n.Name][s.name] = true
				}
			}
			return true
		}
		ast.Inspect(s.file, look)
	}
	for name, in := range uses {
		file := declared[name]
		if file == name+".go" {
			continue // a rule that others ask for
		}
		if _, err := os.Stat(filepath.Join("internal/judge/rules", strings.TrimSuffix(file, ".go")+".md")); err == nil && len(in) >= 2 {
			t.Errorf("%s of internal/judge/rules/%s is used in %d other files: put it into a file named by its subject", name, file, len(in))
		}
	}
}
