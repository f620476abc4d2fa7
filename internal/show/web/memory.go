package web

import (
	"cmp"
	"encoding/json"
	"math"
	"net/url"
	"slices"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/show/report"
)

// What the memory is, over time where that was recorded, how near its limits are, and who holds it.
// The rows and the words are those of gowhy memory.

// hasMemory reports whether a run says anything of its memory, or of its end.
func hasMemory(m *model.Model) bool {
	return m.MemoryAccount() != nil || len(m.Run.Holders) > 0 || m.Run.Ending() != ""
}

// memory answers GET api/memory.
func (v *View) memory(url.Values) (any, error) {
	m := v.Model
	if !hasMemory(m) {
		return nil, missing("nothing here says what the memory is", diagnosis.HowToGet(&m.Run, model.ProcFS))
	}
	a := &Memory{Ended: name(m.Run.Ending()), Missing: v.memoryMissing()}
	var err error
	if a.Rows, a.Notes, err = memoryRows(m.MemoryAccount(), m.Operations().PerSecond(m.Run.Duration)); err != nil {
		return nil, err
	}
	a.Chart, a.Limits = plot{m, window{}}.memoryOver()
	if n := len(m.Run.Holders); n > 0 {
		a.Held = v.held(m.Run.Holders[n-1])
	}
	return a, nil
}

// memoryRows returns the rows of an account and its notes, as gowhy memory has them.
func memoryRows(a *model.MemoryAccount, operations float64) (rows []MemoryRow, notes []string, err error) {
	texts, notes, err := report.MemoryRows(a, operations)
	for _, text := range texts {
		var r MemoryRow
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, nil, err
		}
		r.Name = name(r.Name) // of a file that is mapped
		rows = append(rows, r)
	}
	return rows, notes, err
}

// memoryOver returns the parts of the account over time, and its limits; nil where nothing was read twice.
func (p plot) memoryOver() (c *Chart, limits []Series) {
	moments := p.MemoryOver()
	if c = p.partsOver(moments); c == nil {
		return nil, nil
	}
	first, last := moments[0].At, moments[len(moments)-1].At
	a := p.MemoryAccount()
	for _, b := range a.Bounds {
		l := line{name: b.Name}
		l.add(first, float64(b.Limit))
		l.add(last, float64(b.Limit))
		if goal := p.metric("/gc/heap/goal:bytes"); b.Limit == a.Goal && len(goal) > 1 {
			l = gauge(b.Name, goal) // the one that moves
		}
		if slices.Max(l.value) < math.MaxInt64 { // what is off has the largest number
			limits = append(limits, l.series())
		}
	}
	downsample(limits, false, p.window)
	return c, limits
}

// partsOver draws parts of memory on top of each other; nil where there are none.
func (p plot) partsOver(moments []model.MemoryMoment) *Chart {
	var parts []line
	source := ""
	for _, n := range model.PartNames(moments) {
		l := line{name: n}
		for _, m := range moments {
			value := 0.0 // of a part that is not told apart from others at this moment
			if i := slices.IndexFunc(m.Parts, func(part model.MemoryPart) bool { return part.Name == n }); i >= 0 {
				value, source = float64(m.Parts[i].Bytes), cmp.Or(source, m.Parts[i].From)
			}
			l.add(m.At, value)
		}
		if slices.Max(l.value) > 0 {
			parts = append(parts, l)
		}
	}
	return p.chart("account", "bytes", source, true, parts...)
}

// memorySources are those that the account and the holders are made of.
var memorySources = []model.Source{model.ProcFS, model.MetricsLog, model.Holders}

// memoryMissing returns the sources that would say more of the memory, with how to get them.
func (v *View) memoryMissing() (list []Refusal) {
	for _, s := range memorySources {
		if v.Model.Has(s) {
			continue
		}
		r := Refusal{Source: string(s), How: name(diagnosis.HowToGet(&v.Model.Run, s))}
		for _, refused := range v.Model.Run.Refused {
			if refused.Source == s {
				r.Why = name(refused.Why)
			}
		}
		list = append(list, r)
	}
	return list
}

// held returns a look at who holds the heap as it is sent.
func (v *View) held(l *model.HeapLook) *Held {
	h := &Held{AtNS: -1, OverNS: int64(l.Over), Reached: int64(l.Reached.Bytes), Objects: int64(l.Reached.Objects), Untyped: int64(l.Untyped.Bytes),
		Partial: l.Partial, Notes: report.HeldNotes(l)}
	if start := v.Model.Run.Start; !start.IsZero() && !l.Time.Before(start) {
		h.AtNS = int64(l.Time.Sub(start))
	}
	for i := range l.Holders {
		of := &l.Holders[i]
		x := Holder{Kind: name(of.Kind), Name: name(of.Name), Count: of.Count, Objects: int64(of.Objects), Bytes: int64(of.Bytes), Shared: int64(of.Shared), Grew: of.Grew}
		for _, s := range of.Stations() {
			x.Way = append(x.Way, HeldStation{name(s.Name), int64(s.Objects), int64(s.Retained), s.Use, s.Again})
		}
		if x.InTree = x.Way[0].Name; len(l.Tree) > 0 {
			x.InTree = name(of.Words())
		}
		h.Holders = append(h.Holders, x)
	}
	for _, t := range l.Types {
		h.Types = append(h.Types, HeldType{name(t.Name), int64(t.Objects), int64(t.Bytes), t.Grew, name(t.Holder), int64(t.HolderBytes)})
	}
	garbage, of := report.MainGarbage(l)
	for _, g := range garbage {
		h.Garbage = append(h.Garbage, MadeSum{name(g.Place), g.Bytes, g.Bytes / of, g.Samples})
	}
	t := flame.HolderTree(l, flame.OwnersOf(v.Model))
	h.Tree = flameOf(t, []flame.Kind{{Name: t.Kind, Unit: t.Unit, Total: t.Total}})
	return h
}
