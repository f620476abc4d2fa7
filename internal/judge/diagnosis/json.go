package diagnosis

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gowhy/gowhy/internal/know/fact"
)

// maxSaved bounds what Decode reads: a saved diagnosis is kilobytes, and one
// from elsewhere must not fill the memory.
const maxSaved = 64 << 20

// Encode writes the diagnosis as indented JSON, ended by a newline. Lists
// without members are written as [], never null.
func (d *Diagnosis) Encode(w io.Writer) error {
	d.fill()
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}

// oldestSchema is the first that [Decode] reads.
const oldestSchema = 1

// UnmarshalJSON reads a bound of schema 1, too: a limit, unless it was partial.
func (b *Bound) UnmarshalJSON(data []byte) error {
	type bound Bound
	old := struct {
		*bound
		Partial bool `json:"partial"`
	}{bound: (*bound)(b)}
	if err := json.Unmarshal(data, &old); err != nil {
		return err
	}
	if b.Kind == "" && old.Partial {
		b.Kind = IsDirection
	}
	b.fill()
	return nil
}

// UnmarshalJSON reads what schemas 1 and 2 called a program with problems, too.
func (v *Verdict) UnmarshalJSON(data []byte) error {
	var word string
	if err := json.Unmarshal(data, &word); err != nil {
		return err
	}
	if *v = Verdict(word); word == "sick" {
		*v = Problem
	}
	return nil
}

// ErrSchema is returned, wrapped, by [Decode] for a diagnosis of another schema.
var ErrSchema = errors.New("not a diagnosis that this version reads")

// Decode reads what [Diagnosis.Encode] wrote.
func Decode(r io.Reader) (*Diagnosis, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxSaved+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxSaved {
		return nil, fmt.Errorf("%w: larger than %d MiB", ErrSchema, maxSaved>>20)
	}
	// The schema first: another version's fields may not even have our types.
	var head struct {
		Schema  *int     `json:"schema"`
		Verdict *Verdict `json:"verdict"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrSchema, err)
	}
	if head.Schema == nil || head.Verdict == nil {
		return nil, fmt.Errorf("%w: it has no schema or no verdict", ErrSchema)
	}
	if *head.Schema < oldestSchema || *head.Schema > Schema {
		return nil, fmt.Errorf("%w: schema %d, wanted %d to %d", ErrSchema, *head.Schema, oldestSchema, Schema)
	}
	d := new(Diagnosis)
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrSchema, err)
	}
	d.Schema = Schema
	d.fill()
	return d, nil
}

// fill replaces nil lists by empty ones, so that JSON has [] and readers in
// other languages need no case for null.
func (d *Diagnosis) fill() {
	fill(&d.Findings)
	fill(&d.Fine)
	fill(&d.Obsolete)
	fill(&d.Unchecked)
	fill(&d.Warnings)
	fill(&d.Files)
	for i := range d.Accounts {
		fill(&d.Accounts[i].Rows)
	}
	if d.CPU != nil {
		fill(&d.CPU.Parts)
	}
	for i := range d.Findings {
		d.Findings[i].fill()
	}
}

func (f *Finding) fill() {
	if c := &f.Cost; c.Origin.Kind == "" {
		c.Text, c.Origin = c.Unit.Format(c.Value), fact.Words(c.What)
	}
	f.Bound.fill()
	fill(&f.Where)
	fill(&f.Evidence)
	fill(&f.Reasons)
	fill(&f.RuledOut)
	fill(&f.Explains)
	fill(&f.Try)
	for i := range f.Symptoms {
		f.Symptoms[i].fill()
	}
}

// fill completes a bound, and one of schema 1, which had words for all.
func (b *Bound) fill() {
	if b.Kind == "" {
		b.Kind = IsLimit
	}
	if b.Origin.Kind == "" {
		b.Text, b.Origin = b.Unit.Format(b.Value), fact.Words(b.Method)
	}
	if b.Method != "" {
		b.Words = b.Gain()
	}
}

func fill[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}
