package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// The screen of one number: how it was computed, from what, and what was counted.
//
// A number of a finding has an address: the finding's place in the diagnosis, .sN for
// a symptom of it, then .eN for its evidence, .c for its cost, .b for its bound, and
// .oN for each operand on the way. "2.s0.e1.o0" is the first operand of the second
// fact of the first symptom of the third finding. The place of an account begins with
// [accountAddress], and its evidence are its rows: "a0.e1" is the second row of the first.

// accountAddress begins the address of an account's number.
const accountAddress = "a"

// factAt returns the fact at an address, and the finding that it is of.
func (v *View) factAt(address string) (*fact.Fact, *diagnosis.Finding, error) {
	unknown := func() error { return misuse("fact=%s is no number of this diagnosis", short(address)) }
	if v.Diagnosis == nil {
		return nil, nil, unknown()
	}
	steps := strings.Split(address, ".")
	f := v.findingAt(steps[0])
	if f == nil {
		return nil, nil, unknown()
	}
	var at *fact.Fact
	for _, step := range steps[1:] {
		kind, n := step[:min(1, len(step))], 0
		if len(step) > 1 {
			var err error
			if n, err = strconv.Atoi(step[1:]); err != nil || n < 0 {
				return nil, nil, unknown()
			}
		}
		switch {
		case at == nil && kind == "s" && n < len(f.Symptoms):
			f = &f.Symptoms[n]
		case at == nil && kind == "e" && n < len(f.Evidence):
			at = &f.Evidence[n]
		case at == nil && kind == "c":
			cost := f.Cost.Fact()
			at = &cost
		case at == nil && kind == "b":
			bound := f.Bound.Fact()
			at = &bound
		case at != nil && kind == "o" && n < len(at.Operands):
			at = &at.Operands[n]
		default:
			return nil, nil, unknown()
		}
	}
	if at == nil {
		return nil, nil, unknown()
	}
	return at, f, nil
}

// findingAt returns the finding whose place this is, or the account's rows as one; nil when
// there is none.
func (v *View) findingAt(place string) *diagnosis.Finding {
	number, ofAccount := strings.CutPrefix(place, accountAddress)
	i, err := strconv.Atoi(number)
	switch {
	case err != nil || i < 0:
	case ofAccount && i < len(v.Diagnosis.Accounts):
		return rowsOf(&v.Diagnosis.Accounts[i])
	case !ofAccount && i < len(v.Diagnosis.Findings):
		return &v.Diagnosis.Findings[i]
	}
	return nil
}

// number answers api/number: fact is its address.
func (v *View) number(q url.Values) (any, error) {
	address := q.Get("fact")
	at, f, err := v.factAt(address)
	if err != nil {
		return nil, err
	}
	l := newLinker(v)
	l.f, l.groups = f, l.groupsOf(f)
	n := &Derivation{Fact: *at, Finding: f.Title, Operands: l.fact(*at, address).Operands, Rows: []Counted{}}
	for _, r := range at.Origin.Rows(v.Model) {
		n.Rows = append(n.Rows, Counted{What: name(r.What), Value: r.Value, Unit: r.Unit, Text: r.Unit.Format(r.Value)})
	}
	if at.Measured() {
		n.Total = &at.Value
		if len(n.Rows) > 0 {
			total, _ := at.Origin.Total(v.Model)
			n.Total = &total
		}
		p := pictureOf(&at.Origin)
		add := func(title, to string) {
			if to != "" {
				n.Pictures = append(n.Pictures, Link{title, to})
			}
		}
		add("link.timeline", l.timelineOf(p))
		add("link.flame", l.flameOf(p.trees))
		add("link.runtime", l.chart(p))
	}
	return n, nil
}

// marks answers api/flame/marks: where in a tree is what a fact counts. The tree's
// parameters are those of api/flame.
func (v *View) marks(q url.Values) (any, error) {
	at, _, err := v.factAt(q.Get("fact"))
	if err != nil {
		return nil, err
	}
	o, err := flameOptions(q)
	if err != nil {
		return nil, err
	}
	origin := &lead(at).Origin
	if origin.Tree != o.Kind || !slices.Contains([]fact.Kind{fact.Samples, fact.Waits}, origin.Kind) {
		return &Marks{Nodes: []int32{}, Sums: []int64{}}, nil
	}
	m, err := flame.Mark(v.Model, o, origin.Counts)
	if err != nil {
		return nil, err
	}
	return &Marks{Total: m.Total, Count: m.Count, Nodes: append([]int32{}, m.Nodes...), Sums: append([]int64{}, m.Sums...)}, nil
}
