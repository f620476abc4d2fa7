package store

import (
	"cmp"
	"time"
)

// A Finding is what a rule said about a version of a service over a span of time.
type Finding struct {
	Tenant, Service, Version string
	From, Until              time.Time // the span that was judged; kept in milliseconds
	// Rule is "" in the row that only says that a span was judged: its Title is the
	// verdict then, so that silence can be told from nobody having looked.
	Rule, Title    string
	Function, File string
	Line           int32
	Instances      int64 // processes that were judged together
	// Cost is what the problem costs all of them together, Bound the upper bound on what a
	// fix saves, both in millionths of Unit; Bound is 0 where none was derived.
	Cost, Bound int64
	Unit        string
	Confidence  string
	Evidence    []byte // what the judge keeps besides
}

// Findings is an answer.
type Findings struct {
	Findings []Finding
	Missing  Missing
}

// Compare orders findings as [Reader].Findings does. Two are the same finding where it
// is 0.
func (f *Finding) Compare(o *Finding) int {
	return cmp.Or(cmp.Compare(f.Until.UnixMilli(), o.Until.UnixMilli()),
		cmp.Compare(f.Service, o.Service), cmp.Compare(f.Version, o.Version), cmp.Compare(f.Rule, o.Rule),
		cmp.Compare(f.Function, o.Function), cmp.Compare(f.File, o.File), cmp.Compare(f.Line, o.Line),
		cmp.Compare(f.Tenant, o.Tenant))
}
