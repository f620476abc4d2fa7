package compare

import (
	"cmp"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A FindingChange is a finding of A, of B, or of both.
type FindingChange struct {
	Rule  string          `json:"rule"`
	Title string          `json:"title"`
	Where diagnosis.Place `json:"where"`
	// State is "gone", "new" or "both".
	State string `json:"state"`
	// The cost in each side that has it, in words of its rule.
	A *diagnosis.Cost `json:"a,omitempty"`
	B *diagnosis.Cost `json:"b,omitempty"`
	// Remark is set for what is not a problem of the program.
	Remark bool `json:"remark,omitempty"`
}

// The states of a finding.
const (
	Gone = "gone"
	New  = "new"
	Both = "both"
)

// findings matches what two diagnoses found: by rule and function, then by
// rule alone, since a fix often moves what is left of a problem.
func findings(a, b *diagnosis.Diagnosis) []FindingChange {
	if a == nil || b == nil {
		return nil
	}
	left, right := flat(a.Findings), flat(b.Findings)
	used := make([]bool, len(right))
	take := func(f *diagnosis.Finding, same func(g *diagnosis.Finding) bool) *diagnosis.Finding {
		for i := range right {
			if !used[i] && right[i].Rule == f.Rule && same(&right[i]) {
				used[i] = true
				return &right[i]
			}
		}
		return nil
	}
	partner := make([]*diagnosis.Finding, len(left))
	for i := range left {
		partner[i] = take(&left[i], func(g *diagnosis.Finding) bool { return place(g).Function == place(&left[i]).Function })
	}
	var list []FindingChange
	for i := range left {
		if partner[i] == nil {
			partner[i] = take(&left[i], func(*diagnosis.Finding) bool { return true })
		}
		list = append(list, change(&left[i], partner[i]))
	}
	for i := range right {
		if !used[i] {
			list = append(list, change(nil, &right[i]))
		}
	}
	order := map[string]int{New: 0, Gone: 1, Both: 2}
	slices.SortStableFunc(list, func(x, y FindingChange) int { return cmp.Compare(order[x.State], order[y.State]) })
	return list
}

// flat lists findings with the symptoms that are folded under them.
func flat(fs []diagnosis.Finding) (all []diagnosis.Finding) {
	for _, f := range fs {
		all = append(all, f)
		all = append(all, flat(f.Symptoms)...)
	}
	return all
}

func place(f *diagnosis.Finding) diagnosis.Place {
	if len(f.Where) == 0 {
		return diagnosis.Place{}
	}
	return f.Where[0]
}

func change(a, b *diagnosis.Finding) FindingChange {
	f := b
	if b == nil {
		f = a
	}
	c := FindingChange{Rule: f.Rule, Title: f.Title, Where: place(f), Remark: f.Remark, State: Both}
	if a == nil {
		c.State = New
	} else {
		c.A = &a.Cost
	}
	if b == nil {
		c.State = Gone
	} else {
		c.B = &b.Cost
	}
	return c
}
