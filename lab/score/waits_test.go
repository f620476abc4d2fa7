package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// What is right in an answer about one who waits for a lock that another has.
func TestJudgeWait(t *testing.T) {
	take := truth.Mark{Function: "main.(*box).take", File: "a.go", Line: 10}
	hold := truth.Mark{Function: "main.(*box).hold", File: "a.go", Line: 20}
	sleep := truth.Mark{Function: "main.(*box).take", File: "a.go", Line: 12} // in the same function
	stuck := &truth.Wait{Name: "a-stuck", Verdict: truth.WantStalled, Causes: []truth.Mark{take}, Holders: []truth.Mark{hold}}
	slow := &truth.Wait{Name: "a-slow", Verdict: truth.WantProblem, Causes: []truth.Mark{take}, Holders: []truth.Mark{sleep}}
	circle := &truth.Wait{Name: "b-stuck", Verdict: truth.WantStalled, Cycle: []truth.Mark{take, hold}}
	alone := &truth.Wait{Name: "c-stuck", Verdict: truth.WantStalled, Causes: []truth.Mark{take}}
	fine := &truth.Wait{Name: "a-fine", Verdict: truth.WantNone, Allowed: []string{"hotfunction"}}
	at := func(m truth.Mark) WaitPlace { return WaitPlace{m.Function, m.File, m.Line} }
	found := func(summary string, where ...WaitPlace) []WaitFinding {
		return []WaitFinding{{Rule: "hotmutex", Summary: summary, Where: where}}
	}
	closure := WaitPlace{"main.(*box).hold.func1", "a.go", 21}
	for name, c := range map[string]struct {
		want     *truth.Wait
		evidence WaitEvidence
		verdict  string
		findings []WaitFinding

		cause, holder, rightVerdict, right bool
	}{
		"nothing":                   {want: stuck, verdict: "idle"},
		"both":                      {stuck, WaitTrace, "stalled", found("", at(take), at(hold)), true, true, true, true},
		"the holder alone":          {stuck, WaitTrace, "stalled", found("", closure), true, true, true, true},
		"the holder in words":       {stuck, WaitTrace, "problem", found("main.(*box).hold has it", at(take)), true, true, false, true},
		"the holder's line":         {stuck, WaitDump, "problem", found("a.go:20 has it", at(take)), true, true, true, true},
		"another's line":            {stuck, WaitDump, "problem", found("a.go:200 has it", at(take)), true, false, true, false},
		"a longer name":             {stuck, WaitDump, "problem", found("main.(*box).holder has it", at(take)), true, false, true, false},
		"no holder":                 {stuck, WaitPID, "stalled", found("", at(take)), true, false, true, false},
		"the function of both":      {slow, WaitTrace, "problem", found("main.(*box).take has it", at(take)), true, false, true, false},
		"both of one function":      {slow, WaitTrace, "problem", found("", at(take), at(sleep)), true, true, true, true},
		"slow is not stuck":         {slow, WaitDump, "stalled", found("", at(take), at(sleep)), true, true, false, true},
		"half a circle":             {circle, WaitTrace, "stalled", found("", at(take)), true, false, true, false},
		"a circle":                  {circle, WaitTrace, "stalled", found("", at(hold), at(take)), true, true, true, true},
		"nobody holds it":           {alone, WaitTrace, "stalled", found("", at(take)), true, true, true, true},
		"another first":             {alone, WaitTrace, "stalled", append(found("", at(hold)), found("", at(take))...), false, true, true, false},
		"a remark is not first":     {alone, WaitTrace, "stalled", append([]WaitFinding{{Rule: "x", Remark: true}}, found("", at(take))...), true, true, true, true},
		"nor is the machine":        {alone, WaitTrace, "stalled", append([]WaitFinding{{Rule: "neighbour"}}, found("", at(take))...), true, true, true, true},
		"silence":                   {want: fine, verdict: "idle", rightVerdict: true, right: true},
		"a false stall":             {want: fine, verdict: "stalled"},
		"a false alarm":             {want: fine, verdict: "problem", findings: found(""), rightVerdict: true},
		"what may be said of it":    {want: fine, verdict: "problem", findings: []WaitFinding{{Rule: "hotfunction"}}, rightVerdict: true, right: true},
		"no moment: problem is not": {stuck, WaitPID, "problem", found("", at(take), at(hold)), true, true, false, true},
	} {
		j := judgeWait(&WaitAnswer{Program: c.want.Name, Evidence: c.evidence, Verdict: c.verdict, Findings: c.findings}, c.want)
		if j.cause != c.cause || j.holder != c.holder || j.verdict != c.rightVerdict || j.right() != c.right {
			t.Errorf("%s: cause %v, holder %v, verdict %v, right %v; want %v, %v, %v, %v", name, j.cause, j.holder, j.verdict, j.right(), c.cause, c.holder, c.rightVerdict, c.right)
		}
	}
}

func waitsTruth(t *testing.T) *truth.Waits {
	t.Helper()
	known, err := truth.ReadWaits(filepath.Join(labDir, "waits"))
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// TestWaitsPage: WAITS.md is what waits.json and the truth give, and its answers are
// about all programs from all evidence.
func TestWaitsPage(t *testing.T) {
	known := waitsTruth(t)
	w, err := loadWaits(filepath.Join(labDir, "waits.json"))
	if err != nil {
		t.Fatal(err)
	}
	if w == nil {
		t.Skip("no run was saved")
	}
	rows, all, err := judgeWaits(w, known)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := writeWaits(&want, w, known, rows, all); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(labDir, "WAITS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want.Bytes()) {
		t.Error("lab/WAITS.md is not what lab/waits.json gives: go run ./lab/score -waits -from lab/waits.json")
	}
	for _, p := range known.Programs {
		for _, kind := range waitEvidence {
			if !slices.ContainsFunc(w.Answers, func(a WaitAnswer) bool { return a.Program == p.Name && a.Evidence == kind }) {
				t.Errorf("lab/waits.json has no answer about %s from %s: go run ./lab/score -waits -cases %s", p.Name, kind, p.Name)
			}
		}
	}
}

// TestWaitsSaved: answers come back as they were saved, in the order of the truth.
func TestWaitsSaved(t *testing.T) {
	known := waitsTruth(t)
	first, last := known.Programs[0].Name, known.Programs[len(known.Programs)-1].Name
	w := &Waits{Schema: schema, Answers: []WaitAnswer{
		{Program: last, Evidence: WaitTrace, Verdict: "stalled"},
		{Program: first, Evidence: WaitLive, Failed: "it | ended"},
		{Program: first, Evidence: WaitTrace, Verdict: "problem", Findings: []WaitFinding{{Rule: "hotmutex", Summary: "it waits", Where: []WaitPlace{{"main.f", "a.go", 3}}}}},
	}}
	file := filepath.Join(t.TempDir(), "waits.json")
	if err := w.save(file, known); err != nil {
		t.Fatal(err)
	}
	saved, err := loadWaits(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(saved.Answers) != 3 || saved.Answers[0].Evidence != WaitTrace || saved.Answers[0].Findings[0].Where[0].Line != 3 || saved.Answers[2].Program != last {
		t.Errorf("saved %+v, want three, the first of a trace and in line 3, the last of %s", saved.Answers, last)
	}
	rows, all, err := judgeWaits(saved, known)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := writeWaits(&page, saved, known, rows, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"**stalled**", "no answer", `it \| ended`, "hotmutex main.f a.go:3"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, &page)
		}
	}
	saved.Answers[0].Program = "nobody"
	if _, _, err := judgeWaits(saved, known); err == nil {
		t.Error("an answer about nobody is judged")
	}
}

func TestChooseWaits(t *testing.T) {
	known := waitsTruth(t)
	for names, n := range map[string]int{"": len(known.Programs), "mutex-stuck": 1, "mutex-*": 3, "mutex-fine,abba-fine": 2} {
		if chosen, err := chooseWaits(known, names); err != nil || len(chosen) != n {
			t.Errorf("%q are %d programs, %v; want %d", names, len(chosen), err, n)
		}
	}
	for _, names := range []string{"nobody", "mutex-*,nobody", "[", "mutex-stuck,"} {
		if _, err := chooseWaits(known, names); err == nil {
			t.Errorf("%q are programs", names)
		}
	}
}

func TestPlaceOf(t *testing.T) {
	for text, want := range map[string]WaitPlace{
		"main.(*box).take a.go:10": {"main.(*box).take", "a.go", 10},
		"main.work":                {Function: "main.work"},
		"":                         {},
	} {
		if got := placeOf(text); got != want {
			t.Errorf("placeOf(%q) = %+v, want %+v", text, got, want)
		}
	}
}

// shortWaits are those of the short version, with all that is asked of one program.
var shortWaits = "mutex-stuck,peer-stuck,mutex-fine,group-fine,unsent-fine,server-fine"

var waitsFlag = flag.Bool("waits", false, "TestWaits runs some programs of lab/waits: two minutes")

// TestWaits is the short version of the score of programs that wait: what is stuck or
// slow must be named, and of what is fine nothing said.
func TestWaits(t *testing.T) {
	if !*waitsFlag && !attempt.All(t) {
		t.Skip("runs and records programs for two minutes: go test ./lab/score -run TestWaits -waits")
	}
	known := waitsTruth(t)
	bed, err := testbed.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := chooseWaits(known, shortWaits)
	if err != nil {
		t.Fatal(err)
	}
	err = attempt.Repeat(t, func() error {
		answers, err := (&waitRunner{bed: bed}).all(t.Context(), known.Dir, wrong)
		if err != nil {
			t.Fatal(err)
		}
		_, all, err := judgeWaits(&Waits{Answers: answers}, known)
		if err != nil {
			t.Fatal(err)
		}
		wrong = nil // what was right is not asked again
		var said []error
		for _, j := range all {
			if !j.right() {
				said = append(said, fmt.Errorf("%s from %s: wanted %s; said %s", j.answer.Program, j.answer.Evidence, wantedOf(j.want), printable(saidOf(j.answer))))
				if !slices.ContainsFunc(wrong, func(p truth.Wait) bool { return p.Name == j.want.Name }) {
					wrong = append(wrong, *j.want)
				}
			}
		}
		return errors.Join(said...)
	})
	if err != nil {
		t.Error(err)
	}
}
