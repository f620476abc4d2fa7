package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// The order of runs. A pair is one run of each arm, one right after the other,
// and a coin of its own says which goes first: ABBA, BAAB, ABAB and BABA are
// equally likely. The coin is what the test of the pairs rests on. If the arms
// do not differ, turning it would have turned the sign of the pair's difference
// and nothing else, whatever the machine did meanwhile, so that every assignment
// of signs was equally likely: exactly what the signed-rank test counts. Blocks
// ABBA and BAAB by one coin each would balance a drift in pairs that the coin
// balances over all of them, but tie the signs of two pairs together: noise that
// lasts for a run or two then makes both agree, and the test finds differences
// of arms that are the same (in 6.3% of trials instead of 5%, simulated, for
// noise that correlates by one half from run to run).

// A Plan is a comparison of two arms, written down before anything runs.
type Plan struct {
	// A runs what is, B what is to be. Both are nil when counting is enough.
	A, B Runner
	// CountA and CountB run them with everything counted that can be; such runs
	// are never timed. nil goes without.
	CountA, CountB Runner
	// Primary decides the verdict. Empty takes the first of those that are
	// measured: cpu/op, elapsed.
	Primary diagnosis.Metric
	// Guards must not become worse by more than their limits.
	Guards []Guard
	// Margin is the ratio-1 within which two arms are the same, at least the
	// noise of the machine; 0 means DefaultMargin.
	Margin float64
	// Floor is the noise of the machine as A/A runs of 10 pairs showed it, as a
	// ratio-1; 0 when not known.
	Floor float64
	// Pairs is the largest number of pairs, the last look; 0 means 40. Fewer
	// than 6 can prove nothing but counters.
	Pairs int
	// Busy is which rounds are not counted; the zero Gate means DefaultGate.
	Busy Gate
	// Seed makes the order of runs; the same seed, the same order.
	Seed uint64
	// Identical says that A and B run the same: the question is how small a difference would
	// be seen.
	Identical bool
	// Predicted is what is expected; it decides nothing and stays with the trial.
	Predicted *Prediction

	draws int // of intervals, when tests want fewer
}

// A Guard is a metric that must not become worse.
type Guard struct {
	Metric diagnosis.Metric `json:"metric"`
	Limit  float64          `json:"limit"` // worse by this ratio-1 at most
	// Least is the change in the metric's own unit below which nobody cares, whatever
	// ratio it is; 0 for none. Metrics of which more is better have none.
	Least float64 `json:"least,omitempty"`
}

// A Gate is the conditions above which a round is not counted.
type Gate struct {
	Others float64 `json:"others"`
	Steal  float64 `json:"steal"`
}

// DefaultGate drops rounds in which other processes used a tenth of the machine,
// which is what makes two equal runs differ by several percent, or the
// hypervisor took 3%.
var DefaultGate = Gate{Others: 0.10, Steal: 0.03}

const (
	// DefaultMargin is the ratio-1 within which arms are called the same.
	DefaultMargin = 0.02
	// DefaultPairs is the last look: it finds a tenth in two of three trials on a
	// noisy virtual machine.
	DefaultPairs = 40
	// MaxPairs bounds a plan.
	MaxPairs = 1000
	// leastPairs can be significant at 5%: with five, the least p is 2/32.
	leastPairs = 6
)

// busy says in words why a round does not count; empty when it does.
func (g Gate) busy(c Conditions) string {
	switch {
	case c.Others > g.Others:
		return "other processes used " + figures.Percent(c.Others) + " of the machine"
	case c.Steal > g.Steal:
		return "the hypervisor took " + figures.Percent(c.Steal) + " of the machine"
	}
	return ""
}

// Progress is called after every round: how many pairs are done, of at most how many, and the
// primary's ratio so far with its 95% interval, each 0 as long as it is not known. It decides
// nothing: an interval that somebody watches until it suits him is not one of 95%.
type Progress func(pairs, of int, soFar Interval)

// A RunError is the failure of a run. A program that fails is no improvement,
// however fast it does so: one failure ends the trial.
type RunError struct {
	Arm   string // "A" or "B"
	Pair  int    // 0 before the first pair
	Count bool   // it was a run with everything counted
	Err   error  // as the Run returned it, with the program's output
}

func (e *RunError) Error() string {
	when := "warming up"
	switch {
	case e.Pair > 0:
		when = fmt.Sprintf("pair %d", e.Pair)
	case e.Count:
		when = "counting"
	}
	return fmt.Sprintf("arm %s failed (%s): %v", e.Arm, when, e.Err)
}

func (e *RunError) Unwrap() error { return e.Err }

// Verify runs a plan until it is decided. When ctx is cancelled, the trial has
// what there is, and the error is the context's. When a run fails, the error is
// a *[RunError]; the trial then has the rounds before.
//
// Counters come first, in the order A B B A; a primary that they decide needs
// no pairs, except for guards that do. Pairs follow, the first of them only to
// warm up. They are looked at after 10, 20 and 40, and end at the first look
// that decides the primary and leaves no guard open that more pairs could
// decide.
func Verify(ctx context.Context, p Plan, progress Progress) (*Trial, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	begin := time.Now()
	v := &verifier{plan: p, trial: p.trial(), progress: progress, coin: rand.New(rand.NewPCG(p.Seed, 0))}
	err := v.run(ctx)
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	if ctx.Err() != nil {
		v.takeAll() // interrupted: pairs on a busy machine are better than none
	}
	v.trial.Took = time.Since(begin)
	v.trial.Judge()
	return v.trial, err
}

func (p *Plan) check() error {
	switch {
	case (p.A == nil) != (p.B == nil), (p.CountA == nil) != (p.CountB == nil):
		return errors.New("an experiment needs both arms, or none, of each kind of run")
	case p.A == nil && p.CountA == nil:
		return errors.New("an experiment needs something to run")
	case p.Pairs < 0 || p.Pairs > MaxPairs:
		return fmt.Errorf("the number of pairs must be 1 to %d", MaxPairs)
	case !limit(p.Margin) || !limit(p.Floor):
		return errors.New("margin and noise floor must be numbers from 0 on")
	case !limit(p.Busy.Others) || !limit(p.Busy.Steal):
		return errors.New("what makes a machine busy must be shares from 0 on")
	}
	for _, g := range p.Guards {
		if !limit(g.Limit) || !limit(g.Least) {
			return fmt.Errorf("the limits of the guard %s must be numbers from 0 on", g.Metric)
		}
	}
	return nil
}

func limit(v float64) bool { return v >= 0 && v <= math.MaxFloat64 }

// trial returns the plan's declaration: all that a verdict needs besides rounds.
func (p *Plan) trial() *Trial {
	t := &Trial{
		draws: p.draws,
		Kind:  TrialKind, Schema: TrialSchema, Primary: p.Primary, Guards: p.Guards,
		Margin: p.Margin, Floor: p.Floor, Most: p.Pairs, Gate: p.Busy, Seed: p.Seed, Identical: p.Identical, Predicted: p.Predicted,
	}
	if t.Margin == 0 {
		t.Margin = DefaultMargin
	}
	if t.Most == 0 {
		t.Most = DefaultPairs
	}
	if t.Gate == (Gate{}) {
		t.Gate = DefaultGate
	}
	return t
}

// A verifier is a plan while it runs.
type verifier struct {
	plan     Plan
	trial    *Trial
	progress Progress
	coin     *rand.Rand
	counting bool // the pairs are counted too: a counter that matters is not exact
	pairs    int  // counted so far
	dropped  int
}

func (v *verifier) run(ctx context.Context) error {
	if err := v.count(ctx); err != nil || v.settled() {
		return err
	}
	if err := v.warmUp(ctx); err != nil || v.settled() {
		return err
	}
	looks := looks(v.trial.Most)
	for pair := 1; v.pairs < v.trial.Most; pair++ {
		if err := v.pair(ctx, pair); err != nil {
			return err
		}
		due := v.exactSoFar()
		for len(looks) > 0 && v.pairs >= looks[0] {
			due, looks = true, looks[1:]
		}
		if due && v.settled() {
			return nil
		}
	}
	return nil
}

// count runs both arms with everything counted, in an order that a drift leaves
// alone.
func (v *verifier) count(ctx context.Context) error {
	if v.plan.CountA == nil {
		return nil
	}
	for _, arm := range []string{"A", "B", "B", "A"} {
		if err := v.round(ctx, Round{Arm: arm, Count: true}); err != nil {
			return err
		}
	}
	return nil
}

// warmUp runs each arm once for caches, page cache and connections, and to see
// what is measured at all before an hour is spent on it.
func (v *verifier) warmUp(ctx context.Context) error {
	if v.plan.A != nil {
		for _, arm := range v.order() {
			if err := v.round(ctx, Round{Arm: arm, Dropped: warmUp}); err != nil {
				return err
			}
		}
	}
	t := v.trial
	if t.Primary == "" {
		t.Primary = t.firstPrimary()
	}
	if !t.measured(t.Primary) {
		return fmt.Errorf("the primary metric %s was not measured in both arms; measured are %s", t.Primary, t.measuredList())
	}
	v.counting = v.plan.A == nil || v.mustCount(t.Primary)
	for _, g := range t.Guards {
		v.counting = v.counting || v.mustCount(g.Metric)
	}
	return nil
}

// mustCount says that only runs with everything counted measure the metric, and
// not to the same value each time.
func (v *verifier) mustCount(m diagnosis.Metric) bool {
	if !v.trial.measured(m) {
		return false
	}
	for _, r := range v.trial.Rounds {
		if _, ok := r.Values[m]; ok && !r.Count {
			return false
		}
	}
	_, exact := v.trial.exact(m)
	return !exact
}

// order throws the coin.
func (v *verifier) order() [2]string {
	if v.coin.Uint64()&1 == 0 {
		return [2]string{"A", "B"}
	}
	return [2]string{"B", "A"}
}

// pair runs each arm once, and drops both when the machine was busy.
func (v *verifier) pair(ctx context.Context, pair int) error {
	from := len(v.trial.Rounds)
	err := v.pairRounds(ctx, pair)
	rounds := v.trial.Rounds[from:]
	if err != nil {
		drop(rounds, unfinished)
		return err
	}
	defer v.report()
	why := v.busy(rounds)
	if why == "" || v.trial.Busy {
		v.pairs++
		return nil
	}
	drop(rounds, why)
	v.dropped++
	v.allBusy()
	return nil
}

func (v *verifier) pairRounds(ctx context.Context, pair int) error {
	for _, arm := range v.order() {
		if v.plan.A != nil {
			if err := v.round(ctx, Round{Pair: pair, Arm: arm}); err != nil {
				return err
			}
		}
		if v.counting {
			if err := v.round(ctx, Round{Pair: pair, Arm: arm, Count: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unfinished is why the rounds of a pair that failed or was interrupted do not count.
const unfinished = "the pair was not finished"

func (v *verifier) busy(rounds []Round) string {
	for _, r := range rounds {
		if why := v.trial.Gate.busy(r.Conditions); why != "" {
			return why
		}
	}
	return ""
}

func drop(rounds []Round, why string) {
	for i := range rounds {
		rounds[i].Dropped = why
	}
}

// allBusy gives the gate up when it dropped as many pairs as it let through, and
// as many as the first look needs: waiting for quiet would double the trial's
// time and more. What was dropped counts again if nobody has looked yet; the
// coin makes busy pairs as fair as quiet ones, only less sharp.
func (v *verifier) allBusy() {
	first := looks(v.trial.Most)[0]
	if v.dropped < first || v.dropped < v.pairs {
		return
	}
	v.trial.Busy = true
	if v.pairs < first {
		v.takeAgain()
	}
}

// takeAll counts what was dropped where nothing was counted.
func (v *verifier) takeAll() {
	if v.pairs == 0 && v.dropped > 0 {
		v.trial.Busy = true
		v.takeAgain()
	}
}

// takeAgain counts the whole pairs that a busy machine had dropped.
func (v *verifier) takeAgain() {
	again := map[int]bool{}
	for i, r := range v.trial.Rounds {
		if r.Pair == 0 || r.Dropped == "" || r.Dropped == unfinished {
			continue
		}
		if !again[r.Pair] && v.pairs < v.trial.Most {
			again[r.Pair] = true
			v.pairs++
			v.dropped--
		}
		if again[r.Pair] {
			v.trial.Rounds[i].Dropped = ""
		}
	}
}

// round runs one arm once and keeps what it measured.
func (v *verifier) round(ctx context.Context, r Round) error {
	run := map[bool]map[string]Runner{
		false: {"A": v.plan.A, "B": v.plan.B},
		true:  {"A": v.plan.CountA, "B": v.plan.CountB},
	}[r.Count][r.Arm]
	if err := ctx.Err(); err != nil {
		return err
	}
	sample, err := run(ctx)
	if err != nil {
		return &RunError{Arm: r.Arm, Pair: r.Pair, Count: r.Count, Err: err}
	}
	r.Sample = sample.clean(r.Count)
	v.trial.Rounds = append(v.trial.Rounds, r)
	if r.Pair == 0 {
		v.report()
	}
	return nil
}

func (v *verifier) report() {
	if v.progress == nil {
		return
	}
	v.progress(v.pairs, v.trial.Most, v.trial.soFar())
}

// exactSoFar says that the primary is a counter that the pairs themselves show
// to be exact: without guards, which do need a look, it need not wait for one.
func (v *verifier) exactSoFar() bool {
	if v.pairs < 2 || len(v.plan.Guards) > 0 || !InfoOf(v.trial.Primary).Counter {
		return false
	}
	_, exact := v.trial.exact(v.trial.Primary)
	return exact
}

// settled says that more rounds would change nothing that matters.
func (v *verifier) settled() bool {
	warnings := v.trial.Warnings
	v.trial.Judge()
	t := v.trial
	t.Warnings = warnings // they are for the end, when it is known what was measured
	if t.Primary == "" {  // or else its effect is the first
		return false
	}
	open := t.Effects[0].Verdict == Inconclusive
	for _, e := range t.Effects {
		if e.Broken && v.pairs > 0 { // or else nobody would learn what the primary does
			return true
		}
		if e.Unclear && v.couldDecide(e) {
			open = true
		}
	}
	return !open
}

// couldDecide says that pairs which the plan still has could decide a guard.
func (v *verifier) couldDecide(e Effect) bool {
	warm := len(v.trial.Rounds) > 0 && !v.trial.Rounds[len(v.trial.Rounds)-1].Count
	if v.pairs == 0 && !warm {
		return v.plan.A != nil // nobody knows yet what a timed run measures
	}
	return v.trial.measured(e.Metric) && e.hopefully(v.pairs) <= v.trial.Most
}
