package sarif

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestLog reads a log back by the names that SARIF 2.1.0 has.
func TestLog(t *testing.T) {
	l := New("gowhyTest")
	l.Add(Result{Rule: "a", Title: "A", What: "It is {a}.", Level: Warning, Message: "see [this](https://example.com) \x1b[31m", File: "C:/a b/x.go", Function: "main.f\x07", Same: "1",
		Properties: map[string]any{"cores": 1.5}})
	l.Add(Result{Rule: "b", Title: "B", What: "It is b.", Level: Note, Message: "b", Same: "1"})
	l.Add(Result{Rule: "a", Title: "A", What: "It is {a}.", Level: Error, Message: "a", File: "/y.go", Line: 7, Same: "2"})
	var b bytes.Buffer
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID    string
						Short struct{ Text string } `json:"shortDescription"`
					}
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					Physical *struct {
						Artifact struct{ URI, URIBaseID string } `json:"artifactLocation"`
						Region   struct{ StartLine int }
					} `json:"physicalLocation"`
					Logical []struct{ FullyQualifiedName, Kind string } `json:"logicalLocations"`
				}
				Fingerprints map[string]string `json:"partialFingerprints"`
				Properties   map[string]any
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name != "gowhy" {
		t.Fatalf("no run of gowhy in SARIF 2.1.0:\n%s", &b)
	}
	run := log.Runs[0]
	if rules := run.Tool.Driver.Rules; len(rules) != 2 || rules[0].ID != "a" || rules[0].Short.Text != "It is {{a}}." {
		t.Errorf("rules %+v, want a and b, each once", rules)
	}
	r := run.Results
	if len(r) != 3 || r[0].RuleIndex != 0 || r[1].RuleIndex != 1 || r[2].RuleIndex != 0 || r[2].Level != "error" {
		t.Fatalf("the results are %+v, want 3 of rules 0, 1 and 0, the last an error", r)
	}
	if m := r[0].Message.Text; strings.ContainsAny(m, "\x1b\x07") || !strings.Contains(m, `\[this\]`) {
		t.Errorf("message %q can be read as a link, or has control characters", m)
	}
	at := r[0].Locations[0]
	if at.Physical.Artifact.URI != "C%3A/a%20b/x.go" || at.Physical.Artifact.URIBaseID != "%SRCROOT%" || at.Physical.Region.StartLine != 1 || at.Logical[0].Kind != "function" || strings.Contains(at.Logical[0].FullyQualifiedName, "\x07") {
		t.Errorf("%q of %q, line %d, %+v, want C%%3A/a%%20b/x.go of %%SRCROOT%%, 1, "+
			"a function without control characters",
			at.Physical.Artifact.URI, at.Physical.Artifact.URIBaseID, at.Physical.Region.StartLine, at.Logical)
	}
	if a := r[2].Locations[0].Physical.Artifact; a.URI != "file:///y.go" || a.URIBaseID != "" {
		t.Errorf("an absolute path is %q of %q, want file:///y.go of nothing", a.URI, a.URIBaseID)
	}
	if r[1].Locations == nil || len(r[1].Locations) != 0 {
		t.Errorf("locations %+v of what is nowhere, want none", r[1].Locations)
	}
	if a, b := r[0].Fingerprints["gowhyTest/v1"], r[2].Fingerprints["gowhyTest/v1"]; a == "" || a == b {
		t.Errorf("fingerprints %q and %q, want two", a, b)
	}
	if r[0].Properties["cores"] != 1.5 || r[1].Properties != nil {
		t.Errorf("properties %v and %v", r[0].Properties, r[1].Properties)
	}
}
