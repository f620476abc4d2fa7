package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// TestGoFacts: the table is whole and in order, so that nobody has to look
// twice whether a fact is in it.
func TestGoFacts(t *testing.T) {
	if !slices.IsSortedFunc(goFacts, func(a, b *goFact) int { return a.since - b.since }) {
		t.Error("the facts are not in the order of versions")
	}
	keys := map[string]bool{}
	for _, f := range goFacts {
		if f.what == "" || f.notes == "" || f.since < 13 || strings.HasSuffix(f.what, ".") {
			t.Errorf("%s: what %q, notes %q", f.version(), f.what, f.notes)
		}
		u := f.undo
		switch u.variable {
		case "":
			if u != (undo{}) {
				t.Errorf("%s: undo without a variable is %+v, want it empty", f.version(), u)
			}
			continue
		case "GODEBUG":
			if u.value == "" {
				t.Errorf("%s: %s has no value", f.version(), u.key)
			}
		case "GOEXPERIMENT":
			if u.value != "" || !strings.HasPrefix(u.key, "no") {
				t.Errorf("%s: GOEXPERIMENT has the key %q and the value %q, "+
					"want a key that begins with no, and no value", f.version(), u.key, u.value)
			}
		default:
			t.Errorf("%s: no such variable: %q", f.version(), u.variable)
		}
		if u.key == "" || keys[u.key] || u.until > 0 && u.until <= f.since {
			t.Errorf("%s: the key %q, a second time %v, until %d, want a new key, until 0 or above %d",
				f.version(), u.key, keys[u.key], u.until, f.since)
		}
		keys[u.key] = true
	}
}

// TestGoFactsAreAll: a fact that is declared is in the table, and only this
// file takes versions apart.
func TestGoFactsAreAll(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	declared := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "goFact" {
					declared++
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "goMinor" && name != "goversions.go" {
					t.Errorf("%s: knows of versions by itself", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
	if declared != len(goFacts) {
		t.Errorf("%d facts are declared and %d are in the table", declared, len(goFacts))
	}
}

func TestGoMinor(t *testing.T) {
	for version, want := range map[string]int{
		"go1.26": 26, "go1.26.1": 26, "go1.9": 9, "go1.27-devel_abc": 27, "go1.26rc1": 26, "devel go1.27-6a2f": 27, "go1.26.8 X:nogreenteagc": 26,
		"": -1, "go2.0": -1, "devel": -1, "go1.": -1, "1.26": -1,
	} {
		n, ok := model.GoMinor(version)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%q is %d, want %d", version, n, want)
		}
	}
}

func TestStanding(t *testing.T) {
	build := func(version, defaults, environment, experiment string) *model.Model {
		return &model.Model{Build: &model.Build{Go: version,
			Settings: map[string]string{"DefaultGODEBUG": defaults, "GOEXPERIMENT": experiment}, Environment: map[string]string{"GODEBUG": environment}}}
	}
	counted := func(version, key string) *model.Model {
		return &model.Model{Run: model.Run{Go: version}, Metrics: &model.Metrics{Series: map[string]model.Series{
			metricNonDefault + key + ":events": {{Value: 3}}}}}
	}
	for _, c := range []struct {
		name string
		fact *goFact
		m    *model.Model
		want status
		why  string
	}{
		{"older", collectedTimers, build("go1.22.3", "", "", ""), notYet, "built with Go 1.22, and only since Go 1.23"},
		{"newer", collectedTimers, build("go1.23.0", "", "", ""), inForce, ""},
		{"an old go.mod", collectedTimers, build("go1.26", "asynctimerchan=1,panicnil=1", "", ""), undone, "by the program's go.mod"},
		{"turned on again", collectedTimers, build("go1.26", "asynctimerchan=1", "gctrace=1,asynctimerchan=0", ""), inForce, ""},
		{"the environment", collectedTimers, build("go1.26", "", "gctrace=1,asynctimerchan=1", ""), undone, "by the environment"},
		{"a setting that is gone", collectedTimers, build("go1.27", "", "asynctimerchan=1", ""), inForce, ""},
		{"counted", unlockedRand, counted("go1.26", "randautoseed"), undone, "/godebug/non-default-behavior/randautoseed:events"},
		{"another was counted", unlockedRand, counted("go1.26", "panicnil"), inForce, ""},
		{"an experiment", greenTea, build("go1.26.1", "", "", "jsonv2,nogreenteagc"), undone, "GOEXPERIMENT=nogreenteagc"},
		{"an experiment that is gone", greenTea, build("go1.27.0", "", "", "nogreenteagc"), inForce, ""},
		{"another that is gone", swissMaps, build("go1.26.1", "", "", "noswissmap"), inForce, ""},
		{"a third", spinbitMutex, build("go1.25.1", "", "", "nospinbitmutex"), inForce, ""},
		{"another experiment", greenTea, build("go1.26.1", "", "", "jsonv2"), inForce, ""},
		{"no version", greenTea, &model.Model{}, unsure, "not known"},
	} {
		got, why := c.fact.status(c.m)
		if got != c.want || !strings.Contains(why, c.why) || (got == inForce) != (why == "") {
			t.Errorf("%s: %d, %q; want %d, %q", c.name, got, why, c.want, c.why)
		}
		var said []string
		p := &diagnosis.Pass{Meter: fact.Meter{Model: c.m}, Obsolete: func(pattern, since, why string) { said = append(said, pattern+since+why) }}
		if harmless := c.fact.harmless(p, "it"); harmless != (c.want == inForce) || len(said) > 0 != harmless {
			t.Errorf("%s: harmless is %v, said %q", c.name, harmless, said)
		}
	}
}

func TestWithGODEBUG(t *testing.T) {
	for have, want := range map[string]string{
		"": "GODEBUG=a=1", "b=2": "GODEBUG=b=2,a=1", "a=0,b=2": "GODEBUG=b=2,a=1",
	} {
		m := &model.Model{Build: &model.Build{Environment: map[string]string{"GODEBUG": have}}}
		if got := withGODEBUG(m, "a", "1"); got != want {
			t.Errorf("%q: %s, want %s", have, got, want)
		}
	}
	if got := withGODEBUG(&model.Model{}, "a", "1"); got != "GODEBUG=a=1" {
		t.Error(got)
	}
}
