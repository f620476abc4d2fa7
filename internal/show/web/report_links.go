package web

import (
	"net/url"
	"strings"
)

// findings returns those of a run that are in the file.
func (f *reportFile) findings(r int) any {
	value, _, err := f.ask("api/findings", queryOf(r), nil)
	if err != nil {
		return nil
	}
	return value
}

// A target is where a link leads.
type target struct {
	screen string
	params url.Values
}

// targetsOf returns the places that findings link to, those of the first finding first.
func targetsOf(findings any) (targets []target) {
	f, ok := answerAs[Findings](findings)
	if !ok {
		return nil
	}
	add := func(link string) {
		screen, query, _ := strings.Cut(link, "?")
		if q, err := url.ParseQuery(query); err == nil && link != "" {
			targets = append(targets, target{screen, q})
		}
	}
	var number func(FactLink)
	number = func(l FactLink) {
		add(l.To)
		for _, o := range l.Operands {
			number(o)
		}
	}
	var walk func([]FindingLinks)
	walk = func(list []FindingLinks) {
		for _, l := range list {
			for _, e := range l.Evidence {
				number(e)
			}
			for _, w := range l.Where {
				add(w)
			}
			number(l.Cost)
			number(l.Bound)
			for _, m := range l.More {
				add(m.To)
			}
			walk(l.Symptoms)
		}
	}
	walk(f.Links)
	walk(f.Accounts)
	return targets
}
