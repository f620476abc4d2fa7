package findings

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"strings"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// A Detail is what is kept of a finding besides its row: the finding as a diagnosis has it,
// with every fact.
type Detail struct {
	diagnosis.Finding `json:"finding"`
	Whole             bool  `json:"whole"` // the cost is that of all processes, not of a mean one
	Step              *Step `json:"step,omitempty"`
}

// A Step is what a [CostStep] is looked at again by.
type Step struct {
	Ratio     float64 `json:"ratio"`
	Operation bool    `json:"operation"` // it is that of an operation's cost
}

// row encodes a finding for the store: over has the span and whose it is. The facts of one
// name the same things again and again: packed they have a fifth.
func (d *Detail) row(over store.Finding) (store.Finding, error) {
	over.Rule, over.Title, over.Confidence, over.Unit = d.Rule, d.Title, string(d.Confidence), string(d.Cost.Unit)
	over.Cost = millionths(d.Cost.Value)
	if len(d.Where) > 0 {
		at := d.Where[0]
		over.Function, over.File, over.Line = at.Function, at.File, int32(min(at.Line, math.MaxInt32))
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if err := json.NewEncoder(w).Encode(d); err != nil {
		return over, err
	}
	err := w.Close()
	over.Evidence = packed.Bytes()
	return over, err
}

// mostDetail bounds what a detail unpacks to; a large one has 20 kB.
const mostDetail = 1 << 20

// detailOf decodes what a row has. What another version of gowhy wrote may lack parts; older
// ones did not pack it.
func detailOf(row *store.Finding) (d Detail) {
	var in io.Reader = bytes.NewReader(row.Evidence)
	if packed, err := gzip.NewReader(bytes.NewReader(row.Evidence)); err == nil {
		in = io.LimitReader(packed, mostDetail)
	}
	_ = json.NewDecoder(in).Decode(&d)
	return d
}

// UnmarshalJSON reads what older versions kept, too, which was words.
func (d *Detail) UnmarshalJSON(data []byte) error {
	type plain Detail
	old := struct {
		*plain
		Summary  string   `json:"summary"`
		Evidence []string `json:"evidence"`
		Remedy   string   `json:"remedy"`
		Code     string   `json:"code"`
		Prove    string   `json:"prove"`
		Reasons  []string `json:"confidence_reasons"`
		What     string   `json:"what"`
		Gain     string   `json:"gain"`
	}{plain: (*plain)(d)}
	if err := json.Unmarshal(data, &old); err != nil || d.Rule != "" {
		return err
	}
	d.Summary, d.Remedy, d.Prove, d.Reasons = old.Summary, diagnosis.Remedy{Text: old.Remedy, Code: old.Code}, old.Prove, old.Reasons
	d.Cost.What, d.Bound.Words = old.What, old.Gain
	for _, line := range old.Evidence {
		name, text, _ := strings.Cut(line, ": ")
		d.Evidence = append(d.Evidence, fact.Saved(name, text))
	}
	return nil
}

// place returns where a finding is, none where no function has most of it.
func place(at store.Frame) []diagnosis.Place {
	if at.Function == "" {
		return nil
	}
	return []diagnosis.Place{{Function: at.Function, File: at.File, Line: int(at.Line)}}
}
