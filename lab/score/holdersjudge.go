package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// A holderJudgement is what is right and wrong in one answer.
type holderJudgement struct {
	answer *HolderAnswer
	want   *truth.Holder
	first  bool     // the right holder is named first
	alarms []string // of a program that is well: rules that spoke
}

// right reports whether nothing is left to wish.
func (j *holderJudgement) right() bool {
	if j.want.Kind == truth.WantNone {
		return len(j.alarms) == 0 && j.answer.Failed == ""
	}
	return j.first
}

// leastHeld is what the right holder has at least: the programs hold 72 MiB and more, and what
// is shared with another may be told as that one's.
const leastHeld = 48 << 20

// accountRows are the rows of the account that tell memory without a holder.
var accountRows = map[string]string{truth.HeldOutside: "native", truth.HeldByPages: "heap: fragmentation"}

func judgeHolder(a *HolderAnswer, want *truth.Holder) holderJudgement {
	j := holderJudgement{answer: a, want: want}
	switch {
	case a.Failed != "":
	case want.Kind == truth.WantNone:
		for _, f := range a.Findings {
			if !f.Remark && !slices.Contains(aside, f.Rule) && !slices.Contains(j.alarms, f.Rule) {
				j.alarms = append(j.alarms, f.Rule)
			}
		}
	case a.Bytes < leastHeld:
	case want.InAccount():
		j.first = a.Kind == rowKind && strings.HasPrefix(a.Name, accountRows[want.Kind])
	default:
		j.first = a.Kind == want.Kind && (want.Holder == "" || namesFunction(a.Name+" "+a.Way, want.Holder))
	}
	return j
}

// namesFunction reports whether words have a name, or that of a closure in it.
func namesFunction(words, name string) bool {
	return slices.ContainsFunc(strings.Fields(words), func(word string) bool {
		return inFunction(strings.TrimRight(word, ","), truth.Mark{Function: name})
	})
}

// A holderRow is how often gowhy is right from one kind of evidence, of one release.
type holderRow struct {
	evidence      HolderEvidence
	release       string // "" of all
	First, Silent Share
	// Told and Agrees are of looks at the heap: those that tell of wantTold of what the collector
	// found alive, and those whose holders have as much as that, or as that and what was allocated
	// since, within wantAgrees.
	Told, Agrees Share
	Failed       int
}

const (
	wantTold   = 0.95
	wantAgrees = 0.03
)

// compares says how what holders have compares with what the collector found alive; ok is false where
// nobody looked.
func (a *HolderAnswer) compares() (told, agrees, ok bool) {
	reached, marked := float64(a.Reached), float64(a.Marked)
	if marked <= 0 || a.Failed != "" {
		return false, false, false
	}
	near := func(to float64) bool { return reached >= (1-wantAgrees)*to && reached <= (1+wantAgrees)*to }
	return reached >= wantTold*marked, near(marked) || near(marked+float64(a.Allocated)), true
}

func (r *holderRow) add(j *holderJudgement) {
	if j.answer.Failed != "" {
		r.Failed++
	}
	if told, agrees, ok := j.answer.compares(); ok {
		r.Told.add(told)
		r.Agrees.add(agrees)
	}
	if j.want.Kind == truth.WantNone {
		r.Silent.add(j.right())
		return
	}
	r.First.add(j.right())
}

// judgeHolders judges all answers: a row for each release and kind of evidence, and one for each
// kind; and the judgements in the order of the answers.
func judgeHolders(h *Holders, known *truth.Holders) (rows []holderRow, all []holderJudgement, err error) {
	at := map[string]int{}
	row := func(e HolderEvidence, release string) *holderRow {
		key := string(e) + release
		if _, ok := at[key]; !ok {
			at[key] = len(rows)
			rows = append(rows, holderRow{evidence: e, release: release})
		}
		return &rows[at[key]]
	}
	for i := range h.Answers {
		a := &h.Answers[i]
		want := known.Program(a.Program)
		if want == nil || !slices.Contains(holderEvidence, a.Evidence) {
			return nil, nil, fmt.Errorf("there is an answer about %s from %s, which %s does not know", a.Program, a.Evidence, truth.HoldersFile)
		}
		j := judgeHolder(a, want)
		row(a.Evidence, a.Release).add(&j)
		row(a.Evidence, "").add(&j)
		all = append(all, j)
	}
	slices.SortFunc(rows, func(a, b holderRow) int {
		return strings.Compare(string(b.evidence)+a.name(), string(a.evidence)+b.name())
	})
	return rows, all, nil
}

// name returns the release, behind all of which comes their sum.
func (r *holderRow) name() string {
	if r.release == "" {
		return "~all"
	}
	return r.release
}
