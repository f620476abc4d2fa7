package web

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// recorded returns a view of a recording of a program, with findings of some rules.
func recorded(start int, command string, rules ...string) *View {
	v := sampleView()
	v.Name = command
	v.Model.Build = &model.Build{Path: "example.com/shop"}
	v.Model.Run.Recording = "run.gowhy"
	v.Model.Run.Command = []string{"/tmp/build/" + command, "-v"}
	v.Model.Run.Start = time.Unix(int64(start), 0)
	one := v.Diagnosis.Findings[0]
	v.Diagnosis.Findings = nil
	for _, r := range rules {
		f := one
		f.Rule, f.Title = r, r
		v.Diagnosis.Findings = append(v.Diagnosis.Findings, f)
	}
	v.Diagnosis.Verdict = diagnosis.Problem
	return v
}

func TestTogether(t *testing.T) {
	s := newTestServer(t, Options{}) // which has run 0, no recording
	for _, v := range []*View{
		recorded(1, "shop", "gc", "lock"), recorded(2, "shop", "lock"), recorded(3, "shop", "lock"),
		recorded(2, "shop", "lock"), // the same recording twice
		recorded(4, "tool", "lock"),
	} {
		s.page.addView(v, nil)
	}
	var session Session
	if err := json.Unmarshal(get(s, "api/session").Body.Bytes(), &session); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 3, 3, 3, 0, 0} {
		if got := len(session.Runs[i].Together); got != want {
			t.Errorf("run %d is one of %d, want %d: %v", i, got, want, session.Runs[i].Together)
		}
	}
	var joint Together
	body := get(s, "api/together?runs=1,2,3").Body.Bytes()
	if err := json.Unmarshal(body, &joint); err != nil {
		t.Fatal(err)
	}
	d := joint.Findings.Diagnosis
	if len(d.Findings) != 2 || d.Findings[0].Rule != "lock" || d.Findings[0].Found != 3 || d.Findings[1].Found != 1 {
		t.Fatalf("found together: %s", body)
	}
	if d.Runs[0].File != "shop" || len(joint.Of) != 2 || joint.Of[1] != 1 {
		t.Errorf("the runs are %+v, the findings of %v; want that of one recording alone to be of run 1", d.Runs, joint.Of)
	}
	for i, l := range joint.Findings.Links {
		if want := "r=" + string(rune('0'+joint.Of[i])); !strings.Contains(l.Where[0], want) || !strings.Contains(l.Evidence[0].To, want) {
			t.Errorf("finding %d leads to %s and %s, want %s in both", i, l.Where[0], l.Evidence[0].To, want)
		}
	}
	for _, q := range []string{"", "1", "1,1", "1,5", "0,1", "1,9", "a,b"} {
		if code := get(s, "api/together?runs="+q).Code; code < 400 {
			t.Errorf("runs=%s: status %d", q, code)
		}
	}
}
