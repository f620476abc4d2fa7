package rules

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// A share of the CPU has one number, whichever findings show it and whether the account
// does: of each case with all rules, facts of one name are of one value, and the parts of
// the account are those that findings name.
func TestOneNumberForOneThing(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, cases, err := parseFixtures(string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			d := diagnosis.Run(c.model, All, diagnosis.Options{Max: 100})
			values := map[string]float64{}
			if d.CPU != nil {
				for _, p := range d.CPU.Parts {
					switch p.Name {
					case "allocation":
						values[memory.InAllocator] = p.Share
					case "garbage collector":
						values[memory.InCollector] = p.Share
					}
				}
			}
			eachFact(d.Findings, func(f *fact.Fact) {
				if f.Unit != fact.Ratio || !strings.HasPrefix(f.Name, "CPU in ") || f.Origin.Source == "trace" {
					return
				}
				seen++
				if v, ok := values[f.Name]; ok && math.Abs(v-f.Value) > 1e-9 {
					t.Errorf("%s:%d: %s: %q is %v and %v", file, c.line, c.story, f.Name, v, f.Value)
				}
				values[f.Name] = f.Value
			})
		}
	}
	if seen == 0 {
		t.Error("no share of the CPU in any case")
	}
}

// eachFact visits all facts of findings and of those that they explain.
func eachFact(fs []diagnosis.Finding, visit func(*fact.Fact)) {
	var walk func(f *fact.Fact)
	walk = func(f *fact.Fact) {
		visit(f)
		if f.Origin.Name == fact.Sampled.Name { // its first operand is the same of the samples alone
			return
		}
		for i := range f.Operands {
			walk(&f.Operands[i])
		}
	}
	for i := range fs {
		for k := range fs[i].Evidence {
			walk(&fs[i].Evidence[k])
		}
		eachFact(fs[i].Symptoms, visit)
	}
}
