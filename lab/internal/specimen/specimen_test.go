package specimen

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What is said of the specimens can be read, and names are told apart.
func TestField(t *testing.T) {
	all, err := ReadAll(filepath.Join("..", "..", "field", "pairs", "testdata"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d specimens: %v", len(all), err)
	}
	seen := map[string]string{}
	for _, s := range all {
		if seen[s.Name] != "" {
			t.Errorf("%s and %s have one name", s.Dir, seen[s.Name])
		}
		seen[s.Name] = s.Dir
		// A driver is a module of a user, who has never heard of gowhy.
		text, err := os.ReadFile(filepath.Join(s.Dir, "go.mod"))
		if err != nil || strings.Contains(string(text), "gowhy") {
			t.Errorf("%s: its go.mod speaks of gowhy, or cannot be read: %v", s.Dir, err)
		}
	}
}

// docs/exam.md says how many specimens each folder has.
func TestCounts(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "exam.md"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := ReadAll(filepath.Join("..", "..", "field", "pairs", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, s := range all {
		folder := filepath.Base(filepath.Dir(s.Dir))
		if filepath.Base(filepath.Dir(filepath.Dir(s.Dir))) == "exam" {
			folder = "exam"
		}
		n[folder]++
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| .* \\| (\\d+) \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) != len(n) {
		t.Fatalf("docs/exam.md has %d folders, want %d: %v", len(rows), len(n), n)
	}
	for _, row := range rows {
		if fmt.Sprint(n[row[1]]) != row[2] {
			t.Errorf("docs/exam.md says %s of %s, want %d", row[2], row[1], n[row[1]])
		}
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"about: a\nclass: cpu\ncause: c\nfix: f\nrules: [r]\nsick_args: [-x]":            "",
		"about: a\nclass: cpu\ncause: c\nfix: f\nrules: [r]":                             "differ",
		"about: a\nclass: nosuch\ncause: c\nfix: f\nrules: [r]\nsick_args: [-x]":         "class",
		"about: a\nclass: cpu\nfix: f\nrules: [r]\nsick_args: [-x]":                      "truth in words",
		"about: a\nclass: cpu\ncause: c\nfix: f\nrules: [r]\nsick_args: [-x]\nload: [a]": "ready",
		"about: a\nmore: b": "not found",
	} {
		dir := filepath.Join(t.TempDir(), "reviews", "one")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"go.mod": "module one\n", "specimen.yaml": text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Read(filepath.Join(dir, "specimen.yaml"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want an error with %q", text, err, want)
		}
	}
}

func TestJudge(t *testing.T) {
	s := &Specimen{Kind: Modules, Rules: []string{"hotfunction", "serialwait"}, Guilty: []string{"escape.(*Writer).Write", "main.render", "main.(*set[...]).add"}, Also: []string{"gccost"}}
	const found = `{"rule": "hotfunction", "where": [{"function": "example.com/escape.(*Writer).Write.func1"}]}`
	for name, c := range map[string]struct {
		side, findings string
		rank           int
		wrong          string
		first          bool
	}{
		"right":                       {"sick", found, 1, "", true},
		"right, after a consequence":  {"sick", `{"rule": "gccost"},` + found, 2, "", false},
		"machine and remarks":         {"sick", `{"rule": "neighbour", "symptoms": [{"rule": "nopgo", "remark": true}]},` + found, 1, "", true},
		"a symptom":                   {"sick", `{"rule": "gccost", "symptoms": [` + found + `]}`, 2, "", false},
		"a place without a rule":      {"sick", `{"where": [{"function": "main.render"}]}`, 1, "", true},
		"another place":               {"sick", `{"rule": "hotfunction", "where": [{"function": "example.com/escape.(*Writer).WriteAll"}]}`, 0, "", false},
		"another rule":                {"sick", `{"rule": "spinloop", "where": [{"function": "main.render"}]}`, 0, "spinloop", false},
		"a rule that took over":       {"sick", `{"rule": "waitchain", "where": [{"function": "main.render"}]}`, 1, "", true},
		"the same on the well side":   {"well", `{"rule": "waitchain", "where": [{"function": "main.render"}]}`, 0, "named", false},
		"the well side is ill":        {"well", found, 0, "named", false},
		"a remark about the well one": {"well", `{"rule": "hotfunction", "remark": true, "where": [{"function": "main.render"}]}`, 0, "", false},
		"a remark, after the others":  {"sick", `{"rule": "hotfunction", "remark": true, "where": [{"function": "main.render"}]}, {"rule": "gccost"}`, 2, "", false},
		"what comes of a remark":      {"sick", `{"rule": "hotfunction", "remark": true, "where": [{"function": "main.render"}], "symptoms": [{"rule": "spinloop"}]}`, 1, "", false},
		"type arguments":              {"sick", `{"rule": "hotfunction", "where": [{"function": "main.(*set[go.shape.string]).add"}]}`, 1, "", true},
		"the well side, elsewhere":    {"well", `{"rule": "hotfunction", "where": [{"function": "main.other"}]}`, 0, "hotfunction", false},
		"the well side, consequences": {"well", `{"rule": "gccost"}`, 0, "", false},
	} {
		a := &Answer{Side: c.side}
		if err := json.Unmarshal([]byte(`{"findings": [`+c.findings+`]}`), a); err != nil {
			t.Fatal(err)
		}
		a.Side = c.side
		saved, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // as it was printed, and as it was saved
			j := s.Judge(a)
			if j.Named {
				j.False = append(j.False, "named")
			}
			if j.Rank != c.rank || j.First != c.first || strings.Join(j.False, ",") != c.wrong {
				t.Errorf("%s: rank %d, first %v, wrong %q; want %d, %v, %q", name, j.Rank, j.First, j.False, c.rank, c.first, c.wrong)
			}
			a = &Answer{}
			if err := json.Unmarshal(saved, a); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What lies in the folder exam is the exam, and nothing lies where nobody reads it.
func TestHalves(t *testing.T) {
	dir := filepath.Join("..", "..", "field", "pairs", "testdata")
	all, err := ReadAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]Half{}
	pairs, healthy := map[Half]int{}, map[Half]int{}
	for _, s := range all {
		read[s.Dir] = s.Half()
		switch {
		case s.Kind == Healthy:
			healthy[s.Half()]++
		case s.Counts():
			pairs[s.Half()]++
		}
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "specimen.yaml" {
			return err
		}
		want := Learning
		if strings.HasPrefix(path, filepath.Join(dir, "exam")+string(filepath.Separator)) {
			want = Exam
		}
		if got, ok := read[filepath.Dir(path)]; !ok || got != want {
			t.Errorf("%s is read as %q, want %q", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for half, least := range map[Half][2]int{Learning: {120, 32}, Exam: {60, 20}} {
		if pairs[half] < least[0] || healthy[half] < least[1] {
			t.Errorf("%s has %d pairs that differ and %d healthy programs, want %v", half, pairs[half], healthy[half], least)
		}
	}
}
