package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

func storyCase() *truth.Case {
	return &truth.Case{Name: "story", Args: []string{"-a"}, Server: &truth.Server{Name: "Kafka", Variable: "KAFKA", Args: []string{"-brokers", "{server}"}},
		Illnesses: []truth.Illness{
			{Name: "commits", Rule: "serialwait", Where: []string{"main.commit"}, Also: []string{"idleprocs"}, Left: []string{"syscallbound"},
				Sick: []string{"-n", "8"}, Healed: []string{"-n", "8", "-async"},
				Sizes: map[string]truth.Size{"large": {Sick: []string{"-n", "80"}, Healed: []string{"-n", "80", "-async"}, Load: []string{"load"}}}},
			{Name: "no sizes", Rule: "hotmutex", Sick: []string{"-x"}},
		}}
}

// Each size is run sick and healed on each server that is there, alone and beside a load.
func TestStoryPlan(t *testing.T) {
	none := func(*truth.Server) string { return "" }
	if n := len(storyPlan([]*truth.Case{storyCase()}, 3, none)); n != 3*2*2*2 {
		t.Errorf("%d runs without a server", n)
	}
	tasks := storyPlan([]*truth.Case{storyCase()}, 1, func(s *truth.Server) string { return "127.0.0.1:9" + s.Variable })
	if len(tasks) != 2*2*2*2 {
		t.Fatalf("%d runs", len(tasks))
	}
	files := map[string]bool{}
	for i := range tasks {
		run := tasks[i].run()
		files[run.file()] = true
		real := slices.Contains(tasks[i].args, "127.0.0.1:9KAFKA")
		if tasks[i].loaded != (len(tasks[i].beside) > 0) || real != (run.Server == "Kafka") || tasks[i].args[0] != "-a" || (run.Size == "large") != (len(tasks[i].load) == 1) {
			t.Errorf("%s on server %q: loaded %v beside %q, args %q, load %q, want something beside it if loaded, "+
				"-a first, the server's address if it is real, a load if large",
				run.file(), run.Server, tasks[i].loaded, tasks[i].beside, tasks[i].args, tasks[i].load)
		}
	}
	if len(files) != len(tasks) || !files["story-commits-large-Kafka-sick-beside-1.gowhy"] {
		t.Errorf("%d files of %d runs: %v", len(files), len(tasks), files)
	}
}

// What is right, by kind of run, and where it is counted.
func TestStoryRows(t *testing.T) {
	cause := Finding{Rule: "serialwait", Where: []string{"main.commit"}}
	run := func(kind Kind, beside bool, findings ...Finding) StoryRun {
		return StoryRun{Case: "story", Name: "commits", Kind: kind, Size: "large", Beside: beside, Verdict: "problem", Findings: findings}
	}
	failed := run(Healed, false)
	failed.Failed = "exit status 1"
	s := &Stories{Schema: schema, Runs: []StoryRun{
		run(Sick, false, cause),
		run(Sick, false, Finding{Rule: "idleprocs"}, cause),                         // not first
		run(Sick, true, Finding{Rule: "serialwait", Where: []string{"main.other"}}), // another function
		run(Sick, true), // nothing
		run(Healed, false, Finding{Rule: "syscallbound"}, Finding{Rule: "neighbour"}),    // left, and the machine
		run(Healed, false, Finding{Rule: "allocchurn", Remark: true}),                    // accuses nobody
		run(Healed, true, Finding{Rule: "idleprocs", Where: []string{"main.(*q).send"}}), // a false alarm
		failed,
		run(Sick, true, Finding{Rule: "failures", Symptoms: []Finding{{Rule: "overload"}}}, cause, Finding{Rule: "neighbour", Remark: true}), // the machine's
		run(Sick, true, Finding{Rule: "failures"}, cause), // its own
	}}
	rows := storyRows(s, []*truth.Case{storyCase()})
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	r := rows[0]
	if r.sick != [2]Share{{1, 2}, {1, 4}} || r.healed != [2]Share{{2, 3}, {0, 1}} || r.all != (Share{4, 10}) || r.quiet != (Share{3, 5}) || r.loaded != (Share{1, 5}) || len(r.wrong) != 6 {
		t.Errorf("storyRows() = sick %v, healed %v, all %v, quiet %v, loaded %v, wrong %q, "+
			"want [{1 2} {1 4}], [{2 3} {0 1}], {4 10}, {3 5}, {1 5}, six",
			r.sick, r.healed, r.all, r.quiet, r.loaded, r.wrong)
	}
	var page bytes.Buffer
	if err := writeStories(&page, s, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| `story` | commits | large | its own | 1/2 | 1/4 | 2/3 | 0/1 | **no** |", "idleprocs in main.(", "exit status 1"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in\n%s", want, &page)
		}
	}
	path := filepath.Join(t.TempDir(), "stories.json")
	if err := s.save(path); err != nil {
		t.Fatal(err)
	}
	again, err := loadStories(path)
	if err != nil {
		t.Fatal(err)
	}
	var second bytes.Buffer
	if err := writeStories(&second, again, storyRows(again, []*truth.Case{storyCase()})); err != nil || second.String() != page.String() {
		t.Errorf("saved and read again, the page differs: %v\n%s", err, &second)
	}
	again.renew(&Stories{Taken: Provenance{Cases: "story", Rounds: 5}, Runs: []StoryRun{run(Sick, false, cause)}})
	if rows := storyRows(again, []*truth.Case{storyCase()}); len(rows) != 1 || rows[0].all != (Share{1, 1}) {
		t.Errorf("made anew: %+v, want one run that is right", rows)
	}
	page.Reset()
	if err := writeStories(&page, again, nil); err != nil || !strings.Contains(page.String(), "All of `story` was made anew, 5 times") {
		t.Errorf("the page does not say what was made anew: %v\n%s", err, &page)
	}
	if err := os.WriteFile(path, []byte(`{"schema": 99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadStories(path); err == nil || !strings.Contains(err.Error(), "schema 99") {
		t.Errorf("another schema: %v", err)
	}
}

// TestStoriesPage: STORIES.md is what stories.json and the truth give, and it has every
// case study at three sizes or more.
func TestStoriesPage(t *testing.T) {
	cases, err := truth.ReadAll(labDir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := loadStories(filepath.Join(labDir, "stories.json"))
	if err != nil {
		t.Fatal(err)
	}
	rows := storyRows(s, cases)
	sizes := map[string]map[string]bool{}
	for _, r := range rows {
		if sizes[r.of] == nil {
			sizes[r.of] = map[string]bool{}
		}
		sizes[r.of][r.size] = true
	}
	for _, story := range []string{"filepool", "ruleengine", "consumer", "top", "zonedns"} {
		if len(sizes[story]) < 3 {
			t.Errorf("%s at the sizes %v", story, sizes[story])
		}
	}
	var page bytes.Buffer
	if err := writeStories(&page, s, rows); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(labDir, "STORIES.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, page.Bytes()) {
		t.Error("lab/STORIES.md is not what lab/stories.json gives: go run ./lab/score -stories -from lab/stories.json")
	}
}
