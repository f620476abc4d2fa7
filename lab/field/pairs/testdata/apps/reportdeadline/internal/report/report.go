// Package report makes reports.
package report

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"sync/atomic"

	"reportdeadline/internal/sales"
)

// A Maker makes reports of sales.
type Maker struct {
	Sales []sales.Sale
	Heed  bool
}

// A Line is what a shop can expect.
type Line struct {
	Week   int     `json:"week"`
	Expect float64 `json:"expect"`
}

// forecast weighs all sales for each week, near ones more.
func (m Maker) forecast(ctx context.Context, weeks int) ([]Line, error) {
	var out []Line
	for week := range weeks {
		if m.Heed && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		sum, weight := 0.0, 0.0
		for i := range m.Sales {
			s := &m.Sales[i]
			w := math.Exp(-math.Abs(float64(s.Day-week*7)) / 30)
			sum += w * float64(s.Cents)
			weight += w
		}
		out = append(out, Line{week, sum / weight})
	}
	return out, nil
}

// asked counts requests; every other client wants the years ahead.
var asked atomic.Int64

func (m Maker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	weeks := 4
	if r.PathValue("kind") == "any" && asked.Add(1)%2 == 0 {
		weeks = 300
	}
	lines, err := m.forecast(r.Context(), weeks)
	if err != nil {
		return // nobody waits
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(lines)
}
