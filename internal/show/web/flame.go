package web

import (
	"math"
	"net/url"
	"strconv"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// flame answers api/flame: kind (the first of the run's own when absent), from and to
// (a window of the trace), group, label (key=value), min (a share), limit (of nodes) and base (another run).
func (v *View) flame(q url.Values) (any, error) {
	m, note, err := v.flameModel(q)
	if err != nil {
		return nil, err
	}
	kinds := flame.Kinds(m)
	if len(kinds) == 0 {
		return nil, noStacks(q, diagnosis.HowToGet(&v.Model.Run, model.CPU))
	}
	o, err := flameOptions(q)
	if err != nil {
		return nil, err
	}
	o.Kind = kindIn(kinds, o.Kind, m != v.Model)
	if q.Get("base") != "" {
		base, err := v.run(q, "base")
		if err != nil {
			return nil, err
		}
		o.Base = base.Model
	}
	t, err := flame.Build(m, o)
	if err != nil {
		return nil, err
	}
	if note != "" {
		t.Note = note + " " + t.Note
	}
	return flameOf(t, kinds), nil
}

// flameOptions reads kind, group, min and limit.
func flameOptions(q url.Values) (o flame.Options, err error) {
	o = flame.Options{Kind: q.Get("kind"), Group: q.Get("group"), Label: q.Get("label")}
	limit, err := integer(q, "limit", flame.MaxNodes, 1, flame.MaxNodes)
	if err != nil {
		return o, err
	}
	o.Limit = int(limit)
	o.Min, err = share(q, "min")
	return o, err
}

func flameOf(t *flame.Tree, kinds []flame.Kind) *Flame {
	f := &Flame{
		Kind: t.Kind, Unit: t.Unit, Total: t.Total, Groups: t.Groups, Labels: append([]string{}, t.Labels...),
		Parent: t.Parent, Func: t.Func, Line: t.Line, Self: t.Self, Sum: t.Sum, Base: t.Base,
		LeftNodes: t.LeftNodes, BaseTotal: t.BaseTotal, Ratio: t.Ratio, PerWhat: t.PerWhat, Note: t.Note,
	}
	for _, k := range kinds {
		f.Kinds = append(f.Kinds, FlameKind{k.Name, k.Unit, k.Total})
	}
	for _, fn := range t.Funcs {
		f.Names = append(f.Names, fn.Name)
		f.Files = append(f.Files, fn.File)
		f.FuncKinds = append(f.FuncKinds, int(fn.Owner))
	}
	return f
}

// share reads a parameter from 0 to 1, 0 when it is absent.
func share(q url.Values, name string) (float64, error) {
	s := q.Get(name)
	if s == "" {
		return 0, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1 {
		return 0, misuse("%s=%s is no share between 0 and 1", name, short(s))
	}
	return f, nil
}
