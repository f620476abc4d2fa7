package web

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/draw/export"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

func TestTasksAnswer(t *testing.T) {
	v := accounts()
	if _, err := v.tasks(nil); !refused(err, "no user tasks") {
		t.Errorf("tasks of a run without tasks: error %v, want one with \"no user tasks\"", err)
	}
	of := model.TaskType{Name: "request", Count: 3, Complete: 2}
	of.Latency.Add(10 * ms)
	of.Latency.Add(30 * ms)
	v.Model.Tasks = &model.Tasks{
		Tasks:   []model.TaskType{of},
		Regions: []model.RegionType{{Name: "parse", Count: 2, Open: 1, Times: model.Times{Running: 3 * ms, Blocked: map[string]time.Duration{"network": ms, "select": 2 * ms}}}},
		Logs:    []model.LogCount{{Category: "c", Count: 9, Example: strings.Repeat("x", 1<<20)}},
		Slow:    []model.Task{{ID: 1 << 63, Name: "request", Begin: -5, End: -7, Logs: 2}, {ID: 4, Parent: 1 << 63, Name: "request", Begin: ms, End: 31 * ms}},
	}
	value, err := v.tasks(nil)
	got := ask[Tasks](t, value, err)
	task := got.Tasks[0]
	if task.Open != 1 || task.Latency.N != 2 || task.Latency.MaxNS != int64(30*ms) || len(task.Latency.LowNS) != 2 || len(task.Slow) != 2 {
		t.Errorf("task %+v, want 1 open, a latency of 2 (maximum 30 ms, 2 low) and 2 slow", task)
	}
	if slow := task.Slow[0]; slow.ID != "9223372036854775808" || slow.FromNS != 0 || slow.ToNS != -1 {
		t.Errorf("slow task %+v, want ID 9223372036854775808 from 0 to -1", slow)
	}
	states := got.Regions[0].States
	if len(states) != 3 || states[1].State != "waiting" || states[1].Reason != "select" || states[2].Reason != "network" {
		t.Errorf("states of a region %+v, want 3 with the waits for select and network last", states)
	}
	if len(got.Logs[0].Example) > maxName+10 {
		t.Errorf("the example of a log has %d bytes, want at most %d", len(got.Logs[0].Example), maxName+10)
	}
	value, err = v.task(query("id", "4"))
	if one := ask[Task](t, value, err); one.Parent != "9223372036854775808" || one.ToNS != int64(31*ms) || one.Note == "" {
		t.Errorf("task(4) = %+v, want parent 9223372036854775808, an end at 31 ms and a note", one)
	}
	for id, want := range map[string]string{"": "no task's number", "-1": "no task's number", "99": "not among those kept"} {
		if _, err := v.task(query("id", id)); !refused(err, want) {
			t.Errorf("task(%q): error %v, want one with %q", id, err, want)
		}
	}
}

// A finding with names of megabytes is sent with short ones; the diagnosis stays
// as it was.
func TestFindingsAreClipped(t *testing.T) {
	v := accounts()
	long := strings.Repeat("<script>é\x1b\"\\", 1<<20)
	v.Diagnosis = &diagnosis.Diagnosis{Verdict: diagnosis.Problem, Summary: "short", Findings: []diagnosis.Finding{{
		Rule: "hotmutex", Summary: long, Where: []diagnosis.Place{{Function: long, File: long, Line: 3}},
		Evidence: []fact.Fact{fact.Figure("mean wait", 0.5, fact.Seconds, "a test")},
	}}}
	value, err := v.findings(nil)
	data, encodeErr := encode(value)
	if encodeErr != nil || len(data) > 1<<18 {
		t.Fatalf("encode(findings) = %d bytes, %v; want at most 1<<18 and no error", len(data), encodeErr)
	}
	got := ask[Findings](t, value, err)
	f := got.Diagnosis.Findings[0]
	if !strings.HasPrefix(f.Summary, "<script>é\x1b\"\\<script>") || !strings.HasSuffix(f.Summary, "…") || f.Where[0].Line != 3 || f.Evidence[0].Value != 0.5 {
		t.Errorf("summary %.100q, want its start, cut by …; line %d, want 3; value %v, want 0.5", f.Summary, f.Where[0].Line, f.Evidence[0].Value)
	}
	if len(v.Diagnosis.Findings[0].Summary) != len(long) {
		t.Error("the diagnosis itself was changed")
	}
	if len(got.Links) != 1 || len(got.Links[0].Evidence) != 1 || got.Links[0].Evidence[0].To == "" {
		t.Errorf("links %.300v, want one finding with one fact that leads somewhere", got.Links)
	}
	short := accounts()
	if d, err := clipTexts(short.Diagnosis); d != short.Diagnosis || err != nil {
		t.Error("a diagnosis with short names is copied")
	}
}

func TestClipJSON(t *testing.T) {
	long := strings.Repeat("a", maxName-1)
	for text, want := range map[string]string{
		"":               "",
		"plain":          "plain",
		long:             long,
		long + "é":       long + "…", // not half a character
		long + "\n":      long + "…", // nor half an escape
		long + "bcd":     long + "b…",
		long + "\u2028x": long + "…",
	} {
		data, err := json.Marshal(map[string]string{"k": text})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(clipJSON(data), &got); err != nil || got["k"] != want {
			t.Errorf("clipJSON(…%q) = …%q, %v; want …%q", text[max(0, len(text)-8):], got["k"][max(0, len(got["k"])-8):], err, want[max(0, len(want)-8):])
		}
	}
}

// What the list of sources offers can be written, and what it does not cannot.
func TestExportsAreThose(t *testing.T) {
	for _, v := range []*View{accounts(), {Model: &model.Model{}}, {Model: &model.Model{CPU: &model.Profile{Types: []model.ValueType{{Name: "cpu", Unit: "nanoseconds"}}}}}} {
		value, err := v.sources(nil)
		offered := map[string]bool{}
		for _, e := range ask[Sources](t, value, err).Exports {
			if e.Ext == "" || e.Doc == "" {
				t.Errorf("export %+v, want an ext and a doc", e)
			}
			for _, p := range e.Profiles {
				offered[e.Format+" "+p] = true
			}
			for _, table := range e.Tables {
				offered[e.Format+" "+table] = true
			}
			if e.Profiles == nil || len(e.Profiles)+len(e.Tables) == 0 {
				offered[e.Format+" "] = true
			}
		}
		check := func(f export.Format, choice string, o export.Options) {
			t.Helper()
			err := f.Write(new(bytes.Buffer), v.Model, o)
			if can := err == nil; can != offered[f.Name+" "+choice] {
				t.Errorf("%s %s: offered %v, want %v, as Write says: %v", f.Name, choice, !can, can, err)
			}
		}
		for _, f := range export.All {
			switch f.Holds {
			case export.OneProfile, export.ManyProfiles:
				for _, p := range export.Profiles {
					check(f, string(p), export.Options{Profile: p})
				}
			case export.OneTable:
				for _, table := range export.Tables() {
					check(f, table, export.Options{Table: table})
				}
			case export.TimeLine:
				check(f, "", export.Options{})
			}
		}
	}
}

func TestSourcesAnswer(t *testing.T) {
	v := accounts()
	v.Members = []Member{{Name: "trace", What: "the execution trace", Bytes: 9, Get: "api/member?r=0&name=trace"}, {Name: "odd\x1b<b>.bin", Bytes: 1}}
	v.Model.Run.Command = []string{"./app", "-n", "two words"}
	v.Model.Run.Refused = []model.Refusal{{Member: "kernel.pb.gz", Source: model.KernelCPU, Why: "perf_event_paranoid is 4"}, {Member: "what is that", Why: "no"}}
	v.Model.Run.Coverage = model.Coverage{Bytes: 1000, LostBytes: 10, LostEvents: 3, Generations: 4, Damaged: 1, MaxOverlap: time.Second, Notes: []string{strings.Repeat("n", 1<<20)}}
	v.Model.Build = &model.Build{Path: "example.com/app", Go: "go1.26.1", Settings: map[string]string{"-race": "true", "vcs": ""}, Environment: map[string]string{"GOGC": "50"}}
	value, err := v.sources(nil)
	got := ask[Sources](t, value, err)
	if got.Members[0].What == got.Members[1].What || got.Members[0].Get == "" || got.Members[1].Name != "odd\x1b<b>.bin" {
		t.Errorf("members %+v, want different kinds, an address of the first and the second's name as it is", got.Members)
	}
	if got.Command != `./app -n 'two words'` {
		t.Errorf("command %s, want ./app -n 'two words'", got.Command)
	}
	if got.Refused[0].How == "" || got.Refused[1].How != "" {
		t.Errorf("refusals %+v, want how to help with the first and not with the second", got.Refused)
	}
	if len(got.Notes) != 4 || !strings.Contains(got.Notes[0], "10 of 1000 bytes") || len(got.Notes[3]) > maxName+10 {
		t.Errorf("notes %.300v, want 4: 10 of 1000 bytes first, the last one cut", got.Notes)
	}
	if want := []KeyValue{{"path", "example.com/app"}, {"go", "go1.26.1"}, {"-race", "true"}, {"GOGC", "50"}}; len(got.Build) != len(want) || got.Build[2] != want[2] || got.Build[3] != want[3] {
		t.Errorf("build %+v, want %+v", got.Build, want)
	}
}

func TestCompareAnswer(t *testing.T) {
	a, b := accounts(), accounts()
	b.Name = "new.gowhy"
	b.Model.Sched.Groups[0].Running += time.Second
	p := &page{}
	p.addView(a, nil)
	p.addView(b, nil)
	for _, kind := range []string{"verify", "tune", "capacity", "comparison", "poem"} {
		p.addResult(Result{Trial: Trial{Name: kind, Kind: kind}, JSON: json.RawMessage(`{"kind":"` + kind + `"}`)})
	}
	v := &View{page: p}
	value, err := v.compare(query("a", "0", "b", "1"))
	var c struct {
		A, B struct{ Name string }
	}
	if err := json.Unmarshal(ask[Compare](t, value, err).Comparison, &c); err != nil || c.A.Name != "run.gowhy" || c.B.Name != "new.gowhy" {
		t.Errorf("compare(0, 1) = %+v, %v; want run.gowhy with new.gowhy", c, err)
	}
	for i, kind := range []string{"verify", "tune", "capacity", "comparison"} {
		value, err := v.compare(query("trial", string(rune('0'+i))))
		got := ask[map[string]json.RawMessage](t, value, err)
		n := 0
		for _, raw := range got {
			if string(raw) == `{"kind":"`+kind+`"}` {
				n++
			} else if string(raw) != "null" {
				t.Errorf("compare(trial %s) has %s, want only that kind's JSON", kind, raw)
			}
		}
		if n != 1 {
			t.Errorf("compare(trial %s) = %v, want its JSON once, it is there %d times", kind, got, n)
		}
	}
	for _, tt := range []struct {
		q    url.Values
		want string
	}{
		{query("a", "1", "b", "1"), "with itself"},
		{query("a", "0", "b", "7"), "whole number"},
		{query("trial", "4"), "cannot be shown"},
		{query("trial", "5"), "whole number"},
	} {
		if _, err := v.compare(tt.q); !refused(err, tt.want) {
			t.Errorf("compare(%v): error %v, want %q", tt.q, err, tt.want)
		}
	}
	if _, err := (&View{}).compare(query("a", "0", "b", "1")); !refused(err, "no run is open") {
		t.Errorf("compare without a run: error %v, want one with \"no run is open\"", err)
	}
}
