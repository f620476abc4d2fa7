package web

import (
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A filter chooses accounts, in the language of the timeline's search: what a row
// is called, how long it lived, what it ever did and where. A stack is one that
// the row's group waited or called the system at, for single goroutines keep none.
type filter struct {
	timeline.Filter
	m *model.Model
	// at are the groups that waited under a function, by the part of its name.
	at map[string]map[string]bool
}

func (v *View) parseFilter(q string) (*filter, error) {
	f, err := timeline.ParseFilter(q)
	if err != nil {
		return nil, err
	}
	if word, ok := f.Accounts(); !ok {
		return nil, problem.New(problem.Misuse, "the timeline's search does", "this table does not know %s", short(word))
	}
	return &filter{Filter: f, m: v.Model, at: map[string]map[string]bool{}}, nil
}

func (f *filter) keeps(a *account) bool {
	if f.Empty() {
		return true
	}
	of := timeline.Account{
		ID: -1, Names: []string{name(a.group.Name), name(fileLine(a.group.Start))}, Life: a.total(),
		Spent: a.spent, Reasons: a.times.Blocked,
		Under: func(part string) bool { return f.groupsAt(part)[a.group.Name] },
	}
	if a.goroutine != nil {
		of.ID = a.goroutine.ID
	}
	return f.Account(&of)
}

func (a *account) spent(s timeline.State) time.Duration {
	switch s {
	case timeline.Running:
		return a.times.Running
	case timeline.Runnable:
		return a.times.Runnable
	case timeline.Syscall:
		return a.times.Syscall + a.times.SyscallBlocked
	case timeline.GC:
		return a.ranges["GC mark assist"]
	case timeline.Unknown:
		return a.times.Unknown
	}
	return 0
}

// groupsAt returns the groups with a wait or a system call under a function.
func (f *filter) groupsAt(part string) map[string]bool {
	if groups, ok := f.at[part]; ok {
		return groups
	}
	hits, groups := map[model.Stack]bool{}, map[string]bool{}
	for _, w := range f.m.Sched.Waits {
		if w.Kind == model.SchedWait || groups[w.Group] {
			continue // the stack is the waker's
		}
		hit, known := hits[w.Stack]
		if !known {
			for _, frame := range f.m.Stacks.Frames(w.Stack) {
				hit = hit || strings.Contains(strings.ToLower(name(frame.Func)), part)
			}
			hits[w.Stack] = hit
		}
		if hit {
			groups[w.Group] = true
		}
	}
	f.at[part] = groups
	return groups
}
