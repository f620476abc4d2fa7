package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/specimen"
	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// labDir is the lab, as seen from this package's tests.
const labDir = ".."

func allCases(t *testing.T) []*truth.Case {
	t.Helper()
	cases, err := truth.ReadAll(labDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("there are no cases")
	}
	return cases
}

// shortRight is the share of answers that must be right in the short version,
// after retries: the bar of first causes, for the same reasons.
const shortRight = 0.9

var truthFlag = flag.String("truth", "", "`HOW` many of the lab's runs TestTruth makes: short or all; it wants the machine for itself")

// TestTruth is the short version of the score: every illness sick once, and of
// each case the first that is healed and the first that is well; with -truth all,
// all of these. A wrong answer whose reason is in reasons.yaml is told and no
// failure; SCORE.md has it.
func TestTruth(t *testing.T) {
	if *truthFlag == "" {
		t.Skip("records the lab for minutes, with nothing beside it: go test ./lab/score -run TestTruth -truth short")
	}
	if *truthFlag != "short" && *truthFlag != "all" {
		t.Fatalf("-truth is short or all, not %q", *truthFlag)
	}
	cases := allCases(t)
	reasons, err := truth.Reasons("reasons.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bed, err := testbed.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := build(t.Context(), bed, cases); err != nil {
		t.Fatal(err)
	}
	r := &runner{bed: bed}
	var right Share
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, one := range questions(c, *truthFlag == "all") {
				t.Run(one.name+"-"+string(one.kind), func(t *testing.T) { right.add(tryTask(t, r, one, reasons)) })
			}
		})
	}
	if right.Rate() < shortRight {
		t.Errorf("%d of %d answers are right, %.0f %% are wanted", right.K, right.N, 100*shortRight)
	}
}

// questions returns the runs of a case without those that ask the same again.
func questions(c *truth.Case, all bool) (list []task) {
	asked, kinds := map[string]bool{}, map[Kind]int{}
	for _, one := range ofCase(c, 1, false) {
		if q := question(one); !asked[q] && (all || one.kind == Sick || kinds[one.kind] == 0) {
			asked[q] = true
			kinds[one.kind]++
			list = append(list, one)
		}
	}
	return list
}

// question returns what is run and what may be said of it. Several illnesses of a
// case may have one cure: the short version tries it once.
func question(one task) string {
	var allowed []string
	switch one.kind {
	case Sick:
		return one.name
	case Healed:
		allowed = one.c.Illness(one.name).Left
	case Healthy:
		allowed = one.c.Run(one.name).Expect
	}
	return fmt.Sprintf("%q %q %q %q", one.args, one.load, one.beside, allowed)
}

// tryTask runs a task: a machine with other work makes one of many runs another story.
func tryTask(t *testing.T, r *runner, one task, reasons map[string]string) bool {
	var wrong *Wrong
	err := attempt.Repeat(t, func() error {
		if wrong = wrongIn(t, r.do(t.Context(), one), one.c); wrong != nil {
			return fmt.Errorf("wanted %s; said %s", wrong.Want, printable(wrong.Said))
		}
		return nil
	})
	if err == nil {
		return true
	}
	t.Log(err)
	why := reason(reasons, *wrong)
	if why != "" {
		t.Logf("known: %s", why)
	}
	return why != ""
}

// wrongIn returns what the score would say of one answer; nil when it is right.
func wrongIn(t *testing.T, a Answer, c *truth.Case) *Wrong {
	t.Helper()
	s, err := score(&Results{Answers: []Answer{a}}, []*truth.Case{c})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Wrong) == 0 {
		return nil
	}
	return &s.Wrong[0]
}

// TestQuestion: only what is the same run and may be said the same of is tried once.
func TestQuestion(t *testing.T) {
	c := knowledge()[0]
	tasks := ofCase(c, 1, false)
	if len(tasks) != 4 || question(tasks[0]) == question(tasks[2]) || question(tasks[1]) == question(tasks[3]) {
		t.Fatalf("%d tasks, want 4 with different questions", len(tasks))
	}
	if all, short := len(questions(c, true)), len(questions(c, false)); all != 4 || short != 3 {
		t.Errorf("%d questions, %d of them in the short version; want 4 and 3", all, short)
	}
	c.Illnesses[1].Left = nil
	if question(tasks[0]) != question(tasks[2]) {
		t.Errorf("%s and %s are two questions", question(tasks[0]), question(tasks[2]))
	}
	if n := len(questions(c, true)); n != 3 {
		t.Errorf("%d questions with one asked twice", n)
	}
}

// TestRulesExist holds the truth files to the rules that gowhy has.
func TestRulesExist(t *testing.T) {
	if testing.Short() {
		t.Skip("builds gowhy")
	}
	bed, err := testbed.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gowhy, err := bed.Gowhy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := testbed.Run(t.Context(), gowhy, "explain")
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for line := range strings.Lines(list.Stdout) {
		if words := strings.Fields(line); len(words) > 0 {
			rules = append(rules, words[0])
		}
	}
	if !slices.Contains(rules, "leakedtimers") {
		t.Fatalf("gowhy explain printed %q, want leakedtimers in it", list.Stdout)
	}
	for _, c := range allCases(t) {
		for _, r := range c.Rules() {
			if !slices.Contains(rules, r) {
				t.Errorf("%s names the rule %s, which gowhy does not have", c.Name, r)
			}
		}
	}
	for _, r := range slices.Concat(aside, busyRules) {
		if !slices.Contains(rules, r) {
			t.Errorf("%s is no rule any more", r)
		}
	}
	checkMetrics(t, gowhy)
}

// checkMetrics holds the metrics that truth files may use to those of gowhy,
// which lists them when it is asked for another.
func checkMetrics(t *testing.T, gowhy string) {
	t.Helper()
	f, err := testbed.Run(context.Background(), gowhy, "verify", "--primary", "none-such", "--a", "true", "--b", "true")
	_, names, ok := strings.Cut(f.Stderr, "is none of ")
	if err == nil || !ok {
		t.Fatalf("gowhy verify took any metric: %v\n%s", err, f.Stderr)
	}
	words := strings.Fields(strings.ReplaceAll(names, ",", " "))
	for _, m := range truth.Metrics {
		if !slices.Contains(words, m) {
			t.Errorf("the metric %s is none of gowhy's %q", m, words)
		}
	}
}

// TestFamiliesAgree: all truth files have a rule in the same family.
func TestFamiliesAgree(t *testing.T) {
	of, in := map[string]string{}, map[string]string{}
	for _, c := range allCases(t) {
		for _, ill := range c.Illnesses {
			if before, ok := of[ill.Rule]; ok && before != ill.Family {
				t.Errorf("%s has %s in the family %s, %s in %s", c.Name, ill.Rule, ill.Family, in[ill.Rule], before)
			}
			of[ill.Rule], in[ill.Rule] = ill.Family, c.Name
		}
	}
	seen := map[string]string{}
	for family, rules := range families {
		if !slices.Contains(truth.Families, family) {
			t.Errorf("%q is no family", family)
		}
		for _, r := range rules {
			if seen[r] != "" {
				t.Errorf("%s is in the families %s and %s", r, seen[r], family)
			}
			seen[r] = family
		}
	}
}

var wantMark = regexp.MustCompile(`// want ([a-z]+)\s*$`)

// TestMarks: where a case names a guilty function, a line of its source is
// marked with the rule, for who reads it.
func TestMarks(t *testing.T) {
	for _, c := range allCases(t) {
		marked := map[string]bool{}
		err := filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			source, err := os.ReadFile(path)
			for line := range bytes.Lines(source) {
				if m := wantMark.FindSubmatch(line); m != nil {
					marked[string(m[1])] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, ill := range c.Illnesses {
			if len(ill.Where) > 0 && !marked[ill.Rule] {
				t.Errorf("%s: no line is marked // want %s, of the illness %s", c.Name, ill.Rule, ill.Name)
			}
		}
	}
}

// TestScorePage: SCORE.md is what score.json, the truth and the reasons give,
// and every wrong answer in it has its reason.
func TestScorePage(t *testing.T) {
	r, err := load(filepath.Join(labDir, "score.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no long run was saved")
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := score(r, allCases(t))
	if err != nil {
		t.Fatal(err)
	}
	reasons, err := truth.Reasons("reasons.yaml")
	if err != nil {
		t.Fatal(err)
	}
	field, err := loadField(filepath.Join(labDir, "field.json"))
	if err != nil {
		t.Fatal(err)
	}
	specimens, err := specimen.ReadAll(filepath.Join(labDir, "field", "pairs", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	o := options{lab: labDir, out: filepath.Join(labDir, "SCORE.md")}
	waits, known, err := o.savedWaits()
	if err != nil {
		t.Fatal(err)
	}
	held, err := o.savedHolders()
	if err != nil {
		t.Fatal(err)
	}
	repeats, err := loadRepeats(o.repeatsFile())
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := (&page{repeated: repeats, r: r, s: s, reasons: reasons, answers: field, specimens: specimens, waiting: waits, known: known, holding: held}).write(&want); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(labDir, "SCORE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want.Bytes()) {
		t.Error("lab/SCORE.md is not what lab/score.json gives: go run ./lab/score -from lab/score.json")
	}
	for _, w := range s.Wrong {
		if reason(reasons, w) == "" {
			t.Errorf("%s#%d has no reason in lab/score/reasons.yaml: wanted %s; said %s", w.Key, w.Round, w.Want, printable(w.Said))
		}
	}
}

// TestFlags: what cannot be meant is refused, in words.
func TestFlags(t *testing.T) {
	program := filepath.Join(t.TempDir(), "score")
	if err := testbed.GoBuild(t.Context(), ".", program, "."); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "SCORE.md")
	for args, says := range map[string]string{
		"-runs 0":           "-runs is 1 to 100",
		"-pairs 5":          "-pairs 6",
		"zonedns":           `"zonedns" is not understood`,
		"-cases none-such":  `no case "none-such"`,
		"-from none.json":   "none.json",
		"-lab /none/such":   "/none/such",
		"-h":                "go run ./lab/score -from",
		"-repeats -1":       "-repeats 0",
		"-runs many":        "invalid value",
		"-no-such-flag yes": "not defined",
	} {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-o", out}, strings.Fields(args)...)...)
		text, err := cmd.CombinedOutput()
		if !strings.Contains(string(text), says) || err == nil && args != "-h" {
			t.Errorf("score %s: %v, want %q in\n%s", args, err, says, text)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a page was written")
	}
}

// TestAgain writes a page from saved results, as -from does.
func TestAgain(t *testing.T) {
	cases := allCases(t)
	r := answers(cases[:1], right)
	r.Anew = []Provenance{{Date: "2026-11-22", Commit: "0123456789ab", Only: "experiments", Seed: 7}}
	dir := t.TempDir()
	file := filepath.Join(dir, "score.json")
	if err := r.save(file); err != nil {
		t.Fatal(err)
	}
	o := options{from: file, out: filepath.Join(dir, "SCORE.md"), lab: labDir, say: io.Discard}
	if err := o.again(cases); err != nil {
		t.Fatal(err)
	}
	if page, err := os.ReadFile(o.out); err != nil || !strings.Contains(string(page), "# The scorecard") || !strings.Contains(string(page), "commit `0123456789ab` (seed 7") {
		t.Errorf("the page: %v, want the scorecard of commit 0123456789ab in\n%s", err, page)
	}
}
