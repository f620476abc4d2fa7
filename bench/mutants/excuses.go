package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// An excuse says why mutants may survive. It knows them by package, file, function and
// code and not by line, so that it moves with the code and dies with it.
type excuse struct {
	mutant, reason string
	meant          []*mutant
}

// name returns what an excuse knows a mutant by.
func (m *mutant) name() string { return m.Package + "/" + m.code() }

// code returns what a sample knows a mutant by.
func (m *mutant) code() string {
	return fmt.Sprintf("%s %s: %s → %s", m.File, m.Func, m.Before, m.After)
}

// readExcuses reads a name per line, each followed by its reason, indented.
func readExcuses(file string) (list []*excuse, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the excuses: %w\nhint: run it in the root of the checkout, or name a file with -excuses", err)
	}
	for line := range strings.Lines(string(data)) {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || line[0] == '#':
		case line[0] != '\t':
			list = append(list, &excuse{mutant: text})
		case len(list) > 0:
			last := list[len(list)-1]
			last.reason = strings.TrimSpace(last.reason + " " + text)
		}
	}
	for _, e := range list {
		if e.reason == "" {
			return nil, fmt.Errorf("%s: no reason for %s\nhint: write it into the next line, after a tab", file, e.mutant)
		}
	}
	return list, nil
}

// match gives the mutants their excuses.
func match(excuses []*excuse, list []*mutant) {
	by := map[string]*excuse{}
	for _, e := range excuses {
		by[e.mutant] = e
	}
	for _, m := range list {
		if e := by[m.name()]; e != nil {
			m.Excuse, e.meant = e.reason, append(e.meant, m)
		}
	}
}

// stale returns the excuses of files with mutants that none of them needs: the code they mean is
// gone, or the tests notice it now.
func stale(excuses []*excuse, list []*mutant) (out []string) {
	for _, e := range excuses {
		known := slices.ContainsFunc(list, func(m *mutant) bool { return strings.HasPrefix(e.mutant, m.Package+"/"+m.File+" ") })
		if known && !slices.ContainsFunc(e.meant, func(m *mutant) bool { return m.Outcome != killed && m.Outcome != hung }) {
			out = append(out, e.mutant)
		}
	}
	return out
}
