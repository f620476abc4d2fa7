// Package reports takes the reports of lift inspections.
package reports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync/atomic"

	"liftsafety/internal/rpc"
)

// Check is one point of an inspection.
type Check struct {
	Point string  `json:"point"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
}

// Report is one inspection.
type Report struct {
	Lift   string  `json:"lift"`
	Checks []Check `json:"checks"`
}

// Receipt answers a report.
type Receipt struct {
	Lift    string   `json:"lift"`
	Text    string   `json:"text"`
	Defects []string `json:"defects"`
	Digest  string   `json:"digest"`
	Trace   string   `json:"trace"`
}

var texts = map[string]string{"de": "Bericht angenommen", "fr": "Rapport reçu", "": "Report accepted"}

// Desk takes reports.
type Desk struct{ defects atomic.Int64 }

// Submit handles a report.
func (d *Desk) Submit(ctx context.Context, body []byte) ([]byte, error) {
	var r Report
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	out := Receipt{
		Lift:   r.Lift,
		Text:   texts[rpc.First(ctx, "accept-language")],
		Digest: hex.EncodeToString(sum[:]),
		Trace:  rpc.First(ctx, "x-trace-id"),
	}
	for _, c := range r.Checks {
		if c.Value > c.Limit {
			out.Defects = append(out.Defects, c.Point)
		}
	}
	d.defects.Add(int64(len(out.Defects)))
	return json.Marshal(out)
}

// Defects returns how many defects were found.
func (d *Desk) Defects() int64 { return d.defects.Load() }
