// Package diagnosis turns a model into a short, ranked list of causes.
//
// It hides how rules are run, which of them could not be, which finding is
// only the symptom of another, in which order they matter to the reader's
// goal, and when to say nothing at all. Its types are [Rule] (one problem it can recognise),
// [Pass] (what a rule sees and reports to), [Finding] (a rule's result) and
// [Diagnosis] (the whole answer, which every report renders and which is
// saved as JSON).
//
// A diagnosis is a hypothesis: a finding always carries an upper bound of
// what its fix brings and the experiment that would prove it. Nothing here
// reads files or the clock.
package diagnosis

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Schema is the version of the JSON form of [Diagnosis].
const Schema = 3

// A Rule is one problem that can be recognised. It is a value: nothing is
// registered, a suite is a list.
type Rule struct {
	// Name is the problem in one lower-case word, the same everywhere: file,
	// page, fixture, command line.
	Name string
	// Title says it in a few words, for a reader who never heard of it.
	Title string
	// Doc is the rule's page in Markdown.
	Doc string
	// Needs are the sources without which the rule is not run. The diagnosis
	// then lists it as unchecked.
	Needs []model.Source
	// Instead are sources each of which will do in the place of all Needs.
	Instead []model.Source
	// Explains names rules whose findings are symptoms of this one when they
	// overlap.
	Explains []string
	// Whole says that the findings are of the whole program, of what it was built with or
	// of the machine: no place in the code is to be named.
	Whole bool
	// Disturbing says that the findings are of what disturbs a recording: it does
	// not make them less sure.
	Disturbing bool
	// Confirm, where it is set, reports whether counts of goroutines, read before a recording
	// and in it, bear out what Check found in that alone.
	Confirm func(goroutines model.Series) bool
	// Check looks for the problem and reports what it found to the pass. It
	// is a pure function of the model.
	Check func(*Pass)
}

// A Pass is one run of one rule over one model.
type Pass struct {
	fact.Meter // what it measures in: the model
	Rule       *Rule
	// Goal is what the reader asked for. A rule may use it to say more, never less.
	Goal Goal
	// Report adds a finding. Rule, Title and Explains may be left empty.
	Report func(Finding)
	// Fine says that the rule looked and found health, in words with the figure.
	Fine func(string)
	// Obsolete says that the program has a pattern that once hurt and does no
	// harm under the Go version that it was built with: what it is, the version
	// since which it is harmless, like "Go 1.20", and what that version changed.
	Obsolete func(pattern, since, why string)
	// Unchecked says that the rule could not be decided on this evidence:
	// what, why, and the command that would let it be.
	Unchecked func(what, why, how string)
	// Doubt is Unchecked for what keeps a program from being called well: something was
	// seen that may be an illness.
	Doubt func(what, why, how string)
	// Lacks says that the rule could not look at all: why, and the command that would
	// let it. It counts as one that did not run, listed with others that lack the same.
	Lacks func(why, how string)
}

// A Place is a piece of the user's code.
type Place struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// A Goal is what the reader wants to improve. It orders findings.
type Goal string

// The goals.
const (
	AnyGoal    Goal = ""
	Throughput Goal = "throughput"
	Latency    Goal = "latency"
	CPUGoal    Goal = "cpu"
	MemoryGoal Goal = "memory"
)

// A Cost is what the problem costs now: a fact, and the part of a whole that it is.
type Cost struct {
	Value    float64     `json:"value"`
	Unit     fact.Unit   `json:"unit"`
	Text     string      `json:"text"`
	What     string      `json:"what"` // what is counted, like "goroutine time waiting for a P"
	Origin   fact.Origin `json:"origin"`
	Operands []fact.Fact `json:"operands,omitempty"`
	// Share is the cost relative to the whole that the goal is about (CPU in
	// use, goroutine time, heap), 0 to 1. It ranks findings of unlike units.
	Share float64 `json:"share"`
}

// CostOf returns a fact as the cost, with its share of the whole.
func CostOf(f fact.Fact, share float64) Cost {
	return Cost{Value: f.Value, Unit: f.Unit, Text: f.Text, What: f.Name, Origin: f.Origin, Operands: f.Operands, Share: share}
}

// Fact returns the cost as a fact among others.
func (c *Cost) Fact() fact.Fact {
	return fact.Fact{Name: c.What, Value: c.Value, Unit: c.Unit, Text: c.Text, Origin: c.Origin, Operands: c.Operands}
}

// A BoundKind is what a bound claims.
type BoundKind string

// The claims.
const (
	IsLimit     BoundKind = "limit"     // the fix brings no more than this; an experiment is held to it
	IsEstimate  BoundKind = "estimate"  // it brings something between Low and High
	IsDirection BoundKind = "direction" // this much goes with what is removed, and something that was not measured besides
	IsOpen      BoundKind = "open"      // the evidence gives no limit; Value is what is removed
	IsRelease   BoundKind = "release"   // what stands still goes on: no figure says how much work that is
)

// A Bound is what a fix can bring, and how that was derived. It is never a sum
// of waiting times.
type Bound struct {
	Kind     BoundKind   `json:"kind"`
	Value    float64     `json:"value"`
	Unit     fact.Unit   `json:"unit"`
	Text     string      `json:"text"`
	Low      float64     `json:"low,omitempty"` // of an estimate, in the same unit
	High     float64     `json:"high,omitempty"`
	Name     string      `json:"name"`   // what is saved
	Method   string      `json:"method"` // made from the formula and its operands
	Origin   fact.Origin `json:"origin"`
	Operands []fact.Fact `json:"operands,omitempty"`
	// Goal is what the bound improves.
	Goal Goal `json:"goal"`
	// Along says, of an estimate that reaches beyond the finding's cost, what goes with
	// it, and what more there is to save than by this alone; else empty.
	Along string `json:"along,omitempty"`
	// Words are the gain as every report says it.
	Words string `json:"words"`
	// Share is Value relative to the whole, 0 to 1; it ranks findings.
	Share float64 `json:"share"`
}

// Gain says what a fix brings, as a part of the whole first where that is known.
func (b Bound) Gain() string {
	switch {
	case b.Kind == IsOpen:
		return "no limit can be given"
	case b.Kind == IsRelease:
		return "what stands still goes on"
	case b.Value == 0:
		return "no saving can be promised"
	}
	s, part := b.Text, fact.Ratio.Format(b.Share)
	if b.Kind == IsEstimate {
		s = between(b.Unit, b.Low, b.High)
		part = between(fact.Ratio, b.Share*b.Low/b.Value, b.Share*b.High/b.Value)
	}
	less := b.Goal == CPUGoal || b.Goal == MemoryGoal || b.Goal == Latency
	if b.Share > 0 && b.Unit != fact.Ratio && b.Unit != fact.Factor && less {
		s = part + " less " + goalNames[b.Goal] + " (" + s + ")"
	} else if strings.HasSuffix(s, "×") && b.Goal != AnyGoal {
		s += " the " + goalNames[b.Goal]
	} else if b.Goal != AnyGoal {
		s += " of the " + goalNames[b.Goal]
	}
	switch b.Kind {
	case IsLimit:
		return "at most " + s
	case IsDirection:
		return s + ", perhaps more"
	}
	return s
}

// between returns an interval, with a unit that both ends share said once.
func between(u fact.Unit, low, high float64) string {
	from, to := u.Format(low), u.Format(high)
	i, j := strings.LastIndexByte(from, ' '), strings.LastIndexByte(to, ' ')
	if i > 0 && j > 0 && from[i:] == to[j:] {
		from = from[:i]
	}
	return from + " to " + to
}

// goalNames are the goals in a sentence.
var goalNames = map[Goal]string{Throughput: "throughput", Latency: "latency", CPUGoal: "CPU", MemoryGoal: "memory"}

// Limit returns a bound that no fix exceeds: what is saved, of which whole it is which
// share, and what else the reader must know to judge it.
func Limit(saving fact.Fact, goal Goal, share float64, note string) Bound {
	return bound(IsLimit, saving, goal, share, note)
}

// Direction returns a bound for a fix that takes away something else, too, that could
// not be measured: no limit, and no experiment is held to it.
func Direction(saving fact.Fact, goal Goal, share float64, note string) Bound {
	return bound(IsDirection, saving, goal, share, note)
}

// NoLimit returns a bound where the evidence does not tell what remains without that which
// is removed, like where nobody got on in its window.
func NoLimit(removed fact.Fact, goal Goal, share float64, note string) Bound {
	return bound(IsOpen, removed, goal, share, note)
}

// Estimate returns a bound with an interval around it.
func Estimate(saving fact.Fact, low, high float64, goal Goal, share float64, note string) Bound {
	b := bound(IsEstimate, saving, goal, share, note)
	b.Low, b.High = low, high
	return b
}

// Release returns a bound for a fix that lets go on what stands still; known is the gain
// that is sure, mostly none.
func Release(known fact.Fact) Bound { return bound(IsRelease, known, Throughput, 0, "") }

func bound(kind BoundKind, f fact.Fact, goal Goal, share float64, note string) Bound {
	method := f.Origin.String()
	if note != "" {
		method += "; " + note
	}
	return Bound{
		Kind: kind, Value: f.Value, Unit: f.Unit, Text: f.Text, Name: f.Name, Method: method,
		Origin: f.Origin, Operands: f.Operands, Goal: goal, Share: share,
	}
}

// Fact returns the bound as a fact among others.
func (b *Bound) Fact() fact.Fact {
	return fact.Fact{Name: b.Name, Value: b.Value, Unit: b.Unit, Text: b.Text, Origin: b.Origin, Operands: b.Operands}
}

// Limits reports whether an experiment is held to the bound.
func (b *Bound) Limits() bool { return b.Kind == IsLimit && b.Value > 0 }

// Confidence is how sure a finding is.
type Confidence string

// The confidences.
const (
	High   Confidence = "high"   // two independent kinds of evidence agree
	Medium Confidence = "medium" // one kind, enough samples
	Low    Confidence = "low"    // one kind, thin or disturbed evidence
)

// A Remedy is what to change.
type Remedy struct {
	Text string `json:"text"`
	Code string `json:"code,omitempty"` // a sketch in Go, when that says it best
	Knob string `json:"knob,omitempty"` // an environment variable or flag that tries it without code, like "GOMAXPROCS=4"
}

// A Finding is one problem found here.
type Finding struct {
	Rule       string      `json:"rule"`
	Title      string      `json:"title"`
	Summary    string      `json:"summary"` // one sentence with the figures that matter
	Where      []Place     `json:"where"`
	Scope      string      `json:"scope,omitempty"` // what it is of, where no place is named
	Evidence   []fact.Fact `json:"evidence"`
	Cost       Cost        `json:"cost"`
	Bound      Bound       `json:"bound"`
	Confidence Confidence  `json:"confidence"`
	Reasons    []string    `json:"confidence_reasons"` // why this confidence
	RuledOut   []string    `json:"ruled_out"`          // innocent explanations that were checked
	Explains   []string    `json:"explains"`           // rules whose findings are symptoms of this one
	Remedy     Remedy      `json:"remedy"`
	Prove      string      `json:"prove"` // the experiment in words, and what refutes the finding
	Try        []string    `json:"try"`   // the experiment as commands to paste, in order
	// Missing says what the evidence does not tell of such commands, when there are none.
	Missing string `json:"missing,omitempty"`
	// Experiment is what `gowhy verify --apply` does to confirm or reject the
	// finding; nil where no run of the program can.
	Experiment *Experiment `json:"experiment,omitempty"`
	// Remark is set when the finding only says where to look and not that
	// anything is wrong: it ranks behind all others and does not count as a problem.
	Remark bool `json:"remark,omitempty"`
	// Waits is set when the program is known to wait for that which the finding is about, so that
	// an idle CPU is no sign of leisure: the verdict says so.
	Waits bool `json:"-"`
	// Found is in how many of several recordings it was found; 0 in a diagnosis of one.
	Found int `json:"found,omitempty"`

	// Grows is set when it becomes worse until something ends the program: it ranks
	// before what only costs.
	Grows bool `json:"-"`
	// Stalls is set when goroutines with work make no step at all: it ranks before
	// everything else, and the verdict says so.
	Stalls bool `json:"-"`
	// Fails is set when the program did not do its work: it ranks before all that is about
	// how fast it was done.
	Fails bool `json:"-"`

	// Queues is set when it is the queue before processors that are nearly all in use: what takes
	// them needlessly is its cause.
	Queues bool `json:"-"`

	// Groups and Stacks are what the finding is about; they decide whether
	// it overlaps with another. Empty means the whole program.
	Groups []string      `json:"-"`
	Stacks []model.Stack `json:"-"`
	// Single is the finding as the recording has it whose figures it shows, of several that
	// were judged together; nil in a diagnosis of one.
	Single *Finding `json:"-"`
	// Symptoms are findings that this one explains, folded under it.
	Symptoms []Finding `json:"symptoms,omitempty"`
}

// A Verdict is the diagnosis in one word.
type Verdict string

// The verdicts.
const (
	Problem   Verdict = "problem"    // there are findings, and not only remarks
	Stalled   Verdict = "stalled"    // goroutines that have work make no step
	Healthy   Verdict = "healthy"    // under load, all that matters was looked at, and nothing found
	Unclear   Verdict = "unclear"    // nothing found, and not enough looked at to call it healthy
	Idle      Verdict = "idle"       // the program hardly ran
	NotLoaded Verdict = "not-loaded" // it ran, far below what the machine has: capacity cannot be judged
	Partial   Verdict = "partial"    // the evidence says something, and not whether the program is well
	TooThin   Verdict = "too-thin"   // not enough evidence to say anything
)

// A Fine is something that a rule looked at and found well. It is a claim of the rule's,
// as a finding is.
type Fine struct {
	Rule string `json:"rule"` // "" in a diagnosis of schema 1
	Text string `json:"text"`
}

func (f Fine) String() string { return f.Text }

// UnmarshalJSON reads that of schema 1, too, which was the text alone.
func (f *Fine) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &f.Text)
	}
	type plain Fine
	return json.Unmarshal(b, (*plain)(f))
}

// An Unchecked is a question the evidence could not answer.
type Unchecked struct {
	What string `json:"what"`
	Why  string `json:"why"`
	How  string `json:"how"` // a command that would let it be checked
	// Rules are those that asked it.
	Rules []string `json:"rules,omitempty"`
}

// An Obsolete is a pattern that is there and harmless since a version of Go: old
// advice that a reader need not follow any more.
type Obsolete struct {
	Rule    string `json:"rule"`
	Pattern string `json:"pattern"`
	Since   string `json:"since"` // like "Go 1.20"
	Why     string `json:"why"`   // what that version changed
}

// String says it in a sentence, what it is about first.
func (o Obsolete) String() string {
	return fmt.Sprintf("%s: harmless since %s, %s", o.Pattern, o.Since, o.Why)
}

// A TraceInfo is what was read of an execution trace.
type TraceInfo struct {
	Go          string `json:"go"`
	DurationNS  int64  `json:"duration_ns"`
	Events      int64  `json:"events"`
	Generations int    `json:"generations"`
	LostBytes   int64  `json:"lost_bytes"`
}

// A Diagnosis is the answer: what every report renders, and what is saved.
type Diagnosis struct {
	Schema    int         `json:"schema"`
	Verdict   Verdict     `json:"verdict"`
	Summary   string      `json:"summary"`
	Goal      Goal        `json:"goal,omitempty"`
	Findings  []Finding   `json:"findings"` // causes, most beneficial first
	Fine      []Fine      `json:"fine"`
	Obsolete  []Obsolete  `json:"obsolete"` // there, and harmless in this version of Go
	Unchecked []Unchecked `json:"unchecked"`
	Warnings  []string    `json:"warnings"`
	Files     []string    `json:"files"`
	// Death is how the program ended, of a core file that tells.
	Death string `json:"death,omitempty"`
	// Runs are the recordings that were judged together, each with its own answer; empty
	// for one alone. See [Join].
	Runs  []RunAnswer `json:"runs,omitempty"`
	Trace *TraceInfo  `json:"trace,omitempty"`
	// Accounts are what each piece of evidence says by itself.
	Accounts []Account `json:"accounts,omitempty"`
	// Time says how goroutine and P time was spent, for the report's head.
	Time []Share `json:"time,omitempty"`
	// CPU says where CPU time went, and Recording what the recording cost.
	CPU       *CPU       `json:"cpu,omitempty"`
	Recording *Recording `json:"recording,omitempty"`
	// Operation is what one operation costs, of a benchmark.
	Operation *Operation `json:"operation,omitempty"`
}

// A Share is one line of the account at the head of a report.
type Share struct {
	Name  string  `json:"name"`
	NS    int64   `json:"ns"`
	Share float64 `json:"share"` // of Ps × window
}
