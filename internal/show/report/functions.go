package report

import (
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A functionRow is what a function costs by itself, and with all that it calls.
type functionRow struct {
	Function string  `json:"function"`
	CPU      int64   `json:"cpu_ns"`
	Cum      int64   `json:"cum_ns"`
	Share    float64 `json:"share"` // of all CPU time that was sampled, of cum_ns
	Bytes    int64   `json:"bytes"`
	CumBytes int64   `json:"cum_bytes"`
	InUse    int64   `json:"inuse_bytes"`
	CumInUse int64   `json:"cum_inuse_bytes"`
}

func functionTable(m *model.Model) table[*functionRow] {
	list, all := m.Functions()
	var t table[*functionRow]
	t.Empty = "no sample of the CPU or of the heap"
	row := func(c *model.FunctionCost) *functionRow {
		return &functionRow{Function: c.Name, CPU: int64(c.CPU), Cum: int64(c.CumCPU), Share: statistics.Quotient(c.CumCPU.Seconds(), all.CPU.Seconds()),
			Bytes: int64(c.Bytes), CumBytes: int64(c.CumBytes), InUse: int64(c.InUse), CumInUse: int64(c.CumInUse)}
	}
	for i := range list {
		t.Rows = append(t.Rows, row(&list[i]))
	}
	column := func(head string, text func(r *functionRow) string) {
		t.Columns = append(t.Columns, layout.Column[*functionRow]{Head: head, Text: text})
	}
	if all.CPU > 0 {
		column("CPU", func(r *functionRow) string { return figures.Duration(time.Duration(r.CPU)) })
		column("CUM", func(r *functionRow) string { return figures.Duration(time.Duration(r.Cum)) })
		column("SHARE", func(r *functionRow) string { return figures.Percent(r.Share) })
	}
	if all.InUse > 0 {
		column("IN USE", func(r *functionRow) string { return figures.Bytes(r.InUse) })
		column("CUM", func(r *functionRow) string { return figures.Bytes(r.CumInUse) })
	}
	if all.Bytes > 0 && (all.CPU == 0 || all.InUse == 0) { // all three are too wide
		column("BYTES", func(r *functionRow) string { return figures.Bytes(r.Bytes) })
		column("CUM", func(r *functionRow) string { return figures.Bytes(r.CumBytes) })
	}
	t.Columns = append(t.Columns, layout.Column[*functionRow]{Head: "FUNCTION", Left: true, Text: func(r *functionRow) string { return shortFunction(r.Function) }})
	t.order = []sortKey[*functionRow]{
		{"cpu", largest(func(r *functionRow) int64 { return r.CPU })},
		{"cum", largest(func(r *functionRow) int64 { return r.Cum })},
		{"inuse", largest(func(r *functionRow) int64 { return r.InUse })},
		{"bytes", largest(func(r *functionRow) int64 { return r.Bytes })},
	}
	t.Total = func([]*functionRow) *functionRow {
		r := row(&all)
		r.Function, r.Cum, r.CumBytes, r.CumInUse = "all", r.CPU, r.Bytes, r.InUse
		return r
	}
	t.Notes = func(_ []*functionRow, width int) []string {
		text := "each function by itself, and in CUM with all that it calls"
		return []string{strings.Join(layout.FigureLines(text, min(width, layout.MaxWidth)), "\n")}
	}
	return t
}
