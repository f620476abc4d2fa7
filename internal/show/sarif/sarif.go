// Package sarif writes findings as SARIF 2.1.0 (OASIS), which code hosts and editors show
// beside the lines that they are about.
//
// It hides the objects of that format, the list of rules, fingerprints, and what has to be
// escaped in texts and paths. Its types are [Log] and [Result].
package sarif

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/layout"
)

// A Level is how much a result matters.
type Level string

// The levels that results have.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Note    Level = "note"
)

// A Result is one finding.
type Result struct {
	Rule, Title, What string // the rule's ID, its name, and a sentence on what it is about
	Level             Level
	Message           string
	File              string // relative to the repository's root, or an absolute path
	Line              int    // 0 is not known
	Function          string // may be empty
	// Same is what a later run has too when it finds the same.
	Same string
	// Properties are for who reads the file by a program; may be nil.
	Properties map[string]any
}

// A Log is one run of a tool.
type Log struct {
	kind string // of fingerprints
	run  run
}

// New returns a log without results. kind names what the fingerprints tell apart, like gowhyGate.
func New(kind string) *Log {
	return &Log{kind, run{tool{driver{"gowhy", "https://github.com/gowhy/gowhy", []rule{}}}, []result{}}}
}

type (
	document struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}
	run struct {
		Tool    tool     `json:"tool"`
		Results []result `json:"results"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name           string `json:"name"`
		InformationURI string `json:"informationUri"`
		Rules          []rule `json:"rules"`
	}
	rule struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Short text   `json:"shortDescription"`
		Full  text   `json:"fullDescription"`
	}
	text struct {
		Text string `json:"text"`
	}
	result struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        Level             `json:"level"`
		Message      text              `json:"message"`
		Locations    []location        `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   map[string]any    `json:"properties,omitempty"`
	}
	location struct {
		Physical *physical `json:"physicalLocation,omitempty"`
		Logical  []logical `json:"logicalLocations,omitempty"`
	}
	physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   region   `json:"region"`
	}
	artifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	region struct {
		StartLine int `json:"startLine"`
	}
	logical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

// Add adds a result.
func (l *Log) Add(r Result) {
	rules := &l.run.Tool.Driver.Rules
	index := slices.IndexFunc(*rules, func(known rule) bool { return known.ID == r.Rule })
	if index < 0 {
		index = len(*rules)
		*rules = append(*rules, rule{r.Rule, r.Title, text{escape(r.What)}, text{escape(r.What)}})
	}
	hash := fnv.New64a()
	io.WriteString(hash, r.Rule+"\x00"+r.Same)
	found := result{
		RuleID: r.Rule, RuleIndex: index, Level: r.Level, Message: text{escape(r.Message)}, Locations: []location{},
		Fingerprints: map[string]string{l.kind + "/v1": fmt.Sprintf("%016x", hash.Sum64())}, Properties: r.Properties,
	}
	var at location
	if r.File != "" {
		at.Physical = &physical{artifactOf(r.File), region{max(1, r.Line)}}
	}
	if r.Function != "" {
		at.Logical = []logical{{layout.Safe(r.Function), "function"}}
	}
	if at.Physical != nil || at.Logical != nil {
		found.Locations = append(found.Locations, at)
	}
	l.run.Results = append(l.run.Results, found)
}

// Write writes the log.
func (l *Log) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(document{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []run{l.run}})
}

// escape keeps text from being read as a placeholder or a link, which plain messages of
// SARIF may have.
func escape(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}", `\`, `\\`, "[", `\[`, "]", `\]`).Replace(layout.Safe(s))
}

// artifactOf returns a file by a URI reference (RFC 3986): all but unreserved characters is in
// percents, a colon too, which would end a scheme.
func artifactOf(file string) artifact {
	const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/"
	var b strings.Builder
	for _, c := range []byte(file) {
		if strings.IndexByte(unreserved, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if strings.HasPrefix(file, "/") {
		return artifact{URI: "file://" + b.String()}
	}
	return artifact{b.String(), "%SRCROOT%"}
}
