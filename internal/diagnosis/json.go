package diagnosis

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	if *head.Schema != Schema {
		return nil, fmt.Errorf("%w: schema %d, wanted %d", ErrSchema, *head.Schema, Schema)
	}
	d := new(Diagnosis)
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrSchema, err)
	}
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
	if d.CPU != nil {
		fill(&d.CPU.Parts)
	}
	for i := range d.Findings {
		d.Findings[i].fill()
	}
}

func (f *Finding) fill() {
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

func fill[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}
