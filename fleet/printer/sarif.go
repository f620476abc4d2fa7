package printer

import (
	"errors"
	"fmt"
	"io"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/show/sarif"
)

// SARIF writes the causes that are there now as SARIF 2.1.0, a warning each. What is gone is
// left out: who reads such a file closes what it no longer has. So it is an error when a part
// of the answer is missing, or causes were cut off by its limit.
func SARIF(w io.Writer, a *api.Findings) error {
	if len(a.Missing) > 0 {
		return errors.New("a part of the store could not be asked: without it causes would seem to be gone")
	}
	if n := len(a.Findings); a.Omitted > 0 && (n == 0 || a.Findings[n-1].State == api.Open) { // what is gone comes last
		return fmt.Errorf("%s: ask with a larger --limit", figures.Plural(a.Omitted, "more finding is left out", "more findings are left out"))
	}
	log := sarif.New("gowhyFleet")
	for i := range a.Findings {
		f := &a.Findings[i]
		if f.State != api.Open {
			continue
		}
		properties := map[string]any{"service": f.Service, "versions": f.Versions, "first": f.First, "instances": f.Instances,
			"cost": f.Cost, "unit": f.Unit, "whole": f.Whole, "confidence": f.Confidence}
		if f.Cores != nil {
			properties["cores"] = *f.Cores
		}
		log.Add(sarif.Result{
			Rule: f.Rule, Title: f.Title, What: f.Title + ".", Level: sarif.Warning, Message: f.Service + ": " + f.Summary,
			File: f.File, Line: int(f.Line), Function: f.Function,
			Same: f.Service + "\x00" + f.Function, Properties: properties,
		})
	}
	return log.Write(w)
}
