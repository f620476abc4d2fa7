// Package report writes insurance schedules.
package report

import (
	"bytes"
	"math"
	"text/template"

	"museumloans/internal/loans"
)

var schedule = template.Must(template.New("schedule").Funcs(template.FuncMap{"premium": premium}).Parse(`INSURANCE SCHEDULE
{{.Title}} ({{.Days}} days)
{{range .Loans}}{{with .Object}}
{{.ID}}  {{printf "%-40s" .Title}} {{.Maker}}, {{.Year}}
   {{range .Material}}{{.}} {{end}} {{index .SizeMM 0}} x {{index .SizeMM 1}} x {{index .SizeMM 2}} mm
   agreed value EUR {{.Euro}}, premium EUR {{premium . $.Days | printf "%.2f"}}
{{end}}{{end}}`))

// Schedule writes the document for one exhibition.
func Schedule(ex *loans.Exhibition) ([]byte, error) {
	var buf bytes.Buffer
	if err := schedule.Execute(&buf, ex); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// premium is the mean loss over simulated days of transport and display.
func premium(o *loans.Object, days int) float64 {
	x := uint64(len(o.Title))*2654435761 + uint64(o.Euro)
	loss := 0.0
	for range 6000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		u := float64(x>>11) / (1 << 53)
		if u < 0.02 {
			loss += math.Pow(u*50, 2.2) * 0.4
		} else {
			loss += math.Exp(-u * 9)
		}
	}
	age := 1 + float64(2026-o.Year)/900
	return loss / 6000 * age * float64(o.Euro) * float64(days) / 36500
}
