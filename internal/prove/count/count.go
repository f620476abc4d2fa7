// Package count says how often the hot code of a program runs: how often functions are called,
// how many rounds their loops make for that, what one costs, and how all of it grows with the
// size of the input; and which hot functions are called with the same again.
//
// It hides how a command becomes a copy of its program that counts, which packages are worth
// it, where a benchmark's work is made the same each time, and how counters, samples and
// source are joined. A [Setup] is what is counted, a [Report] what came of it.
//
// count prints nothing, and writes nothing into the program's tree. What its counters say is
// exact; CPU time is sampled, and of a run that does not count.
package count

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/subject"
	"github.com/gowhy/gowhy/internal/read/coverage"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/record"
)

// A Setup is a command that runs again.
type Setup struct {
	Command []string
	Dir     string   // where it runs; empty is the current directory
	Env     []string // NAME=VALUE, added to this process's
	// Model is a recording of the command. Without one it is recorded first.
	Model *model.Model
	Vary  *Knob // nil for one run, as the command is
	Limit time.Duration
	// End is when a program that still runs gets an interrupt; 0 lets it run to its end.
	End time.Duration
	// Load is a command that gives a server its load, and Ready when it can, as [subject.Spec] has
	// them; empty for a program that works by itself. A server needs a Model.
	Load  []string
	Ready string
	// NoRepeats makes no run that looks at what functions are called with.
	NoRepeats bool

	own    bool // the model is of a run that was recorded here, with the largest size
	atomic bool // several goroutines may count at once
}

// A Line shows what goes on: what is begun and takes a while, and what stays.
type Line interface {
	Step(format string, args ...any)
	Log(text string)
	Clear()
}

// wrapAfter returns for how long a program may count until a counter can have begun again at
// 0: what 2^32 additions take. Atomic ones take 18 cycles, 3.6 ns at 5 GHz, and 15 s; others
// are measured here, the fastest of some, less a fifth for a clock that goes up.
func wrapAfter(atomic bool) time.Duration {
	if atomic {
		return 15 * time.Second
	}
	const additions = 1 << 21
	least := time.Hour
	for range 16 {
		begin := time.Now()
		for range additions {
			counters[0]++
		}
		least = min(least, time.Since(begin))
	}
	return least * (coverage.MaxCount / additions) * 4 / 5
}

// counters are in memory, as those of a program that counts.
var counters [2]uint32

// Run counts.
func (s *Setup) Run(ctx context.Context, say Line) (*Report, error) {
	defer say.Clear()
	if err := subject.FindGo(); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "gowhy-count-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	p, err := s.program(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Command: s.Command}
	if err := s.profile(ctx, p, r, tmp, say); err != nil {
		return nil, err
	}
	hot := hotPackages(s.Model, p.path)
	s.atomic = s.Model == nil || !singleGoroutine(s.Model, p.path, hot)
	if err := s.build(ctx, p, &hot, r, filepath.Join(tmp, "counting"), say); err != nil {
		return nil, err
	}
	profiles, err := s.runs(ctx, p, r, say)
	if err != nil {
		return nil, err
	}
	if len(profiles) == 0 {
		r.sampled(s.Model)
	} else {
		j, err := newJoin(ctx, p, profiles)
		if err != nil {
			return nil, err
		}
		j.report(s.Model, r)
		r.wraps(wrapAfter(s.atomic))
	}
	if s.NoRepeats {
		return r, nil
	}
	return r, s.repeats(ctx, p, r, tmp, say)
}

// profile takes a CPU profile of the command where no recording has one of the same work.
func (s *Setup) profile(ctx context.Context, p *program, r *Report, tmp string, say Line) error {
	timed := p.test && benchmarks(p.args) && !fixedRounds(p.args)
	if s.Model != nil && !timed {
		return nil
	}
	plain := p.binary
	if plain == "" {
		say.Step("building %s…", p.name())
		spec := p.spec
		spec.Out = p.binaryPath(filepath.Join(tmp, "plain"))
		var err error
		if plain, err = subject.BuildRevision(ctx, spec); err != nil {
			return err
		}
		p.setPath(plain)
	}
	args, env := p.args, p.env
	if s.Vary != nil {
		var set []string
		args, set = s.Vary.apply(args, s.Vary.last())
		env = slices.Concat(env, set)
	}
	s.Model, s.own = nil, true
	if timed {
		say.Step("looking how many rounds its benchmarks make…")
		o, err := subject.RunToEnd(ctx, subject.Program{Command: append([]string{plain}, args...), Dir: p.dir, Env: env}, s.Limit, s.End)
		if err != nil {
			return err
		}
		n := leastRounds(o.Result)
		if n == 0 {
			return problem.New(problem.Absence, "go test -list Benchmark "+shell.Word(p.spec.Package), "no benchmark of %s ran", p.name())
		}
		r.note("each benchmark runs %s, so that all runs do the same", figures.Plural(n, "time"))
		if len(o.Result.Benchmarks) > 1 {
			r.note("that is how often the slowest of %d ran: name one with -bench for better costs", len(o.Result.Benchmarks))
		}
		p.args, args = withRounds(p.args, n), withRounds(args, n)
	}
	say.Step("recording where it spends its time…")
	out := filepath.Join(tmp, "profile.gowhy")
	o := record.Options{Out: out, Only: []string{"cpu", "kernel", "allocs", "build", "proc"}, NoGodebug: true, Dir: p.dir, Env: env, Duration: s.End}
	var said tail
	o.Stderr = &said
	res, err := record.Run(ctx, record.Target{Command: append([]string{plain}, args...)}, o)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case res != nil && res.ExitCode != 0:
		return problem.New(problem.Failure, "run it by itself until it succeeds", "%s failed with exit code %d%s", shell.Words(s.Command), res.ExitCode, said)
	case err == nil:
		s.Model, err = evidence.Load(ctx, []string{out}, evidence.Options{NoSource: true})
	}
	if s.Model != nil && s.Model.BelievedCPU() == nil {
		s.Model = nil
	}
	if s.Model == nil {
		why := ""
		if err != nil {
			why = fmt.Sprintf(" (%v)", err)
		}
		r.note("no CPU profile of it could be taken%s, so that nothing is known of costs: "+
			"import gowhy's agent, or run this with the rights that `gowhy doctor` names", why)
	}
	return ctx.Err()
}

// A tail keeps the end of what a program writes.
type tail []byte

func (t *tail) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	*t = (*t)[max(0, len(*t)-1000):]
	return len(b), nil
}

// String returns empty, or lines as an error has them.
func (t tail) String() string {
	if len(t) == 0 {
		return ""
	}
	return "; it printed last:\n    " + strings.ReplaceAll(strings.TrimSpace(string(t)), "\n", "\n    ")
}

// build makes the copy that counts. Where the go command cannot count packages of the
// standard library that are hot, it goes without them.
func (s *Setup) build(ctx context.Context, p *program, hot *[]string, r *Report, out string, say Line) error {
	say.Step("building a copy of %s that counts…", p.name())
	spec := p.spec
	spec.Out = p.binaryPath(out)
	flags := spec.Flags
	spec.Flags = slices.Concat(flags, subject.CoverFlags(*hot, s.atomic))
	counting, err := subject.BuildRevision(ctx, spec)
	own := slices.DeleteFunc(slices.Clone(*hot), func(path string) bool { return model.IsStd(path + ".f") })
	if err != nil && ctx.Err() == nil && len(own) < len(*hot) && len(own) > 0 {
		spec.Flags = slices.Concat(flags, subject.CoverFlags(own, s.atomic))
		var again error
		if counting, again = subject.BuildRevision(ctx, spec); again == nil {
			r.note("the go command cannot count in %s here", strings.Join(slices.DeleteFunc(*hot, func(path string) bool { return slices.Contains(own, path) }), ", "))
			err = nil
		}
	}
	if err != nil && strings.Contains(err.Error(), "-cover") && strings.Contains(err.Error(), "not defined") {
		return problem.New(problem.Absence, "go version   # 1.20 or later", "this go command cannot build programs that count: %w", err)
	}
	p.counting = counting
	if p.path == "" && err == nil {
		p.setPath(counting)
	}
	return err
}

// settings returns the runs to make, with their arguments and environments: one of each size, and
// the command itself, where costs are of that and it is none of these.
func (s *Setup) settings(p *program, r *Report) (list []subject.Program) {
	command := func(args, env []string) subject.Program {
		return subject.Program{Command: append([]string{p.counting}, args...), Dir: p.dir, Env: slices.Concat(p.env, env)}
	}
	plain := command(p.args, nil)
	if s.Vary == nil {
		r.Runs = []Execution{{}}
		return append(list, plain)
	}
	r.Knob, r.Base = s.Vary.Name, -1
	for i, value := range s.Vary.Values {
		one := command(s.Vary.apply(p.args, value))
		if s.own && value == s.Vary.last() || !s.own && slices.Equal(one.Command, plain.Command) && slices.Equal(one.Env, plain.Env) {
			r.Base = i
		}
		list = append(list, one)
		r.Runs = append(r.Runs, Execution{Setting: s.Vary.Name + "=" + value, Size: s.Vary.sizes[i]})
	}
	if r.Base < 0 {
		r.Base = len(list)
		list, r.Runs = append(list, plain), append(r.Runs, Execution{})
	}
	return list
}

// runCopy runs a copy to its end, or to that of its load.
func (s *Setup) runCopy(ctx context.Context, p subject.Program) (*subject.Outcome, error) {
	if len(s.Load) == 0 {
		return subject.RunToEnd(ctx, p, s.Limit, s.End)
	}
	server, err := subject.New(subject.Spec{Program: p, Load: s.Load, Ready: s.Ready, Time: s.Limit})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	return server.RunServer(ctx)
}

// runs runs the copy with each size, or once.
func (s *Setup) runs(ctx context.Context, p *program, r *Report, say Line) (profiles []*coverage.Profile, err error) {
	for i, program := range s.settings(p, r) {
		run := &r.Runs[i]
		say.Step("counting %s…", cmp.Or(run.Setting, shell.Words(s.Command)))
		c, o, err := subject.RunCovered(ctx, program, p.spec.Dir, s.runCopy)
		if errors.Is(err, subject.ErrNoCounters) && len(s.Load) > 0 {
			r.note("%s wrote no counters when it was ended: its rounds are counted where it handles SIGTERM and returns from main", p.name())
			r.Partial = true
			return nil, nil
		}
		if errors.Is(err, subject.ErrNoCounters) {
			return nil, noCounters(p, o)
		}
		if err != nil {
			return nil, err
		}
		run.CPU, run.Elapsed = o.CPU, o.Elapsed
		r.Partial = r.Partial || o.Ended
		profiles = append(profiles, c)
	}
	switch {
	case r.Partial && len(s.Load) > 0:
		r.note("counts are of one run under the load, of which costs are not known")
	case r.Partial:
		r.note("it was ended after %v: counts are of that time, and costs are not given", s.End)
	}
	return profiles, nil
}

// noCounters says why nothing was counted, and what else would tell.
func noCounters(p *program, o *subject.Outcome) error {
	why := "it did not return from main or call os.Exit"
	if o != nil && o.Ended {
		why = "the interrupt ended it. Counters are written where main returns or os.Exit is called: " +
			"handle the signal with signal.NotifyContext, and return"
	}
	return problem.New(problem.Absence, "gowhy count -- go test -run '^$' -bench . "+shell.Word(p.packagePath())+"   # a test or a benchmark that does the same ends by itself",
		"%s ended without writing its counters: %s", p.name(), why)
}

// wraps says of each run whether one counter can have begun again, which takes so much CPU time. Of the
// run that was sampled it is known how much went elsewhere than into the busiest function: counting
// makes that no less.
func (r *Report) wraps(after time.Duration) {
	for i := range r.Runs {
		run, elsewhere := &r.Runs[i], 0.0
		if i == r.Base && !r.Partial {
			elsewhere = r.CPU
			for j := range r.Functions {
				elsewhere = min(elsewhere, r.CPU*(1-r.Functions[j].Self))
			}
		}
		if run.Wraps = run.CPU-time.Duration(elsewhere) > after; run.Wraps {
			r.note("a counter begins again at 0 after %d, which in %v of CPU time it may have done: count with less work to be sure", uint64(coverage.MaxCount), run.CPU.Round(time.Second))
		}
	}
}

// A Knob is what is varied: a flag of the program or a variable of its environment.
type Knob struct {
	Name   string // with its dashes, as the program takes it; a variable has none
	Values []string
	sizes  []float64
}

// ParseKnob reads NAME=A,B,C, where NAME is a flag with its dash, or a variable.
func ParseKnob(s string) (*Knob, error) {
	bad := func(format string, args ...any) error {
		return problem.New(problem.Misuse, "--vary -n=1000,2000,4000   or   --vary SIZE=1000,2000,4000", format, args...)
	}
	name, list, ok := strings.Cut(s, "=")
	if k := strings.TrimLeft(name, "-"); !ok || k == "" || len(name)-len(k) > 2 || strings.ContainsAny(k, " \t\x00") {
		return nil, bad("--vary %q is not NAME=A,B,C", s)
	}
	k := &Knob{Name: name}
	for v := range strings.SplitSeq(list, ",") {
		v = strings.TrimSpace(v)
		size, err := strconv.ParseFloat(v, 64)
		if err != nil || !(size > 0) || size > 1e18 {
			return nil, bad("--vary %q: %q is no size above 0", s, v)
		}
		if slices.Contains(k.sizes, size) {
			return nil, bad("--vary %q has %s twice", s, v)
		}
		k.Values, k.sizes = append(k.Values, v), append(k.sizes, size)
	}
	if len(k.Values) < 2 || len(k.Values) > maxSizes {
		return nil, bad("--vary takes 2 to %d sizes, not %d", maxSizes, len(k.Values))
	}
	return k, nil
}

// maxSizes bounds the runs: with three an exponent has an interval, with more it is narrower.
const maxSizes = 8

// last returns the value of most work.
func (k *Knob) last() string { return k.Values[slices.Index(k.sizes, slices.Max(k.sizes))] }

// apply puts a value into arguments, in place of the flag's value or before all others; or
// returns it as a variable of the environment.
func (k *Knob) apply(args []string, value string) (with, env []string) {
	name := strings.TrimLeft(k.Name, "-")
	if name == k.Name {
		return args, []string{name + "=" + value}
	}
	with = slices.Clone(args)
	for i, w := range with {
		flag, _, joined := strings.Cut(w, "=")
		switch {
		case !strings.HasPrefix(w, "-") || strings.TrimLeft(flag, "-") != name:
		case joined:
			with[i] = flag + "=" + value
			return with, nil
		case i+1 < len(with):
			with[i+1] = value
			return with, nil
		}
	}
	return append([]string{k.Name + "=" + value}, with...), nil
}

// Suggest returns the flag for varying an argument of a command that is a number; empty
// where none is.
func Suggest(args []string) string {
	for i, w := range args {
		name, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if n, err := strconv.ParseInt(value, 10, 53); err == nil && strings.HasPrefix(name, "-") && !strings.HasPrefix(strings.TrimLeft(name, "-"), "test.") && n >= leastVaried {
			return fmt.Sprintf("--vary %s=%d,%d,%d", name, n/4, n/2, n)
		}
	}
	return ""
}

// leastVaried is a number of which a quarter is still a size.
const leastVaried = 16
