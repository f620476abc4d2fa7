package gate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// A measurer measures one check.
type measurer struct {
	gate   *gate
	check  *Check
	policy *CheckPolicy
	arms   pair
	step   step
	names  []string // of benchmarks that both sides have; one that is empty for a command
	// seen are the keys that the first runs measured: what is not among them
	// never will be.
	seen map[diagnosis.Metric]bool
}

const (
	// exactSpread is the largest ratio-1 between runs of a counter that counts
	// exactly.
	exactSpread = 0.002
	// spreads is how many times its spread a counter must grow.
	spreads = 4
	// background is what a test binary allocates beside its benchmark in some
	// runs and not in others: of 150 runs of a benchmark, five had 5.3 KiB in six
	// objects more than the rest. It is shared by the iterations of the run.
	backgroundBytes   = 8 << 10
	backgroundObjects = 30
	// once is what may be allocated a single time in each run, the first use of
	// something, without being an operation's; shared likewise.
	onceBytes   = 512
	onceObjects = 8
	// mostBlocks of four runs are made until two runs of each side agree. A
	// command takes at least commandBlocks: it is not the same loop each time, as
	// a benchmark is, and two runs of a server may well agree by chance.
	mostBlocks    = 3
	commandBlocks = 2
)

// key returns the metric of a sample's values for a benchmark.
func key(name string, m diagnosis.Metric) diagnosis.Metric {
	if name == "" {
		return m
	}
	return diagnosis.Metric(name + " " + string(m))
}

// split returns the opposite of key.
func split(k diagnosis.Metric) (name string, m diagnosis.Metric) {
	if at := strings.LastIndexByte(string(k), ' '); at >= 0 {
		return string(k[:at]), k[at+1:]
	}
	return "", k
}

func isCounter(m diagnosis.Metric) bool { return slices.Contains(counters, m) }

// limitsVary reports whether limits name anything that varies from run to run.
func (m *measurer) limitsVary() bool {
	return slices.ContainsFunc(m.policy.Limits, func(l Limit) bool { return !isCounter(l.Metric) })
}

// A block is four runs in the order A B B A, which leaves a drift alone: for
// each arm the values by key.
type block [2]map[diagnosis.Metric][]float64

// block runs the benchmarks that match, or the command, with everything counted.
func (m *measurer) block(ctx context.Context, pattern, what string) (b block, err error) {
	b = block{{}, {}}
	arms := [2]arm{m.arms.base, m.arms.head}
	for n, i := range []int{0, 1, 1, 0} {
		m.step(what, fmt.Sprintf("run %d of 4", n+1))
		s, err := arms[i].count(pattern)(ctx)
		if err != nil {
			return b, m.blame(ctx, i, pattern, err)
		}
		for k, v := range s.Values {
			b[i][k] = append(b[i][k], v)
		}
	}
	return b, nil
}

// blame finds out whether it is only the base that cannot be run: what neither
// side can is a mistake of the policy.
func (m *measurer) blame(ctx context.Context, i int, pattern string, err error) error {
	if i == 1 || ctx.Err() != nil {
		return err
	}
	_, headErr := m.arms.head.count(pattern)(ctx)
	switch {
	case headErr == nil:
		return &baseError{err}
	case m.policy.Command == "" && !m.matchesAny(pattern):
		return problem.New(problem.Failure, "go test -list Benchmark "+m.policy.Package, "check %s: no benchmark of %s matches %q", m.policy.Name, m.policy.Package, pattern)
	}
	return headErr
}

// matchesAny reports whether the source has a benchmark that a pattern
// matches, of which the part before the first slash is for whole benchmarks.
func (m *measurer) matchesAny(pattern string) bool {
	top, _, _ := strings.Cut(pattern, "/")
	re, err := regexp.Compile(top)
	if err != nil {
		return true
	}
	for name := range m.arms.at {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}

// blocks runs until every counter is settled, or will never be.
func (m *measurer) blocks(ctx context.Context, pattern, what string) (block, error) {
	all, least := block{{}, {}}, 1
	if m.policy.Command != "" {
		least = commandBlocks
	}
	for n := 1; ; n++ {
		b, err := m.block(ctx, pattern, what)
		if err != nil {
			return all, err
		}
		for i := range b {
			for k, v := range b[i] {
				all[i][k] = append(all[i][k], v...)
			}
		}
		if n == mostBlocks || n >= least && !m.undecided(all) {
			return all, nil
		}
	}
}

// undecided reports whether a limited counter may be exact, but for what a
// test binary allocates in some runs.
func (m *measurer) undecided(b block) bool {
	for _, l := range m.policy.Limits {
		for i := range b {
			for k, v := range b[i] {
				if _, metric := split(k); metric != l.Metric || !isCounter(metric) {
					continue
				}
				if _, _, exact, more := m.counterValue(v, l.Metric); !exact && more {
					return true
				}
			}
		}
	}
	return false
}

// counterValue finds the value of a counter in runs to which something may have
// been added: the least, when a second run agrees with it. More says that
// another run may.
func (m *measurer) counterValue(v []float64, metric diagnosis.Metric) (value, spread float64, exact, more bool) {
	v = slices.Sorted(slices.Values(v))
	value, all := v[0], v[len(v)-1]-v[0]
	if len(v) < 2 {
		return value, 0, false, false
	}
	spread = v[1] - v[0]
	within := exactSpread * value
	extra := m.perIteration(metric, backgroundBytes, backgroundObjects)
	return value, spread, all <= within || spread <= within && all <= extra, all <= extra
}

// perIteration shares what is allocated in a run among its iterations; 0 for
// commands, of which all counts.
func (m *measurer) perIteration(metric diagnosis.Metric, bytes, objects float64) float64 {
	n := float64(m.policy.Iterations)
	switch {
	case m.policy.Command != "":
	case metric == diagnosis.BytesOp:
		return bytes / n
	case metric == diagnosis.AllocsOp:
		return objects / n
	}
	return 0
}

// counters judges what hardly varies, and learns which benchmarks there are.
func (m *measurer) counters(ctx context.Context) error {
	limits := slices.DeleteFunc(slices.Clone(m.policy.Limits), func(l Limit) bool { return !isCounter(l.Metric) })
	if m.policy.Command != "" && len(limits) == 0 {
		m.names = []string{""}
		return nil
	}
	b, err := m.blocks(ctx, m.policy.Bench, "counting")
	if err != nil {
		return err
	}
	m.seen = map[diagnosis.Metric]bool{}
	for k := range b[0] {
		m.seen[k] = len(b[1][k]) > 0
	}
	m.match(b)
	if err := m.measurable(b); err != nil {
		return err
	}
	var again []Measure
	for _, name := range m.names {
		for _, l := range limits {
			switch e := m.exact(b, name, l); {
			case e.Verdict == Regressed:
				again = append(again, e)
			case e.Exact || e.A == nil:
				m.add(e)
			default:
				e, err := m.measureCounter(ctx, name, l)
				if err != nil {
					return err
				}
				m.add(e)
			}
		}
	}
	return m.recount(ctx, again)
}

// measurable refuses a limit of what no benchmark of either side reports: it
// would never fail.
func (m *measurer) measurable(b block) error {
	if m.policy.Command != "" || len(m.names) == 0 {
		return nil
	}
	there := map[string]bool{}
	for i := range b {
		for k := range b[i] {
			_, metric := split(k)
			there[string(metric)] = true
		}
	}
	for _, l := range m.policy.Limits {
		if !there[string(l.Metric)] {
			words := strings.Join(slices.Sorted(maps.Keys(there)), ", ")
			e := lineError(l.Line, "", "no benchmark of %s that matches %q reports %q; they report %s", m.policy.Package, m.policy.Bench, short(string(l.Metric)), words)
			e.What = m.gate.policy.File + e.What
			return e
		}
	}
	return nil
}

// recount measures counters once more that regressed.
func (m *measurer) recount(ctx context.Context, list []Measure) error {
	if len(list) == 0 {
		return nil
	}
	b, err := m.blocks(ctx, m.policy.Bench, "counting again what regressed")
	if err != nil {
		return err
	}
	for _, first := range list {
		name := m.fullName(first.Benchmark)
		i := slices.IndexFunc(m.policy.Limits, func(l Limit) bool { return l.Metric == first.Metric })
		second := m.exact(b, name, m.policy.Limits[i])
		if !second.Exact {
			if second, err = m.measureCounter(ctx, name, m.policy.Limits[i]); err != nil {
				return err
			}
		}
		m.add(agree(first, second))
	}
	return nil
}

// agree fails a measure only if its second measurement does as well.
func agree(first, second Measure) Measure {
	first.Again = second.Why
	if second.Verdict != Regressed {
		first.Verdict = Inconclusive
		first.Why += "; not so when it was measured again"
	}
	return first
}

func (m *measurer) add(e Measure) { m.check.Measures = append(m.check.Measures, e) }

func (m *measurer) fullName(benchmark string) string {
	if m.policy.Command != "" {
		return ""
	}
	return "Benchmark" + benchmark
}

// match finds the benchmarks of both sides, and tells of the others.
func (m *measurer) match(b block) {
	if m.policy.Command != "" {
		m.names = []string{""}
		return
	}
	var names [2]map[string]bool
	for i := range b {
		names[i] = map[string]bool{}
		for k := range b[i] {
			if name, _ := split(k); name != "" {
				names[i][name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names[0])) {
		if names[1][name] {
			m.names = append(m.names, name)
		} else {
			m.warn("%s is gone", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names[1])) {
		if !names[0][name] {
			m.warn("%s is new: there is nothing to compare it with", name)
		}
	}
	if len(m.names) == 0 {
		m.check.Problem = fmt.Sprintf("no benchmark that matches %q is in both revisions", m.policy.Bench)
	}
}

func (m *measurer) warn(format string, args ...any) {
	m.check.Warnings = append(m.check.Warnings, fmt.Sprintf(format, args...))
}

// measureOf begins the measure of a metric.
func (m *measurer) measureOf(name string, l Limit) Measure {
	e := Measure{Benchmark: strings.TrimPrefix(name, "Benchmark"), Metric: l.Metric, Limit: l.Ratio, Verdict: Inconclusive,
		At: Position{m.gate.result.Policy, l.Line}}
	top, _, _ := strings.Cut(name, "/")
	if at, ok := m.arms.at[top]; ok {
		e.At = at
	}
	return e
}

// exact judges a counter by its spread. It is not Exact when it varies, and
// has no A when it was not measured.
func (m *measurer) exact(b block, name string, l Limit) Measure {
	e := m.measureOf(name, l)
	a, h := b[0][key(name, l.Metric)], b[1][key(name, l.Metric)]
	if len(a) == 0 || len(h) == 0 {
		e.Why = "it was not measured"
		return e
	}
	base, spreadA, exactA, _ := m.counterValue(a, l.Metric)
	head, spreadB, exactB, _ := m.counterValue(h, l.Metric)
	e.A, e.B = statistics.Finite(base), statistics.Finite(head)
	if base != 0 {
		e.Ratio = statistics.Finite(head / base)
	}
	if e.Exact = exactA && exactB; !e.Exact {
		e.Why = "it varies from run to run"
		return e
	}
	diff := head - base
	switch least := max(spreads*max(spreadA, spreadB), m.perIteration(l.Metric, onceBytes, onceObjects)); {
	case diff > max(least, l.Ratio*base):
		e.Verdict, e.Why = Regressed, fmt.Sprintf("%s, limit %s", growth(base, head), figures.Percent(l.Ratio))
	case diff < -max(least, exactSpread*base):
		e.Verdict, e.Why = Improved, growth(base, head)
	case diff == 0:
		e.Verdict, e.Why = Passed, "unchanged"
	case math.Abs(diff) <= least:
		e.Verdict, e.Why = Passed, "differs by no more than runs do"
	default:
		e.Verdict, e.Why = Passed, fmt.Sprintf("%s, within the limit of %s", growth(base, head), figures.Percent(l.Ratio))
	}
	return e
}

// growth says in words what became of a counter.
func growth(a, b float64) string {
	switch {
	case a == 0:
		return "from 0 to " + figures.Number(b)
	case b > a:
		return "grew by " + figures.Percent(b/a-1)
	}
	return "fell by " + figures.Percent(1-b/a)
}

// leastPairs of counted runs decide about a counter that varies: it varies
// much less than time.
const leastPairs = 10

// measureCounter judges a counter that varies by pairs of counted runs, twice when it
// regressed.
func (m *measurer) measureCounter(ctx context.Context, name string, l Limit) (Measure, error) {
	pattern := benchmarkPattern(name)
	return m.remeasure(func(seed uint64) (Measure, error) {
		plan := experiment.Plan{CountA: m.arms.base.count(pattern), CountB: m.arms.head.count(pattern), Primary: key(name, l.Metric),
			Margin: l.Ratio, Pairs: leastPairs, Seed: seed}
		list, err := m.verify(ctx, plan, name, []Limit{l}, 0)
		return firstMeasure(list), err
	})
}

// remeasure measures again what regressed.
func (m *measurer) remeasure(measure func(seed uint64) (Measure, error)) (Measure, error) {
	first, err := measure(1)
	if err != nil || first.Verdict != Regressed {
		return first, err
	}
	second, err := measure(2)
	if err != nil {
		return first, err
	}
	return agree(first, second), nil
}

func firstMeasure(list []Measure) Measure {
	if len(list) == 0 {
		return Measure{}
	}
	return list[0]
}

// times judges what varies from run to run, a benchmark at a time.
func (m *measurer) times(ctx context.Context) error {
	all := slices.DeleteFunc(slices.Clone(m.policy.Limits), func(l Limit) bool { return isCounter(l.Metric) })
	if m.policy.Command != "" {
		if err := m.tryOut(ctx); err != nil {
			return err
		}
	}
	for _, name := range m.names {
		limits := slices.DeleteFunc(slices.Clone(all), func(l Limit) bool { return !m.seen[key(name, l.Metric)] })
		for _, l := range all {
			if !slices.Contains(limits, l) {
				e := m.measureOf(name, l)
				e.Why = "it was not measured"
				m.add(e)
			}
		}
		if len(limits) == 0 {
			continue
		}
		first, err := m.measureTimes(ctx, name, limits, 1)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(first, regressed) {
			m.check.Measures = append(m.check.Measures, first...)
			continue
		}
		m.step("timing again what regressed", name)
		second, err := m.measureTimes(ctx, name, limits, 2)
		if err != nil {
			return err
		}
		for i, e := range first {
			if regressed(e) {
				e = agree(e, second[i])
			}
			m.add(e)
		}
	}
	return nil
}

// tryOut runs a command once, to see what is measured of it.
func (m *measurer) tryOut(ctx context.Context) error {
	m.step("trying the command", "")
	s, err := m.arms.head.time("")(ctx)
	if err != nil {
		return err
	}
	m.seen = map[diagnosis.Metric]bool{}
	for k := range s.Values {
		m.seen[k] = true
	}
	return nil
}

func regressed(e Measure) bool { return e.Verdict == Regressed }

// measureTimes measures a benchmark or the command in pairs of rounds.
func (m *measurer) measureTimes(ctx context.Context, name string, limits []Limit, seed uint64) ([]Measure, error) {
	pattern := benchmarkPattern(name)
	first := primaryOf(limits)
	plan := experiment.Plan{A: m.arms.base.time(pattern), B: m.arms.head.time(pattern), Primary: key(name, first.Metric),
		Margin: first.Ratio, Floor: m.gate.noise, Pairs: m.gate.policy.Pairs, Seed: seed}
	for _, l := range limits {
		if l != first {
			plan.Guards = append(plan.Guards, experiment.Guard{Metric: key(name, l.Metric), Limit: max(l.Ratio, m.gate.noise)})
		}
	}
	return m.verify(ctx, plan, name, limits, m.gate.noise)
}

// primaryOf returns the first limit of what every run measures. A program that ends
// at once may do so before anybody looked at its memory.
func primaryOf(limits []Limit) Limit {
	for _, l := range limits {
		if l.Metric != diagnosis.PeakRSS {
			return l
		}
	}
	return Limit{diagnosis.CPUPerOp, limits[0].Ratio, limits[0].Line}
}

// verify runs a plan and judges its effects.
func (m *measurer) verify(ctx context.Context, plan experiment.Plan, name string, limits []Limit, floor float64) ([]Measure, error) {
	what := "timing "
	if plan.A == nil {
		what = "counting "
	}
	what += cmp.Or(name, m.policy.Name)
	trial, err := experiment.Verify(ctx, plan, func(pairs, of int, _ experiment.Interval) {
		m.step(what, fmt.Sprintf("pair %d of at most %d", pairs, of))
	})
	if err != nil {
		return nil, err
	}
	var list []Measure
	for _, l := range limits {
		e := m.measureOf(name, l)
		e.Pairs = trial.Pairs
		i := slices.IndexFunc(trial.Effects, func(f experiment.Effect) bool { return f.Metric == key(name, l.Metric) })
		if i < 0 || statistics.Finite(trial.Effects[i].A) == nil || statistics.Finite(trial.Effects[i].B) == nil {
			e.Why, e.Pairs = "it was not measured", 0
		} else {
			e.judge(&trial.Effects[i], floor)
		}
		list = append(list, e)
	}
	for _, w := range trial.Warnings {
		if !slices.Contains(m.check.Warnings, w) {
			m.check.Warnings = append(m.check.Warnings, w)
		}
	}
	return list, nil
}

// judge holds an effect to the limit. It fails only what is significantly
// worse, and by more than both the limit and the noise of the machine.
func (e *Measure) judge(f *experiment.Effect, floor float64) {
	e.A, e.B, e.Ratio, e.Low, e.High, e.P = statistics.Finite(f.A), statistics.Finite(f.B), statistics.Finite(f.Ratio), statistics.Finite(f.Low), statistics.Finite(f.High), statistics.Finite(f.P)
	e.Exact = f.Exact
	allowed := max(e.Limit, floor)
	size, limit := "", "the limit of "+figures.Percent(e.Limit)
	if floor > e.Limit {
		limit = "the machine's noise of " + figures.Percent(floor)
	}
	by, most := worse(e.Metric, f.Ratio), math.NaN()
	if e.Low != nil && e.High != nil {
		most = max(worse(e.Metric, f.Low), worse(e.Metric, f.High))
		size = fmt.Sprintf(" (at most %s worse)", figures.Percent(max(most, 0)))
	}
	switch {
	case f.Verdict == experiment.Regressed && by > allowed:
		e.Verdict, e.Why = Regressed, fmt.Sprintf("worse by %s, beyond %s", figures.Percent(by), limit)
		if f.A == 0 {
			e.Why = growth(f.A, f.B) + ", beyond " + limit
		}
	case f.Verdict == experiment.Improved:
		e.Verdict, e.Why = Improved, fmt.Sprintf("better by %s", figures.Percent(-by))
	case f.Verdict == experiment.Regressed:
		e.Verdict, e.Why = Passed, fmt.Sprintf("worse by %s, within %s", figures.Percent(by), limit)
	case most <= allowed:
		e.Verdict, e.Why = Passed, "within "+limit+size
	default:
		e.Verdict, e.Why = Inconclusive, "not decided"+size
		if f.Need > 0 {
			e.Why += fmt.Sprintf("; about %d pairs would", f.Need)
		}
	}
}

// benchmarkPattern returns the pattern that matches one benchmark alone: go test matches
// between slashes.
func benchmarkPattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
