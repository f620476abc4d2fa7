package trialreport

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"github.com/gowhy/gowhy/internal/experiment"
	"github.com/gowhy/gowhy/internal/gate"
	"github.com/gowhy/gowhy/internal/layout"
)

// The parts of SARIF 2.1.0 (OASIS) that a result of a gate has.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Name  string    `json:"name"`
		Short sarifText `json:"shortDescription"`
		Full  sarifText `json:"fullDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"` // error, warning
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		// Fingerprints tell the same regression in a later run.
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// SARIF writes what a gate did not let pass as SARIF 2.1.0: regressions are
// errors, what could not be decided is a warning when the policy lets it fail,
// else a note. Locations are relative to the repository's root.
func SARIF(w io.Writer, r *gate.Result, _ layout.Options) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "gowhy", InformationURI: "https://github.com/gowhy/gowhy", Rules: []sarifRule{}}}, Results: []sarifResult{}}
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Problem != "" {
			run.add("not-measured", "Not measured", "A check could not be measured.", undecidedLevel(r), checkTitle(c)+": "+c.Problem, c.At, c.Name)
		}
		for j := range c.Measures {
			run.measure(r, c, &c.Measures[j])
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func undecidedLevel(r *gate.Result) string {
	if r.InconclusiveFails {
		return "warning"
	}
	return "note"
}

func (run *sarifRun) measure(r *gate.Result, c *gate.Check, m *gate.Measure) {
	level := "error"
	switch m.Verdict {
	case gate.Regressed:
	case gate.Inconclusive:
		level = undecidedLevel(r)
	default:
		return
	}
	metric := layout.Safe(string(m.Metric))
	run.add("gate/"+metric, "Limit of "+metric, "The limit of "+experiment.InfoOf(m.Metric).Title+" in the policy of gowhy gate.",
		level, measureMessage(m), m.At, c.Name+"\x00"+measureName(m))
}

// measureMessage is a measure in a sentence.
func measureMessage(m *gate.Measure) string {
	row := gateRowOf(m)
	return fmt.Sprintf("%s %s: %s → %s; %s", measureName(m), m.Verdict, row.base, row.change, gateWhy(m))
}

func (run *sarifRun) add(id, name, what, level, message string, at gate.Position, same string) {
	index := -1
	for i, rule := range run.Tool.Driver.Rules {
		if rule.ID == id {
			index = i
		}
	}
	if index < 0 {
		index = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id, name, sarifText{sarifEscape(what)}, sarifText{sarifEscape(what)}})
	}
	hash := fnv.New64a()
	io.WriteString(hash, id+"\x00"+same)
	run.Results = append(run.Results, sarifResult{
		RuleID: id, RuleIndex: index, Level: level, Message: sarifText{sarifEscape(message)},
		Locations:    []sarifLocation{{sarifPhysical{sarifArtifact{relativeURI(at.File), "%SRCROOT%"}, sarifRegion{max(1, at.Line)}}}},
		Fingerprints: map[string]string{"gowhyGate/v1": fmt.Sprintf("%016x", hash.Sum64())},
	})
}

// sarifEscape keeps text from being read as a placeholder or a link, which
// plain messages of SARIF may have.
func sarifEscape(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}", `\`, `\\`, "[", `\[`, "]", `\]`).Replace(layout.Safe(s))
}

// relativeURI is a path as a relative URI reference (RFC 3986): all but
// unreserved characters is in percents, a colon too, which would end a scheme.
func relativeURI(path string) string {
	const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/"
	var b strings.Builder
	for _, c := range []byte(path) {
		if strings.IndexByte(unreserved, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
