package api

import (
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// Findings is the answer of /api/v1/findings: what is there now first, by what it costs.
type Findings struct {
	Findings []Finding          `json:"findings"`
	Verdicts map[string]Verdict `json:"verdicts"` // on each service, by the last span that was judged
	Omitted  int                `json:"omitted"`
	Currency string             `json:"currency,omitempty"`
	Judged   *time.Time         `json:"judged,omitempty"` // until when; absent where nothing was
	Missing  store.Missing      `json:"missing,omitempty"`
}

// A Verdict is on a service: problem, stalled, healthy, unclear, idle, not-loaded, partial, too-thin or failed.
type Verdict struct {
	Verdict string    `json:"verdict"`
	At      time.Time `json:"at"`
}

// A Finding is a cause in a service.
type Finding struct {
	Service    string    `json:"service"`
	Versions   []string  `json:"versions"`
	Rule       string    `json:"rule"`
	Title      string    `json:"title"`
	Summary    string    `json:"summary"`
	Function   string    `json:"function,omitempty"`
	File       string    `json:"file,omitempty"`
	Line       int32     `json:"line,omitempty"`
	First      time.Time `json:"first"`
	Earlier    bool      `json:"earlier"` // the first span that was judged has it: it may be older
	Last       time.Time `json:"last"`
	State      State     `json:"state"`
	Spans      int       `json:"spans"` // of five minutes, or of a growth's four hours, that have it
	Instances  int64     `json:"instances"`
	Cost       float64   `json:"cost"` // of the last span
	Bound      *float64  `json:"bound,omitempty"`
	Unit       string    `json:"unit"`
	What       string    `json:"what"`  // is counted by the cost
	Whole      bool      `json:"whole"` // by all processes together; else by a mean one
	Cores      *float64  `json:"cores,omitempty"`
	Money      *float64  `json:"money,omitempty"` // a month, for these cores
	Gain       string    `json:"gain,omitempty"`
	Confidence string    `json:"confidence"`
	Trend      []Cost    `json:"trend"`
	Evidence   []string  `json:"evidence"` // the facts in words
	Facts      []Fact    `json:"facts"`
	Reasons    []string  `json:"confidence_reasons,omitempty"`
	Remedy     string    `json:"remedy"`
	Code       string    `json:"code,omitempty"`
	Prove      string    `json:"prove"`
	Command    string    `json:"command"` // has gowhy say all about the last span
	// Recording is the newest of a version that has it in which gowhy found the same.
	Recording *Shown `json:"recording,omitempty"`
}

// A Fact is a number that a finding rests on.
type Fact struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`             // empty where an older gowhy kept only words
	Text   string  `json:"text"`             // the value for people
	Origin string  `json:"origin,omitempty"` // says where it was measured, or how it was computed
}

// A State is whether a finding is there now.
type State string

// The states.
const (
	Open State = "open"
	Gone State = "gone"
)

// A Shown is a recording of a finding.
type Shown struct {
	ID      string    `json:"id"`
	Version string    `json:"version,omitempty"`
	Start   time.Time `json:"start"`
	Where   string    `json:"where,omitempty"` // in the recording
	Held    string    `json:"held,omitempty"`  // of a heap that grows: over what it is held
	Command string    `json:"command"`         // opens it
}

// A Cost is what a finding cost in a span that ends at a time.
type Cost struct {
	At   time.Time `json:"at"`
	Cost float64   `json:"cost"`
}
