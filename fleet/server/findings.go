package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gowhy/gowhy/fleet/evidence"
	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/fact"
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
	Evidence   []string  `json:"evidence"`
	Reasons    []string  `json:"confidence_reasons,omitempty"`
	Remedy     string    `json:"remedy"`
	Code       string    `json:"code,omitempty"`
	Prove      string    `json:"prove"`
	Command    string    `json:"command"` // has gowhy say all about the last span
	// Recording is the newest of a version that has it in which gowhy found the same.
	Recording *Shown `json:"recording,omitempty"`
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
	Command string    `json:"command"`         // opens it
}

// show names the recordings of findings.
func (a *Findings) show(kept *runs.Store, tenant string) {
	for i := range a.Findings {
		f := &a.Findings[i]
		if r, found := kept.Showing(tenant, f.Service, f.Versions, f.Rule); found != nil {
			id := r.ID[:shortID]
			f.Recording = &Shown{r.ID, r.Version, r.Start, found.Where, fmt.Sprintf("gowhy fleet runs get %[1]s -o %[1]s.gowhy && gowhy view %[1]s.gowhy", id)}
		}
	}
}

// shortID is how much of an ID tells recordings apart.
const shortID = 12

// A Cost is what a finding cost in a span that ends at a time.
type Cost struct {
	At   time.Time `json:"at"`
	Cost float64   `json:"cost"`
}

// month is the hours that clouds count for one.
const month = 730

// found is the answer about findings.
func found(ctx context.Context, r store.Reader, s store.Selection, n int, prices Prices) (Findings, error) {
	list, err := findings.Of(ctx, r, s)
	if err != nil {
		return Findings{}, err
	}
	shown := list.Findings[:min(n, len(list.Findings))]
	a := Findings{Findings: []Finding{}, Verdicts: map[string]Verdict{}, Omitted: len(list.Findings) - len(shown), Missing: list.Missing}
	if prices.CoreHour > 0 {
		a.Currency = prices.Currency
	}
	if !list.Judged.IsZero() {
		at := list.Judged.UTC()
		a.Judged = &at
	}
	for service, v := range list.Verdicts {
		a.Verdicts[service] = Verdict{v.Verdict, v.At.UTC()}
	}
	for i := range shown {
		a.Findings = append(a.Findings, findingOf(&shown[i], prices))
	}
	return a, nil
}

func findingOf(f *findings.Finding, prices Prices) Finding {
	a := Finding{
		Service: f.Service, Versions: f.Versions, Rule: f.Rule, Title: f.Title, Summary: f.Detail.Summary,
		Function: f.Function, File: f.File, Line: f.Line, First: f.First.UTC(), Earlier: f.Earlier, Last: f.Last.UTC(), State: Gone,
		Spans: f.Spans, Instances: f.Instances, Cost: whole(f.Cost), Unit: f.Unit, What: f.Detail.What, Whole: f.Detail.Whole,
		Gain: f.Detail.Gain, Confidence: f.Confidence, Evidence: append([]string{}, f.Detail.Evidence...), Trend: []Cost{}, Reasons: f.Detail.Reasons,
		Remedy: f.Detail.Remedy, Code: f.Detail.Code, Prove: f.Detail.Prove,
		Command: evidenceCommand(f),
	}
	if f.Open {
		a.State = Open
	}
	if f.Bound != 0 {
		b := whole(f.Bound)
		a.Bound = &b
	}
	if f.Unit == string(fact.Cores) {
		a.Cores = &a.Cost
		if prices.CoreHour > 0 {
			m := a.Cost * prices.CoreHour * month
			a.Money = &m
		}
	}
	for _, p := range f.Trend {
		a.Trend = append(a.Trend, Cost{p.At.UTC(), whole(p.Value)})
	}
	return a
}

func whole(millionths int64) float64 { return float64(millionths) / 1e6 }

// writeEvidence writes the merged profiles of a version as a recording of gowhy.
func writeEvidence(w http.ResponseWriter, q *http.Request, r store.Reader, s store.Selection) error {
	e, err := evidence.Of(q.Context(), r, s)
	switch {
	case err != nil:
		return err
	case len(e.Missing) > 0:
		partial(w, e.Missing)
	case len(e.Parts) == 0:
		return errNothing
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", `attachment; filename="merged.gowhy"`)
		_ = e.Recording(w) // fails only when the client is gone
	}
	return nil
}

// evidenceCommand has gowhy say all about the span of a finding. Merged profiles have no
// levels: of a growth it records a process. Of a step it compares the hours around it.
func evidenceCommand(f *findings.Finding) string {
	if findings.Grows(f.Rule) {
		return "gowhy record --url http://HOST:PORT"
	}
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	version := f.Versions[len(f.Versions)-1]
	if f.Rule == findings.CostStep {
		words := []string{"gowhy", "fleet", "diff", f.Service}
		if version != "" {
			words = append(words, "--base", version, "--head", version)
		}
		before, after := f.First.Add(-time.Hour), f.First.Add(time.Hour)
		if f.Last.Before(after) {
			after = f.Last
		}
		return shell.Words(append(words, "--base-from", at(before), "--base-until", at(f.First), "--from", at(f.First), "--until", at(after)))
	}
	words := []string{"gowhy", "fleet", "evidence", f.Service}
	if version != "" {
		words = append(words, "--version", version)
	}
	return shell.Words(append(words, "--from", at(f.Last.Add(-findings.Span)), "--until", at(f.Last), "-o", "merged.gowhy")) + " && gowhy merged.gowhy"
}
