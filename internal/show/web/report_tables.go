package web

import (
	"net/url"
	"slices"
	"strconv"
)

// tables asks for what screens show as text, tables and charts.
func (f *reportFile) tables(r int, v *View) error {
	value, err := f.take("api/findings", queryOf(r), nil)
	if err != nil {
		return err
	}
	for _, path := range []string{"api/memory", "api/runtime", "api/mmu"} {
		if _, err := f.take(path, queryOf(r), nil); err != nil {
			return err
		}
	}
	page := url.Values{"limit": {strconv.Itoa(reportGoroutines)}}
	for _, path := range []string{"api/groups", "api/goroutines"} {
		if _, err := f.take(path, queryOf(r), page); err != nil {
			return err
		}
	}
	for _, g := range f.groupsOf(v, value) {
		if _, err := f.take("api/goroutines", queryOf(r, "group", g), url.Values{"limit": {"200"}}); err != nil {
			return err
		}
	}
	if _, err := f.take("api/standing", queryOf(r), nil); err != nil {
		return err
	}
	return f.tasks(r)
}

// groupsOf returns the groups whose goroutines can be looked at: those that findings
// lead to, and the largest. The group without a name is one of them.
func (f *reportFile) groupsOf(v *View, findings any) (groups []string) {
	if v.Model.Sched == nil {
		return nil
	}
	add := func(g string) {
		if !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for _, p := range targetsOf(findings) {
		for _, parameter := range []string{"group", "g"} {
			if p.params.Has(parameter) {
				add(p.params.Get(parameter))
			}
		}
	}
	for i := range v.Model.Sched.Groups {
		if len(groups) >= reportGroups {
			break
		}
		add(pageName(v.Model.Sched.Groups[i].Name))
	}
	return groups
}

// tasks asks for the slowest of each type of task, which are looked at one by one.
func (f *reportFile) tasks(r int) error {
	value, err := f.take("api/tasks", queryOf(r), nil)
	if err != nil {
		return err
	}
	list, ok := answerAs[Tasks](value)
	if !ok {
		return nil
	}
	asked := 0
	for rank := 0; asked < reportTasks; rank++ {
		more := false
		for _, t := range list.Tasks {
			if rank >= len(t.Slow) || asked >= reportTasks {
				continue
			}
			asked, more = asked+1, true
			if _, err := f.take("api/task", queryOf(r, "id", t.Slow[rank].ID), nil); err != nil {
				return err
			}
		}
		if !more {
			break
		}
	}
	return nil
}

// sources asks what was recorded, without what only a server has, and says what
// did not go into the file.
func (f *reportFile) sources(r int, v *View) error {
	value, text, err := f.ask("api/sources", queryOf(r), nil)
	if err != nil {
		return err
	}
	if s, ok := answerAs[Sources](value); ok {
		s.Exports, s.Tools = nil, nil
		s.Notes = append(s.Notes, f.left[r]...)
		if text, err = encode(s); err != nil {
			return err
		}
	}
	f.add("api/sources", queryOf(r), text)
	return nil
}

// comparisons asks for what the compare screen shows.
func (f *reportFile) comparisons() error {
	for i := range f.page.results {
		if _, err := f.take("api/compare", url.Values{"trial": {strconv.Itoa(i)}}, nil); err != nil {
			return err
		}
	}
	if err := f.resultPairs(); err != nil {
		return err
	}
	n := 0
	for a := range f.page.runs {
		for b := range f.page.runs {
			// The page offers the first run against each other one.
			if a == b || a > 0 && b > 0 {
				continue
			}
			if n++; n > reportPairs {
				return nil
			}
			if _, err := f.take("api/compare", url.Values{"a": {strconv.Itoa(a)}, "b": {strconv.Itoa(b)}}, nil); err != nil {
				return err
			}
			q := queryOf(b, "kind", "cpu", "base", strconv.Itoa(a))
			_, text, err := f.tree(q)
			if err != nil {
				return err
			}
			f.addTree(q, text)
		}
	}
	return nil
}

// resultPairs asks for the first saved result of each kind against the others.
func (f *reportFile) resultPairs() error {
	first, taken := map[string]int{}, map[string]int{}
	for i, r := range f.page.results {
		a, seen := first[r.Kind]
		if !seen {
			first[r.Kind] = i
			continue
		}
		if taken[r.Kind]++; r.Kind == "comparison" || taken[r.Kind] > reportPairs {
			continue
		}
		for _, pair := range [][2]int{{a, i}, {i, a}} {
			if _, err := f.take("api/compare", url.Values{"trial": {strconv.Itoa(pair[0])}, "with": {strconv.Itoa(pair[1])}}, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
