package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// A waitJudgement is what is right and wrong in the answer to one program that waits.
type waitJudgement struct {
	answer *WaitAnswer
	want   *truth.Wait
	// cause is set when the first place of the first finding is where goroutines wait for
	// what is wrong, or where its holder is; holder when the finding names that one, too,
	// or there is none; of a circle, when all are named.
	cause, holder bool
	verdict       bool     // it is the one that is wanted
	stalled       bool     // it was said that nothing goes on
	alarms        []string // of a program that is well: rules that spoke
}

// right reports whether nothing is left to wish.
func (j *waitJudgement) right() bool {
	if j.want.Verdict == truth.WantNone {
		return !j.stalled && len(j.alarms) == 0 && j.answer.Failed == ""
	}
	return j.cause && j.holder
}

func judgeWait(a *WaitAnswer, want *truth.Wait) waitJudgement {
	j := waitJudgement{answer: a, want: want, stalled: a.Verdict == truth.WantStalled}
	accusing := slices.DeleteFunc(slices.Clone(a.Findings), func(f WaitFinding) bool { return f.Remark || slices.Contains(aside, f.Rule) })
	if want.Verdict == truth.WantNone {
		for _, f := range accusing {
			if !slices.Contains(want.Allowed, f.Rule) && !slices.Contains(j.alarms, f.Rule) {
				j.alarms = append(j.alarms, f.Rule)
			}
		}
		j.verdict = !j.stalled
		return j
	}
	// One moment does not show whether what waits will go on: that it is stuck need not be said.
	j.verdict = a.Verdict == want.Verdict || want.Verdict == truth.WantStalled && a.Evidence.ofMoment() && a.Verdict == truth.WantProblem
	if len(accusing) == 0 {
		return j
	}
	first := &accusing[0]
	if len(first.Where) > 0 {
		j.cause = slices.ContainsFunc(slices.Concat(want.Causes, want.Holders, want.Cycle), func(m truth.Mark) bool {
			return inFunction(first.Where[0].Function, m)
		})
	}
	j.holder = namesHolder(first, want)
	return j
}

// namesHolder reports whether a finding names who holds what is waited for: by the
// function, and by the line where others wait in the same function.
func namesHolder(f *WaitFinding, want *truth.Wait) bool {
	if len(want.Cycle) > 0 {
		return !slices.ContainsFunc(want.Cycle, func(m truth.Mark) bool { return !names(f, m, false) })
	}
	if len(want.Holders) == 0 {
		return true
	}
	return slices.ContainsFunc(want.Holders, func(m truth.Mark) bool {
		shared := slices.ContainsFunc(want.Causes, func(c truth.Mark) bool { return c.Function == m.Function && c != m })
		return names(f, m, shared)
	})
}

// names reports whether a finding names a mark, among its places or in its summary.
func names(f *WaitFinding, m truth.Mark, byLine bool) bool {
	line := fmt.Sprintf("%s:%d", m.File, m.Line)
	if containsWord(f.Summary, line) || !byLine && containsWord(f.Summary, m.Function) {
		return true
	}
	return slices.ContainsFunc(f.Where, func(w WaitPlace) bool {
		if byLine {
			return w.File == m.File && w.Line == m.Line
		}
		return inFunction(w.Function, m)
	})
}

// inFunction reports whether a function is that of a mark, or a closure in it.
func inFunction(function string, m truth.Mark) bool {
	rest, ok := strings.CutPrefix(function, m.Function)
	return ok && (rest == "" || rest[0] == '.')
}

// containsWord reports whether a text has a name that does not go on behind it.
func containsWord(text, name string) bool {
	for {
		_, rest, ok := strings.Cut(text, name)
		if !ok {
			return false
		}
		if rest == "" || !isNameByte(rest[0]) {
			return true
		}
		text = rest
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// A waitRow is how often gowhy is right from one kind of evidence.
type waitRow struct {
	evidence                     WaitEvidence // "" of all
	Cause, Holder, Both, Verdict Share        // of programs that wait
	Stalled, Silent              Share        // of those that are well: said to be stalled; nothing said
	Slow                         Share        // of those that are slow: said to be stalled
	Failed                       int
}

func (r *waitRow) add(j *waitJudgement) {
	if j.answer.Failed != "" {
		r.Failed++
	}
	if j.want.Verdict == truth.WantNone {
		r.Stalled.add(j.stalled)
		r.Silent.add(j.right())
		return
	}
	r.Cause.add(j.cause)
	if len(j.want.Holders)+len(j.want.Cycle) > 0 {
		r.Holder.add(j.holder)
	}
	r.Both.add(j.right())
	r.Verdict.add(j.verdict)
	if j.want.Verdict == truth.WantProblem {
		r.Slow.add(j.stalled)
	}
}

// judgeWaits judges all answers: a row for each kind of evidence and one for all, and the
// judgements in the order of the answers.
func judgeWaits(w *Waits, known *truth.Waits) (rows []waitRow, all []waitJudgement, err error) {
	rows = make([]waitRow, len(waitEvidence)+1)
	for i := range waitEvidence {
		rows[i].evidence = waitEvidence[i]
	}
	for i := range w.Answers {
		a := &w.Answers[i]
		want, at := known.Program(a.Program), slices.Index(waitEvidence, a.Evidence)
		if want == nil || at < 0 {
			return nil, nil, fmt.Errorf("there is an answer about %s from %s, which %s does not know", a.Program, a.Evidence, truth.WaitsFile)
		}
		j := judgeWait(a, want)
		rows[at].add(&j)
		rows[len(rows)-1].add(&j)
		all = append(all, j)
	}
	return rows, all, nil
}
