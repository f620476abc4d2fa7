package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/aggregate"
	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// show names the recordings of findings.
func show(a *api.Findings, kept *runs.Store, tenant string) {
	for i := range a.Findings {
		f := &a.Findings[i]
		if findings.OfHeap(f.Rule) {
			if r, most := kept.Growing(tenant, f.Service, f.Versions); most != nil {
				f.Recording = shown(&r)
				f.Recording.Held = most.Way
				continue
			}
		}
		if r, found := kept.Showing(tenant, f.Service, f.Versions, f.Rule); found != nil {
			f.Recording = shown(&r)
			f.Recording.Where = found.Where
		}
	}
}

// shown names a recording, and the command that opens it.
func shown(r *api.Recording) *api.Shown {
	return &api.Shown{ID: r.ID, Version: r.Version, Start: r.Start,
		Command: fmt.Sprintf("gowhy fleet runs get %[1]s -o %[1]s.gowhy && gowhy view %[1]s.gowhy", r.ID[:api.ShortID])}
}

// month is the hours that clouds count for one.
const month = 730

// findingsAnswer returns the answer about findings.
func findingsAnswer(ctx context.Context, r store.Reader, s store.Selection, n int, prices api.Prices) (api.Findings, error) {
	list, err := findings.Of(ctx, r, s)
	if err != nil {
		return api.Findings{}, err
	}
	shown := list.Findings[:min(n, len(list.Findings))]
	a := api.Findings{Findings: []api.Finding{}, Verdicts: map[string]api.Verdict{}, Omitted: len(list.Findings) - len(shown), Missing: list.Missing}
	if prices.CoreHour > 0 {
		a.Currency = prices.Currency
	}
	if !list.Judged.IsZero() {
		at := list.Judged.UTC()
		a.Judged = &at
	}
	for service, v := range list.Verdicts {
		a.Verdicts[service] = api.Verdict{Verdict: v.Verdict, At: v.At.UTC()}
	}
	for i := range shown {
		a.Findings = append(a.Findings, findingOf(&shown[i], prices))
	}
	return a, nil
}

func findingOf(f *findings.Finding, prices api.Prices) api.Finding {
	a := api.Finding{
		Service: f.Service, Versions: f.Versions, Rule: f.Rule, Title: f.Title, Summary: f.Detail.Summary,
		Function: f.Function, File: f.File, Line: f.Line, First: f.First.UTC(), Earlier: f.Earlier, Last: f.Last.UTC(), State: api.Gone,
		Spans: f.Spans, Instances: f.Instances, Cost: whole(f.Cost), Unit: f.Unit, What: f.Detail.Cost.What, Whole: f.Detail.Whole,
		Gain: f.Detail.Bound.Words, Confidence: f.Confidence, Evidence: []string{}, Facts: []api.Fact{}, Trend: []api.Cost{}, Reasons: f.Detail.Reasons,
		Remedy: f.Detail.Remedy.Text, Code: f.Detail.Remedy.Code, Prove: f.Detail.Prove,
		Command: evidenceCommand(f),
	}
	if f.Open {
		a.State = api.Open
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
	for _, e := range f.Detail.Evidence {
		a.Evidence = append(a.Evidence, strings.TrimSuffix(e.Name+": "+e.Text, ": "))
		a.Facts = append(a.Facts, factOf(&e))
	}
	for _, p := range f.Trend {
		a.Trend = append(a.Trend, api.Cost{At: p.At.UTC(), Cost: whole(p.Value)})
	}
	return a
}

// factOf returns a fact with its origin in words. One that was kept as words alone has none: they
// are its name already.
func factOf(f *fact.Fact) api.Fact {
	a := api.Fact{Name: f.Name, Value: f.Value, Unit: string(f.Unit), Text: f.Text}
	if f.Origin.Kind != fact.Untyped {
		a.Origin = f.Origin.String()
	}
	return a
}

func whole(millionths int64) float64 { return float64(millionths) / 1e6 }

// writeEvidence writes the merged profiles of a version as a recording of gowhy.
func writeEvidence(w http.ResponseWriter, q *http.Request, r store.Reader, s store.Selection) error {
	e, err := aggregate.Of(q.Context(), r, s)
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
// levels: of a growth it has a process recorded. Of a step it compares the hours around it.
func evidenceCommand(f *findings.Finding) string {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	version := f.Versions[len(f.Versions)-1]
	if findings.Grows(f.Rule) {
		words := []string{"gowhy", "fleet", "record", f.Service}
		if version != "" {
			words = append(words, "--version", version)
		}
		return shell.Words(words)
	}
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
