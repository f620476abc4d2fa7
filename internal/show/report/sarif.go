package report

import (
	"io"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/show/sarif"
)

// SARIF writes the findings as SARIF 2.1.0: warnings where confidence is high, an error
// where the program stands, else notes, which remarks always are. Each is at its first
// place; files are named as the diagnosis has them.
func SARIF(w io.Writer, d *diagnosis.Diagnosis, _ layout.Options) error {
	log := sarif.New("gowhyFinding")
	for i := range d.Findings {
		log.Add(sarifResult(d, &d.Findings[i]))
	}
	return log.Write(w)
}

func sarifResult(d *diagnosis.Diagnosis, f *diagnosis.Finding) sarif.Result {
	r := sarif.Result{Rule: f.Rule, Title: f.Title, What: f.Title + ".", Level: sarif.Note, Message: f.Summary, Same: f.Rule}
	switch {
	case f.Remark:
	case d.Verdict == diagnosis.Stalled && f.Bound.Kind == diagnosis.IsRelease:
		r.Level = sarif.Error
	case f.Confidence == diagnosis.High:
		r.Level = sarif.Warning
	}
	if f.Bound.Method != "" {
		r.Message += " Gain: " + f.Bound.Gain() + "."
	}
	if f.Remedy.Text != "" {
		r.Message += " Do: " + f.Remedy.Text
	}
	if len(f.Where) > 0 {
		p := f.Where[0]
		r.File, r.Line, r.Function = p.File, p.Line, p.Function
		r.Same += "\x00" + p.Function
	}
	r.Properties = map[string]any{"confidence": f.Confidence, "cost": f.Cost.Text, "try": f.Try}
	return r
}
