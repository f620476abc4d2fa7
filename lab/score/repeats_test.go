package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/lab/internal/specimen"
	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// repeatsOf has a program that flips, one that is unsure, and one that was not recorded.
func repeatsOf() *Repeats {
	lock := func(confidence string, where ...string) specimen.Finding {
		return specimen.Finding{Rule: "hotmutex", Confidence: confidence, Where: where}
	}
	other := specimen.Finding{Rule: "allocchurn", Confidence: "high", Where: []string{"main.make"}}
	under := other
	under.Symptoms = []specimen.Finding{lock("low", "main.add")}
	remark := specimen.Finding{Rule: "hotfunction", Confidence: "high", Where: []string{"main.compute"}, Remark: true}
	of := func(program string, beside bool, round int, verdict string, findings ...specimen.Finding) RepeatAnswer {
		return RepeatAnswer{Program: program, Beside: beside, Round: round, Verdict: verdict, Findings: findings}
	}
	return &Repeats{Schema: schema, Taken: Provenance{Rounds: 5}, Answers: []RepeatAnswer{
		of("flips", false, 1, "problem", lock("high", "main.add", "main.get")),
		of("flips", false, 2, "problem", lock("high", "main.get")),
		of("flips", false, 3, "problem", under), // another one first, and the usual one below
		of("flips", false, 4, "problem", lock("medium", "main.add")),
		of("flips", true, 1, "healthy", remark),
		of("flips", true, 2, "problem", other),
		of("flips", true, 3, "problem", lock("low", "main.add")),
		of("well", false, 1, "healthy", remark),
		of("well", true, 1, "unclear"),
		{Program: "gone", Round: 1, Failed: "it | broke"},
	}}
}

func TestSameness(t *testing.T) {
	list := samenessOf(repeatsOf())
	if len(list) != 3 {
		t.Fatalf("%d programs, want 3", len(list))
	}
	s := list[0]
	if s.Quiet != (Share{2, 3}) || s.Beside != (Share{0, 2}) || s.Sure != (Share{5, 7}) || s.usual.words() != "hotmutex in main.add" {
		t.Errorf("flips: quiet %v, beside %v, sure %v, usually %s, want {2 3}, {0 2}, {5 7}, hotmutex in main.add",
			s.Quiet, s.Beside, s.Sure, s.usual.words())
	}
	var said []string
	for _, a := range s.contradicting {
		said = append(said, a.words())
	}
	if want := []string{"healthy", "allocchurn in main.make"}; !reflect.DeepEqual(said, want) {
		t.Errorf("contradictions %q, want %q: what is found at another place of the list is none", said, want)
	}
	if s.Same != (Share{4, 7}) {
		t.Errorf("flips: %v are the same, sure or not; want 4 of 7", s.Same)
	}
	if s = list[1]; s.Quiet != (Share{1, 1}) || s.Beside.N != 0 || s.Sure != (Share{1, 2}) || len(s.contradicting) != 0 {
		t.Errorf("well: quiet %v, beside %v, sure %v, %d contradict, want {1 1}, none, {1 2}, 0",
			s.Quiet, s.Beside, s.Sure, len(s.contradicting))
	}
	if s = list[2]; s.Failed != 1 || s.usual != nil || s.Sure.N != 0 {
		t.Errorf("gone: %d failed, usually %+v, sure %v, want 1, nil, none", s.Failed, s.usual, s.Sure)
	}
}

func TestRepeatsPage(t *testing.T) {
	r := repeatsOf()
	file := filepath.Join(t.TempDir(), "repeats.json")
	if none, err := loadRepeats(file); none != nil || err != nil {
		t.Errorf("loadRepeats(no file) = %v, %v; want nothing", none, err)
	}
	if err := r.save(file); err != nil {
		t.Fatal(err)
	}
	again, err := loadRepeats(file)
	if err != nil || !reflect.DeepEqual(again.Answers, r.Answers) {
		t.Fatalf("loadRepeats() = %+v, %v; want %+v", again, err, r)
	}
	var b bytes.Buffer
	p := &page{r: &Results{}, s: &Score{}, repeated: again}
	if err := p.write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| flips | hotmutex in main.add | 2/3 | 0/2 | 5/7 | 4/7 | 2 | 0 |", "| flips-beside-1.gowhy | hotmutex in main.add | healthy |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not say %q:\n%s", want, &b)
		}
	}
}

// The programs that are recorded without -cases are there, and wrong names are told.
func TestRepeatables(t *testing.T) {
	root, err := testbed.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	o := &options{lab: filepath.Join(root, "lab")}
	list, err := o.repeatables(repeatedPrograms, nil, t.TempDir())
	if err != nil || len(list) != len(repeatedPrograms) {
		t.Errorf("%d programs, %v; want %d", len(list), err, len(repeatedPrograms))
	}
	for _, name := range []string{"filepool", "nobody:sick", "filepool:nothing", "dnsnames:light"} {
		if _, err := o.repeatables([]string{name}, nil, ""); err == nil {
			t.Errorf("%q is a program", name)
		}
	}
}

// What was kept is diagnosed again, and what was not is left out.
func TestRepeatsAgain(t *testing.T) {
	r := repeatRunner{keep: t.TempDir(), again: true}
	a := RepeatAnswer{Program: "a case:a run", Beside: true, Round: 2}
	if err := r.ask(context.Background(), repeatable{}, &a); !os.IsNotExist(err) {
		t.Errorf("ask() = %v, want that there is no file", err)
	}
	if want := "a-case-a-run-beside-2.gowhy"; a.file() != want {
		t.Errorf("%s, want %s", a.file(), want)
	}
}
