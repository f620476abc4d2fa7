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

// unwantedInComments are patterns that a comment has no more than a text for users; those
// of the lab's words and of numbers are of texts alone.
var unwantedInComments = map[string]*regexp.Regexp{
	"someone acts: say what the program does":    regexp.MustCompile(`\b(is|was|are|were|be|been|being) (asked|told)\b|\bsince there (was|were)\b`),
	"say upper bound, largest or longest":        regexp.MustCompile(`\bthe most that\b`),
	"say which number, or that it is a bound":    regexp.MustCompile(`\bso (many|often)\b`),
	"say what the function does, not what it is": regexp.MustCompile(`^\w+ (is|are) (an?|the|those|that|all|one|its|what|which|who|whom|whose|by|how|where|when|why)\b`),
}

// idioms have the words of unwantedInComments in their plain sense.
var idioms = regexp.MustCompile(`\b(told (apart|from)|asked for|so (many|often) (as|that|pixels))\b`)

// sides are the names of the lab's runs, as names.
var sides = regexp.MustCompile("[`\"]sick[`\"]")

// wrong returns why a text is not written as docs/style.md says, "" if it is.
func wrong(text string) string { return find(unwanted, text) }

// wrongComment returns why a comment is not written as docs/style.md says, "" if it is. The
// opening is judged of functions only: a type or a constant is something.
func wrongComment(text string, ofFunction bool) string {
	text = idioms.ReplaceAllString(text, "…")
	for why, p := range unwantedInComments {
		if strings.HasPrefix(p.String(), "^") && !ofFunction {
			continue
		}
		if m := p.FindString(text); m != "" {
			return why + ": " + m
		}
	}
	return ""
}

// find returns the reason of the first pattern that a text has, with the words.
func find(patterns map[string]*regexp.Regexp, text string) string {
	for why, p := range patterns {
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
	texts, comments := 0, 0
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
			text := read(t, file)
			if filepath.Base(file) == "exam.md" { // it names the sides of the lab's programs
				text = sides.ReplaceAllString(text, "side")
			}
			lines := strings.Split(text, "\n")
			for i, line := range lines {
				check(file+":"+strconv.Itoa(i+1), line)
				if i > 0 { // a sentence goes on in the next line
					check(file+":"+strconv.Itoa(i+1), joined(lines[i-1], line))
				}
			}
		}
	}
	walk(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") || !product(file) {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		functions := map[*ast.CommentGroup]bool{}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				functions[fn.Doc] = true
			}
		}
		for _, c := range f.Comments {
			comments++
			if why := wrongComment(strings.Join(strings.Fields(c.Text()), " "), functions[c]); why != "" {
				t.Errorf("%s: %s", fset.Position(c.Pos()), why)
			}
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
	if texts < 5000 || comments < 10000 {
		t.Errorf("only %d texts and %d comments were read", texts, comments)
	}
}

// joined returns the end of a line and the beginning of the next, between which a pattern
// may stand.
func joined(line, next string) string {
	return line[max(0, len(line)-20):] + " " + strings.TrimLeft(next[:min(len(next), 40)], " >")
}

func TestWrongComment(t *testing.T) {
	for text, bad := range map[string]bool{
		"The kernel is asked for the number.": false, "what cannot be told apart": false, "is told from noise": false,
		"The server is asked first.": true, "Progress is told after every round": true, "it can be told.": true,
		"the most that the heap held": true, "at most so many bytes": true, "done so often.": true, "so many that it matters": false,
		"so many as there are": false,
	} {
		if why := wrongComment(text, false); (why != "") != bad {
			t.Errorf("wrongComment(%q) = %q", text, why)
		}
	}
	if wrongComment("row is what is kept.", true) == "" || wrongComment("rows are those that are kept.", true) == "" || wrongComment("row is what is kept.", false) != "" {
		t.Error("the opening is judged of functions, and of nothing else")
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
