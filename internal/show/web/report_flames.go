package web

import (
	"fmt"
	"net/url"
	"strconv"
)

// flames asks for every tree of a run, pruned to what there is room for.
func (f *reportFile) flames(r int, v *View) error {
	value, text, err := f.tree(queryOf(r))
	if err != nil {
		return err
	}
	first, ok := answerAs[Flame](value)
	if !ok {
		f.add("api/flame", queryOf(r), text)
		return nil
	}
	pruned := 0
	for _, k := range first.Kinds {
		value, text, err := f.tree(queryOf(r, "kind", k.Kind))
		if err != nil {
			return err
		}
		if t, ok := answerAs[Flame](value); ok && t.LeftNodes > 0 {
			pruned++
		}
		f.addTree(queryOf(r, "kind", k.Kind), text)
		if k.Kind == first.Kind {
			f.addTree(queryOf(r), text)
		}
	}
	if pruned > 0 {
		f.left[r] = append(f.left[r], fmt.Sprintf("%d of %d flame graphs in this file are pruned to their larger frames; gowhy view has all of them", pruned, len(first.Kinds)))
	}
	if err := f.numbers(r); err != nil {
		return err
	}
	return f.linkedFlames(r, v)
}

// numbers asks for every number of the findings: how it was computed, and what the
// flame graph marks for it.
func (f *reportFile) numbers(r int) error {
	for _, p := range targetsOf(f.findings(r)) {
		fact := p.params.Get("fact")
		if fact == "" {
			continue
		}
		if _, err := f.take("api/number", queryOf(r, "fact", fact), nil); err != nil {
			return err
		}
		if kind := p.params.Get("kind"); p.screen == "flame" && kind != "" {
			limit := url.Values{"limit": {strconv.Itoa(f.nodes[queryOf(r, "kind", kind).Encode()])}}
			if _, err := f.take("api/flame/marks", queryOf(r, "kind", kind, "fact", fact), limit); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkedFlames asks for the trees of single groups that findings lead to.
func (f *reportFile) linkedFlames(r int, v *View) error {
	for _, p := range targetsOf(f.findings(r)) {
		if p.screen != "flame" || p.params.Get("group") == "" || f.trees > maxReportTrees {
			continue
		}
		q := queryOf(r, "group", p.params.Get("group"))
		if k := p.params.Get("kind"); k != "" {
			q.Set("kind", k)
		}
		_, text, err := f.tree(q)
		if err != nil {
			return err
		}
		f.addTree(q, text)
	}
	return nil
}

// addTree puts a tree into the file.
func (f *reportFile) addTree(q url.Values, text []byte) {
	f.add("api/flame", q, text)
	f.trees += len(text)
}

// tree asks for a tree with as many nodes as fit.
func (f *reportFile) tree(q url.Values) (any, []byte, error) {
	room := max(min(maxReportFlame, maxReportTrees-f.trees, f.room), 32<<10)
	for nodes := reportNodes; ; nodes /= 2 {
		value, text, err := f.ask("api/flame", q, url.Values{"limit": {strconv.Itoa(nodes)}})
		if _, isTree := answerAs[Flame](value); err != nil || !isTree || len(text) <= room || nodes < 64 {
			f.nodes[q.Encode()] = nodes
			return value, text, err
		}
	}
}
