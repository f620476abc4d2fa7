package gowhy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// unwanted are the patterns of docs/style.md that a test can see in a text for users.
var unwanted = map[string]*regexp.Regexp{
	"sick, illness, cure and healed are words of the lab":   regexp.MustCompile(`(?i)\b(sick|illness|illnesses|cures?|cured|healed)\b`),
	"a percentage has no space before its sign":             regexp.MustCompile(`[0-9] %($|[^a-zA-Z0-9])|[0-9] % [a-z]|%[.0-9]*[dfgsv] %%`),
	"say that something depends on timing":                  regexp.MustCompile(`\bgoes by (time|timing)\b`),
	"say upper bound, largest or longest":                   regexp.MustCompile(`\bthe most that\b`),
	"say largest predicted gain":                            regexp.MustCompile(`most would come of`),
	"say what the reader has to specify":                    regexp.MustCompile(`nothing says what changes`),
	"someone acts: say what the reader or the program does": regexp.MustCompile(`\b((is|was|are|were) (asked|told)|asked for by|since there (was|were)|of those (who|that|which))\b`),
}

// wrong is why a text is not written as docs/style.md says, "" if nothing is.
func wrong(text string) string {
	for why, p := range unwanted {
		if m := p.FindString(text); m != "" {
			return why + ": " + m
		}
	}
	return ""
}

// product reports whether a file is of what users run; traces of the corpus are ill on
// purpose.
func product(file string) bool {
	top, _, _ := strings.Cut(file, "/")
	return strings.HasSuffix(file, ".go") && (top == "internal" || top == "cmd" || top == "agent" || top == "fleet") &&
		!strings.Contains(file, "/testdata/") && !strings.HasPrefix(file, "internal/testing/corpus/")
}

// What users read is written as docs/style.md says: the string literals of the product,
// the pages of rules, the documents.
func TestStyle(t *testing.T) {
	texts := 0
	check := func(where, text string) {
		texts++
		if why := wrong(text); why != "" {
			t.Errorf("%s: %s", where, why)
		}
	}
	for _, pattern := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "internal/judge/rules/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			if filepath.Base(file) == "style.md" {
				continue // it has the examples
			}
			for i, line := range strings.Split(read(t, file), "\n") {
				check(file+":"+strconv.Itoa(i+1), line)
			}
		}
	}
	walk(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") || !product(file) {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && l.Value != `"sick"` { // the word of old documents
				check(fset.Position(l.Pos()).String(), l.Value)
			}
			return true
		})
	})
	page, err := filepath.Glob("ui/src/strings/*.ts")
	if err != nil || len(page) == 0 {
		t.Fatal(page, err)
	}
	for _, file := range page {
		check(file, read(t, file))
	}
	if texts < 5000 {
		t.Errorf("only %d texts were read", texts)
	}
}

func TestWrong(t *testing.T) {
	for text, bad := range map[string]bool{
		"The program is sick.": true, "44.6 % of the time": true, "%.1f %% of it": true, "it goes by time": true,
		"nothing says what changes": true, "what is fixed": false, "44.6% of the time": false, "95% interval": false,
		"n % 10": false, "secure, accurate": false,
	} {
		if why := wrong(text); (why != "") != bad {
			t.Errorf("wrong(%q) = %q", text, why)
		}
	}
}
