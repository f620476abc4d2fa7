package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
)

// A RunAnswer is what one of several recordings says by itself.
type RunAnswer struct {
	File    string  `json:"file"`
	Verdict Verdict `json:"verdict"`
	Summary string  `json:"summary"`
	// Shown is set for the recording whose accounts and figures the joint diagnosis has.
	Shown bool `json:"shown,omitempty"`
}

// Join returns one diagnosis of several recordings of one program, which each have
// their own in runs; there are at least two.
//
// One recording beside a busy neighbour says this, the next that. What was found in
// more than half of them is the answer; what was found in fewer stands behind it, with
// low confidence, and never makes the verdict. [Finding.Found] tells in how many.
// Figures are not averaged, so that the parts of each account still add up: all
// accounts are of one recording, that which has most of the answer.
func Join(runs []*Diagnosis) *Diagnosis {
	j := joint{runs: runs}
	j.gather()
	base := j.base()
	d := *runs[base]
	d.Files, d.Runs, d.Findings = nil, nil, nil
	for i, r := range runs {
		d.Files = append(d.Files, r.Files...)
		d.Runs = append(d.Runs, RunAnswer{File: strings.Join(r.Files, ", "), Verdict: r.Verdict, Summary: r.Summary, Shown: i == base})
	}
	for _, c := range j.causes {
		if c.holds(len(runs)) || !c.remark {
			d.Findings = append(d.Findings, c.finding(base, len(runs)))
		}
	}
	d.Fine = slices.DeleteFunc(slices.Clone(d.Fine), func(f Fine) bool { return j.accused(f.Rule) })
	j.judge(&d, runs[base])
	d.fill()
	return &d
}

// A joint is the state of one Join.
type joint struct {
	runs   []*Diagnosis
	causes []*cause // as they are listed
}

// A cause is one finding as several recordings have it.
type cause struct {
	rule   string
	remark bool
	places map[string]bool  // functions
	in     map[int]*Finding // by recording, where nothing else explains it
	folded map[int]bool     // recordings in which another finding explains it
	ranks  int              // sum of its places in the lists of all recordings
}

// gather finds the causes of all recordings and puts them in order.
func (j *joint) gather() {
	for run, d := range j.runs {
		for i := range d.Findings {
			f := &d.Findings[i]
			if c := j.cause(f, run); c.in[run] == nil {
				c.in[run] = f
				c.ranks += i - len(d.Findings) // less than 0: those without it rank it last
			}
		}
	}
	for run, d := range j.runs {
		for i := range d.Findings {
			j.fold(d.Findings[i].Symptoms, run)
		}
	}
	// What mostly follows from another cause is listed under that one.
	j.causes = slices.DeleteFunc(j.causes, func(c *cause) bool { return len(c.in) < len(c.folded) })
	slices.SortStableFunc(j.causes, func(a, b *cause) int {
		return cmp.Or(cmp.Compare(j.tier(a), j.tier(b)), cmp.Compare(a.ranks, b.ranks))
	})
}

// tier puts what holds before what does not, and remarks last.
func (j *joint) tier(c *cause) int {
	switch {
	case c.remark:
		return 2
	case c.holds(len(j.runs)):
		return 0
	}
	return 1
}

// cause returns that of a finding, a new one where no other recording has it. Findings
// of a rule are the same when they share a function: the first place of several alike
// changes from one recording to the next.
func (j *joint) cause(f *Finding, run int) *cause {
	for _, c := range j.causes {
		if c.is(f) && c.in[run] == nil {
			c.add(f)
			return c
		}
	}
	c := &cause{rule: f.Rule, remark: f.Remark, places: map[string]bool{}, in: map[int]*Finding{}, folded: map[int]bool{}}
	c.add(f)
	j.causes = append(j.causes, c)
	return c
}

func (c *cause) is(f *Finding) bool {
	if c.rule != f.Rule || c.remark != f.Remark {
		return false
	}
	return len(c.places) == 0 || len(f.Where) == 0 ||
		slices.ContainsFunc(f.Where, func(p Place) bool { return c.places[p.Function] })
}

func (c *cause) add(f *Finding) {
	for _, p := range f.Where {
		c.places[p.Function] = true
	}
}

// fold notes the causes among symptoms of a recording.
func (j *joint) fold(symptoms []Finding, run int) {
	for i := range symptoms {
		f := &symptoms[i]
		for _, c := range j.causes {
			if c.is(f) && c.in[run] == nil {
				c.folded[run] = true
			}
		}
		j.fold(f.Symptoms, run)
	}
}

// found is in how many recordings the cause is.
func (c *cause) found() int { return len(c.in) + len(c.folded) }

// holds reports whether it is in most of n recordings.
func (c *cause) holds(n int) bool { return 2*c.found() > n }

// accused reports whether a rule has a finding that is no remark in any recording.
func (j *joint) accused(rule string) bool {
	return slices.ContainsFunc(j.causes, func(c *cause) bool { return c.rule == rule && !c.remark })
}

// base returns the recording whose figures are shown: that with most of what holds, of
// equals that in which the first cause costs neither least nor most.
func (j *joint) base() int {
	score := make([]int, len(j.runs))
	for i, d := range j.runs {
		for _, c := range j.causes {
			if c.in[i] != nil && c.holds(len(j.runs)) {
				score[i] += 2
			}
		}
		if d.Verdict == j.most() {
			score[i]++
		}
	}
	var best []int
	for i := range j.runs {
		if score[i] == slices.Max(score) {
			best = append(best, i)
		}
	}
	if len(j.causes) > 0 && !slices.ContainsFunc(best, func(i int) bool { return j.causes[0].in[i] == nil }) {
		first := j.causes[0].in
		slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(first[a].Cost.Share, first[b].Cost.Share) })
		return best[(len(best)-1)/2]
	}
	return best[0]
}

// most returns the verdict of most recordings, "" where no verdict has more than half.
func (j *joint) most() Verdict {
	count := map[Verdict]int{}
	for _, d := range j.runs {
		if count[d.Verdict]++; 2*count[d.Verdict] > len(j.runs) {
			return d.Verdict
		}
	}
	return ""
}

// finding returns the cause as it is listed: as the shown recording has it, or else the one
// in the middle.
func (c *cause) finding(base, runs int) Finding {
	at := make([]*Finding, 0, len(c.in))
	for i := range runs {
		if f := c.in[i]; f != nil {
			at = append(at, f)
		}
	}
	slices.SortStableFunc(at, func(a, b *Finding) int { return cmp.Compare(a.Cost.Share, b.Cost.Share) })
	single := at[(len(at)-1)/2]
	if c.in[base] != nil {
		single = c.in[base]
	}
	f := *single
	f.Single = single
	f.Found = c.found()
	f.Confidence = c.confidence(at, runs)
	why := "found in " + inRuns(f.Found, runs)
	if low, high := at[0].Cost.Share, at[len(at)-1].Cost.Share; low > 0 && len(at) > 1 {
		cost := fact.Ratio.Format(low)
		if fact.Ratio.Format(high) != cost {
			cost = between(fact.Ratio, low, high)
		}
		why += ", where it costs " + cost
	}
	f.Reasons = append([]string{why}, f.Reasons...)
	return f
}

// confidence returns that of most recordings which have the cause. Sure is only what each
// recording finds.
func (c *cause) confidence(at []*Finding, runs int) Confidence {
	order := []Confidence{Low, Medium, High}
	var all []int
	for _, f := range at {
		all = append(all, slices.Index(order, f.Confidence))
	}
	slices.Sort(all)
	middle := max(0, all[(len(all)-1)/2])
	switch {
	case !c.holds(runs):
		middle = 0
	case c.found() < runs:
		middle = min(middle, 1)
	}
	return order[middle]
}

// inRuns says how many of the recordings.
func inRuns(n, of int) string {
	if n == of && n == 2 {
		return "both recordings"
	}
	if n == of {
		return fmt.Sprintf("all %d recordings", of)
	}
	return fmt.Sprintf("%d of %d recordings", n, of)
}

// judge gives the verdict and its sentence. A problem that fewer than most recordings
// have makes none, and takes the word healthy away.
func (j *joint) judge(d, base *Diagnosis) {
	n := len(j.runs)
	accusations := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Remark || 2*f.Found <= n })
	if accusations < 0 {
		accusations = len(d.Findings)
	}
	var first *Finding
	if len(d.Findings) > 0 && !d.Findings[0].Remark {
		first = &d.Findings[0]
	}
	switch most := j.most(); {
	case accusations > 0:
		d.Verdict = Problem
		if most == Stalled {
			d.Verdict = Stalled
		}
		d.Summary = fmt.Sprintf("Found in %s. %s", inRuns(first.Found, n), first.Summary)
		if more := accusations - 1; more > 0 {
			d.Summary = fmt.Sprintf("%s (and %d more).", strings.TrimSuffix(d.Summary, "."), more)
		}
	case first != nil:
		d.Verdict = Unclear
		d.Summary = fmt.Sprintf("The recordings do not agree, so whether the program is well cannot be said. Found only in %s: %s", inRuns(first.Found, n), first.Summary)
	case most != "":
		count := 0
		for _, r := range j.runs {
			if r.Verdict == most {
				count++
			}
		}
		d.Verdict, d.Summary = most, sentenceStart(inRuns(count, n))+" agree. "+base.Summary
	default:
		d.Verdict, d.Summary = Unclear, "Nothing is known to be wrong, and the recordings do not agree: "+j.verdicts()+"."
	}
}

// verdicts lists what the recordings say, each with how many say so.
func (j *joint) verdicts() string {
	var words []Verdict
	count := map[Verdict]int{}
	for _, d := range j.runs {
		if count[d.Verdict]++; count[d.Verdict] == 1 {
			words = append(words, d.Verdict)
		}
	}
	parts := make([]string, len(words))
	for i, v := range words {
		parts[i] = fmt.Sprintf("%d %s", count[v], v)
	}
	return strings.Join(parts, ", ")
}

// sentenceStart makes a text begin a sentence.
func sentenceStart(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
