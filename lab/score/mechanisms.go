package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/lab/internal/specimen"
)

// A mechanism is a way to find a cause, and the rules that go it.
type mechanism struct{ name, rules string }

var mechanisms = []mechanism{
	{"a cheaper equivalent of hot lines, or work that repeats, by their source", "needlesswork"},
	{"what is made to be thrown away", "growingslices stringbuilding boxedargs poolmisuse sparsemap printedprofile"},
	{"cost that grows faster than the input", "superlinear risingcost deeprecursion"},
	{"waits that operations need not have", "serialcalls serialwait waitchain slowstage poolwait"},
	{"queues for locks and channels", "hotmutex readlocks lockedrand lockedio loggerlock herdwakeup funnelchannel singlesocket"},
	{"what grows without end", "heapgrowth goroutinegrowth leakedgoroutines leakedtimers descriptorgrowth threadgrowth nativememory unclosed"},
	{"who holds memory, and how much of it is in use", "heldmemory retainedslice emptymap fragmentation blockedfinalizer"},
	{"system calls, counted", "smallio syscallbound reopen hotretry fsyncbound connectionchurn exhausted failures"},
	{"the runtime's work, counted", "gccost gcassist forcedgc tinyheap stackgrowth timerstorm oldtimers goroutinechurn packetgoroutine futexstorm cgocalls freshrand"},
	{"Ps and threads", "oversubscribed idleprocs idlespin spinloop fewprocs overquota runqueue schedlatency slowstop throttled"},
	{"load and capacity", "overload unboundedspawn slowstart"},
	{"a share of the CPU, alone", "hotfunction allocchurn runtimetax"},
}

// leaveOut returns findings without those of some rules. What these explained stands in their place.
func leaveOut(findings []specimen.Finding, rules []string) (left []specimen.Finding) {
	for _, f := range findings {
		symptoms := leaveOut(f.Symptoms, rules)
		if slices.Contains(rules, f.Rule) {
			left = append(left, symptoms...)
			continue
		}
		f.Symptoms = symptoms
		left = append(left, f)
	}
	return left
}

// leftOut returns what was said of the field without some rules.
func (f *Field) leftOut(rules []string) *Field {
	less := &Field{Answers: slices.Clone(f.Answers)}
	for i := range less.Answers {
		a := &less.Answers[i]
		a.Findings = leaveOut(a.Findings, rules)
	}
	return less
}

// mechanismTable says what each way to find a cause brings, and what it costs.
func (p *page) mechanismTable(f *Field, all []*specimen.Specimen) {
	p.line("### What each mechanism brings")
	p.line("")
	p.line("The same answers, quiet, without the findings of some rules; what these explained stands in")
	p.line("their place. A figure is what falls without them: of sick sides accused first, named first")
	p.line("and named among three; of repaired sides and of healthy runs the accusations that go.")
	var rows [][]string
	for _, m := range mechanisms {
		less := f.leftOut(strings.Fields(m.rules))
		row := []string{safe(m.name), safe(strings.ReplaceAll(m.rules, " ", ", "))}
		for _, half := range []specimen.Half{specimen.Learning, specimen.Exam} {
			with, left := tallyField(f, all, half, false), tallyField(less, all, half, false)
			fell := func(a, b Share) string { return fmt.Sprint(a.K - b.K) }
			row = append(row, fell(with.Strict, left.Strict), fell(with.First, left.First), fell(with.Three, left.Three),
				fmt.Sprint(left.Silent.K-with.Silent.K+with.False-left.False))
		}
		rows = append(rows, row)
	}
	p.table(2, []string{"mechanism", "rules", "learning: accused first", "named first", "among three", "false accusations", "exam: accused first", "named first", "among three", "false accusations"}, rows)
}
