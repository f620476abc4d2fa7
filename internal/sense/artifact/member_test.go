package artifact

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestMembers holds that each name of a member has its line in the table, and each source
// that gowhy records its member.
func TestMembers(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../agent/recording/recording.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && strings.HasSuffix(spec.Names[0].Name, "Member") {
			name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return true
	})
	if len(names) != len(Members)+1 { // and the manifest
		t.Errorf("%d members in the table, want %d: %q", len(Members), len(names)-1, names)
	}
	for _, n := range names {
		if m := MemberNamed(n); m.Words == "" || m.Source != "" && !m.Source.Known() {
			t.Errorf("Described(%q) = %+v, want its words and a source that is one", n, m)
		}
	}
	for _, s := range model.Sources() {
		has := slices.ContainsFunc(Members, func(m Member) bool { return m.Source == s })
		if s.Recorded() != "" && !has {
			t.Errorf("%s is recorded as %s, and no member is of it", s, s.Recorded())
		}
	}
	if m := MemberNamed("somebody's.txt"); m.Words != "" || m.Source != "" {
		t.Errorf("Described() of another's file = %+v, want nothing", m)
	}
}
