package report

import (
	"errors"
	"io"

	"github.com/gowhy/gowhy/fleet/server"
	"github.com/gowhy/gowhy/internal/sarif"
)

// SARIF writes the causes that are there now as SARIF 2.1.0, a warning each. What is gone is
// left out: who reads such a file closes what it no longer has. So it is an error, too,
// when a part of the answer is missing.
func SARIF(w io.Writer, a *server.Findings) error {
	if len(a.Missing) > 0 {
		return errors.New("a part of the store could not be asked: without it causes would seem to be gone")
	}
	log := sarif.New("gowhyFleet")
	for i := range a.Findings {
		f := &a.Findings[i]
		if f.State != "open" {
			continue
		}
		properties := map[string]any{"service": f.Service, "versions": f.Versions, "first": f.First, "instances": f.Instances}
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
