// Package tariff answers what a plan pays for a treatment.
package tariff

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"dentalclaims/internal/settings"
)

// Fee is one line of a schedule.
type Fee struct {
	Code, Group         string
	Cents, Share, Limit int
}

// Schedule is the fees of one plan, in order of their codes.
type Schedule struct {
	fees   []Fee
	groups map[string]int
}

// Find returns the fee of a code.
func (s *Schedule) Find(code string) (Fee, bool) {
	i, ok := slices.BinarySearchFunc(s.fees, code, func(f Fee, c string) int { return cmp.Compare(f.Code, c) })
	if !ok {
		return Fee{}, false
	}
	return s.fees[i], true
}

// Ceiling is the largest fee of a group.
func (s *Schedule) Ceiling(group string) int { return s.groups[group] }

type entry struct {
	revision int
	sched    *Schedule
}

// Book gives the schedules of the plans.
type Book struct {
	docs *settings.Store
	kept bool
	mu   sync.Mutex
	held map[string]entry
}

// NewBook reads schedules from docs.
func NewBook(docs *settings.Store, kept bool) *Book {
	return &Book{docs: docs, kept: kept, held: map[string]entry{}}
}

// For returns the schedule that is in force for a plan.
func (b *Book) For(plan string) (*Schedule, error) {
	doc, err := b.docs.Get("schedule/" + plan)
	if err != nil {
		return nil, err
	}
	if !b.kept {
		return parse(doc)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, ok := b.held[plan]; ok && e.revision == doc.Revision {
		return e.sched, nil
	}
	s, err := parse(doc)
	if err == nil {
		b.held[plan] = entry{doc.Revision, s}
	}
	return s, err
}

func parse(doc settings.Document) (*Schedule, error) {
	s := &Schedule{groups: map[string]int{}}
	sc := bufio.NewScanner(strings.NewReader(doc.Body))
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		f, err := fee(line)
		if err != nil {
			return nil, fmt.Errorf("%s rev %d line %d: %w", doc.Name, doc.Revision, n, err)
		}
		s.fees = append(s.fees, f)
		s.groups[f.Group] = max(s.groups[f.Group], f.Cents)
	}
	slices.SortFunc(s.fees, func(a, b Fee) int { return cmp.Compare(a.Code, b.Code) })
	return s, sc.Err()
}

func fee(line string) (Fee, error) {
	cols := strings.Split(line, ";")
	if len(cols) != 5 {
		return Fee{}, fmt.Errorf("%d columns", len(cols))
	}
	f := Fee{Code: cols[0], Group: cols[1]}
	for i, p := range []*int{&f.Cents, &f.Share, &f.Limit} {
		v, err := strconv.Atoi(cols[i+2])
		if err != nil {
			return Fee{}, err
		}
		*p = v
	}
	return f, nil
}
