package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// Options say how a policy is run.
type Options struct {
	Dir       string        // the module's directory, which packages of the policy are relative to; "" the current one
	Base      string        // instead of the policy's
	TimeLimit time.Duration // instead of the policy's; 0 keeps it
	// Progress is called with what is done now; nil when nobody looks.
	Progress func(Progress)
	Log      func(string) // words that do not belong in the result; may be nil
}

// Progress is what is being done.
type Progress struct {
	Check, Of int // from 1
	Name      string
	What      string // like "building the base"
	Detail    string // how far that is; may be empty
}

// A step tells what is done now.
type step func(what, detail string)

// Run measures what a policy names on the base revision and on the working
// tree.
//
// The base is the policy's or the one asked for, else where HEAD left the
// default branch; on that branch, HEAD while the working tree differs from it,
// and HEAD~1 otherwise.
//
// Counters come first: each side is run twice, A B B A. One that hardly varies
// regresses when it grew by more than its limit and four times its spread, and
// did so again when it was measured once more. Everything else is judged by
// [experiment.Verify]: it regresses when the difference is significant, beyond
// the limit and the noise of the machine, twice.
//
// The errors are of type [*problem.Error] where a hint helps. What could not be
// measured on the base, or not within the time limit, is inconclusive and no
// error.
func Run(ctx context.Context, p *Policy, o Options) (*Result, error) {
	repo, err := open(ctx, cmp.Or(o.Dir, "."))
	if err != nil {
		return nil, err
	}
	r := &Result{Policy: repo.relative(p.File), InconclusiveFails: p.InconclusiveFails}
	if r.Head, err = repo.head(ctx); err != nil {
		return nil, err
	}
	if r.Base, err = repo.base(ctx, cmp.Or(o.Base, p.Base), r.Head); err != nil {
		return nil, err
	}
	if r.Base.Commit == r.Head.Commit && !r.Head.Modified {
		r.Warnings = append(r.Warnings, "the base is the very commit that is checked: nothing can differ but noise")
	}
	w, err := newRunner(repo, r.Base.Commit, o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	g := &gate{policy: p, result: r, progress: o.Progress, tools: w}
	err = g.run(ctx, cmp.Or(o.TimeLimit, p.TimeLimit))
	return r, err
}

// tools build and run programs. Tests have some of numbers.
type tools interface {
	// arms builds both revisions of a package, and returns how to run them.
	arms(ctx context.Context, c *CheckPolicy, step step) (pair, error)
	// floor is the noise of the machine as a ratio-1, 0 when it is not known.
	floor(ctx context.Context, step step) (float64, error)
}

// A pair is both arms of a check: the base and the change.
type pair struct {
	base, head arm
	// at finds a benchmark's lines in the source, by its name.
	at map[string]Position
}

// An arm runs one revision. For benchmarks, those that match the pattern; the
// names of values are "BenchmarkX allocs/op".
type arm struct {
	count func(pattern string) experiment.Runner
	time  func(pattern string) experiment.Runner
}

// A baseError says that there is nothing to compare with.
type baseError struct{ err error }

func (e *baseError) Error() string { return e.err.Error() }
func (e *baseError) Unwrap() error { return e.err }

// A gate is one run of a policy.
type gate struct {
	policy   *Policy
	result   *Result
	progress func(Progress)
	tools    tools
	noise    float64
	measured bool // noise is
}

// errTime is why a check ends early.
var errTime = errors.New("the time limit was reached")

func (g *gate) run(ctx context.Context, limit time.Duration) error {
	begin := time.Now()
	defer func() { g.result.Took = time.Since(begin) }()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTime)
	defer cancel()
	for i := range g.policy.Checks {
		c, err := g.check(ctx, i)
		if err != nil {
			return err
		}
		g.result.Checks = append(g.result.Checks, *c)
	}
	g.result.Floor = g.noise
	g.result.conclude()
	return nil
}

// check runs one check. The error is one that ends all: an interrupt, or a
// change that cannot be built.
func (g *gate) check(ctx context.Context, i int) (*Check, error) {
	p := &g.policy.Checks[i]
	begin := time.Now()
	c := &Check{Name: p.Name, Package: p.Package, Bench: p.Bench, Command: p.Command, Measures: []Measure{}, At: Position{g.result.Policy, p.Line}}
	step := func(what, detail string) {
		if g.progress != nil {
			g.progress(Progress{i + 1, len(g.policy.Checks), p.Name, what, detail})
		}
	}
	err := ctx.Err()
	if err == nil {
		err = g.measure(ctx, p, c, step)
	}
	c.Took = time.Since(begin)
	var base *baseError
	var failed *experiment.RunError
	switch {
	case errors.Is(context.Cause(ctx), errTime):
		c.Problem = "not all was measured: " + errTime.Error()
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &base), errors.As(err, &failed) && failed.Arm == "A":
		c.Problem = fmt.Sprintf("the base cannot be measured: %v", err)
	case err != nil:
		return nil, fmt.Errorf("check %s: %w", p.Name, err)
	}
	return c, nil
}

// measure fills in the measures of a check: counters, then times.
func (g *gate) measure(ctx context.Context, p *CheckPolicy, c *Check, step step) error {
	arms, err := g.tools.arms(ctx, p, step)
	if err != nil {
		return err
	}
	m := &measurer{gate: g, check: c, policy: p, arms: arms, step: step}
	if err := m.counters(ctx); err != nil {
		return err
	}
	if m.limitsVary() {
		if !g.measured {
			if g.noise, err = g.tools.floor(ctx, step); err != nil {
				g.result.Warnings = append(g.result.Warnings, fmt.Sprintf("the noise of the machine is not known: %v", err))
			}
			g.measured = true
		}
		if err := m.times(ctx); err != nil {
			return err
		}
	}
	place := func(m Measure) int {
		return slices.IndexFunc(p.Limits, func(l Limit) bool { return l.Metric == m.Metric })
	}
	slices.SortStableFunc(c.Measures, func(x, y Measure) int {
		return cmp.Or(strings.Compare(x.Benchmark, y.Benchmark), cmp.Compare(place(x), place(y)))
	})
	return nil
}
