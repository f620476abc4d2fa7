package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/lab/internal/specimen"
)

// fieldOf returns a field of two pairs, one that does not differ and a healthy program,
// all of the half learning, with an answer to each side.
func fieldOf(t *testing.T) (*Field, []*specimen.Specimen) {
	t.Helper()
	differs := &specimen.Difference{Metric: "cpu", Ratio: 2}
	all := []*specimen.Specimen{
		{Kind: specimen.Modules, Differs: differs, Rules: []string{"hotfunction"}, Guilty: []string{"a.Escape"}},
		{Kind: specimen.Reviews, Differs: differs, Rules: []string{"heapgrowth"}},
		{Kind: specimen.Modules, Differs: &specimen.Difference{Metric: "cpu", Ratio: 1.01}, Rules: []string{"hotfunction"}},
		{Kind: specimen.Healthy},
	}
	for i, name := range []string{"aa", "ab", "ac", "ad"} {
		all[i].Name = name
	}
	found := specimen.Finding{Rule: "hotfunction", Where: []string{"example.com/a.Escape"}}
	return &Field{Schema: schema, Answers: []specimen.Answer{
		{Specimen: all[0].Name, Side: "sick", Verdict: "sick", Findings: []specimen.Finding{{Rule: "gccost"}, found}},
		{Specimen: all[0].Name, Side: "well", Verdict: "sick", Findings: []specimen.Finding{found}},
		{Specimen: all[1].Name, Side: "sick", Verdict: "sick", Findings: []specimen.Finding{{Rule: "heapgrowth"}}},
		{Specimen: all[1].Name, Side: "well", Verdict: "healthy"},
		{Specimen: all[1].Name, Side: "sick", Verdict: "healthy", Beside: true},
		{Specimen: all[2].Name, Side: "sick", Verdict: "healthy"},
		{Specimen: all[3].Name, Side: "light", Verdict: "idle"},
		{Specimen: all[3].Name, Side: "heavy", Verdict: "sick", Findings: []specimen.Finding{{Rule: "hotmutex"}, {Rule: "neighbour"}}},
		{Specimen: all[3].Name, Side: "normal", Failed: "it | broke"},
	}}, all
}

func TestTallyField(t *testing.T) {
	f, all := fieldOf(t)
	got := tallyField(f, all, specimen.Learning, false)
	if got.Strict != (Share{1, 2}) || got.First != (Share{1, 2}) || got.Green != (Share{0, 2}) || got.Three != (Share{2, 2}) || got.Silent != (Share{1, 2}) || got.False != 1 || got.Healthy != 2 || got.Same != 1 || got.Failed != 1 {
		t.Errorf("tallyField(learning) = strict %v, first %v, green %v, three %v, silent %v, "+
			"%d false of %d, %d same, %d failed, want {1 2}, {1 2}, {0 2}, {2 2}, {1 2}, 1 of 2, 1, 1",
			got.Strict, got.First, got.Green, got.Three, got.Silent, got.False, got.Healthy, got.Same, got.Failed)
	}
	if len(got.wrong) != 4 {
		t.Errorf("wrong are %+v, want the second place, the repaired one, the false finding and the failure", got.wrong)
	}
	if busy := tallyField(f, all, specimen.Learning, true); busy.First != (Share{0, 1}) || busy.Green != (Share{1, 1}) || busy.Healthy != 0 {
		t.Errorf("tallyField(learning, beside) = %+v, want the one answer, which is wrong", busy)
	}
	if exam := tallyField(f, all, specimen.Exam, false); exam.First.N != 0 || len(exam.wrong) != 0 {
		t.Errorf("tallyField(exam) = %+v, want nothing", exam)
	}
}

// Saved answers are read as they were, and the page has them.
func TestFieldPage(t *testing.T) {
	f, all := fieldOf(t)
	file := filepath.Join(t.TempDir(), "field.json")
	if none, err := loadField(file); none != nil || err != nil {
		t.Errorf("loadField(no file) = %v, %v; want nothing", none, err)
	}
	if err := f.save(file); err != nil {
		t.Fatal(err)
	}
	again, err := loadField(file)
	if err != nil || !reflect.DeepEqual(again.Answers, f.Answers) {
		t.Fatalf("loadField() = %+v, %v; want %+v", again, err, f)
	}
	var b bytes.Buffer
	p := &page{r: &Results{}, s: &Score{}, answers: again, specimens: all}
	if err := p.write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 pairs of released versions", "| learning | 50 % (1 of 2", "hotmutex", `it \| broke`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not say %q:\n%s", want, &b)
		}
	}
}

// The answers of a tool that knows no rules, but says where, are judged by their places.
func TestJudgeAnswers(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "answers.json")
	const answers = `{"schema": %d, "answers": [{"specimen": "dnsnames", "side": "sick", "findings": [{"where": ["dnsnames.encode"]}]}]}`
	if err := os.WriteFile(file, fmt.Appendf(nil, answers, schema), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	o := options{lab: "..", judge: file, say: &b}
	if err := o.judgeAnswers(); err != nil || !strings.Contains(b.String(), "| learning | 100 % (1 of 1;") {
		t.Errorf("judgeAnswers() = %v\n%s\nwant one right answer in the half learning", err, b.String())
	}
	o.judge = filepath.Join(dir, "none")
	if err := o.judgeAnswers(); err == nil {
		t.Error("judgeAnswers() without a file: no error")
	}
}
