// Package table holds passages for the summaries.
package table

import "canalsluices/internal/feed"

// Row gives the fields of a line.
type Row interface {
	Text(col string) string
	Int(col string) int64
	Float(col string) float64
}

// Table is lines that can be visited.
type Table interface {
	Append(p feed.Passage)
	Len() int
	Each(f func(Row))
}

// New returns an empty table.
func New(typed bool) Table {
	if typed {
		return &columns{}
	}
	return &frame{}
}

type record map[string]any

func (r record) Text(col string) string {
	s, _ := r[col].(string)
	return s
}

func (r record) Int(col string) int64 {
	n, _ := r[col].(int64)
	return n
}

func (r record) Float(col string) float64 {
	f, _ := r[col].(float64)
	return f
}

type frame struct{ rows []record }

func (f *frame) Append(p feed.Passage) {
	f.rows = append(f.rows, record{
		"sluice": p.Sluice,
		"minute": p.Minute,
		"level":  p.Level,
		"flow":   p.Flow,
		"boats":  p.Boats,
		"gate":   p.Gate,
	})
}

func (f *frame) Len() int { return len(f.rows) }

func (f *frame) Each(visit func(Row)) {
	for _, r := range f.rows {
		visit(r)
	}
}

type columns struct{ rows []feed.Passage }

type typedRow struct{ p *feed.Passage }

func (r *typedRow) Text(col string) string {
	if col == "gate" {
		return r.p.Gate
	}
	return r.p.Sluice
}

func (r *typedRow) Int(col string) int64 {
	if col == "boats" {
		return r.p.Boats
	}
	return r.p.Minute
}

func (r *typedRow) Float(col string) float64 {
	if col == "flow" {
		return r.p.Flow
	}
	return r.p.Level
}

func (c *columns) Append(p feed.Passage) { c.rows = append(c.rows, p) }

func (c *columns) Len() int { return len(c.rows) }

func (c *columns) Each(visit func(Row)) {
	var r typedRow
	for i := range c.rows {
		r.p = &c.rows[i]
		visit(&r)
	}
}
