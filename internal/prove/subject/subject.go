package subject

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// A Spec is what is run and how.
//
// Give it a fixed amount of work rather than a fixed time: a program that does
// n operations and ends, a load of n requests. In a fixed time the faster arm
// does more, its heap and its caches are in another state at the end, and
// elapsed time says nothing.
type Spec struct {
	Program Program
	// Load is the command of a load generator that runs beside the program, a
	// server then; its output says how many operations there were, when
	// internal/prove/load understands it. Empty for a program that works by itself.
	Load []string
	// Ready says when a server can be given load: an URL that answers with a
	// status below 500, a host:port that accepts connections, or log:TEXT for a
	// text that it prints. With Load and without Ready it is when it first
	// listens at any port. With Ready and without Load the run is the start of
	// the server until then.
	Ready string
	// Ops is how many operations one run does; 0 when only its output says so,
	// or the whole run is one.
	Ops float64
	// Time is the longest that a run may take; 0 means [DefaultTime]. Startup is the same for
	// a server to become ready; 0 means [DefaultStartup].
	Time, Startup time.Duration
	// Also are sources, as record.SourceNames has them, that Count records
	// beside its counters, for a diagnosis. They make counters less exact.
	Also []string
	// Log is called with what happens, in words for the user. It may be nil.
	Log func(string)
}

// Limits of one run where a [Spec] has none.
const (
	DefaultTime    = 10 * time.Minute
	DefaultStartup = 30 * time.Second
)

// A Subject is a program that can be run again and again. Use it from one
// goroutine: two runs at once would measure each other.
type Subject struct {
	spec  Spec
	load  Program // beside it; no command when there is none
	ready readiness
	// bench is set when the output's benchmarks are what is measured.
	bench bool
}

// New returns a subject, or says why it cannot be one: nothing is started, but
// the programs are looked for.
func New(s Spec) (*Subject, error) {
	if s.Ops < 0 || math.IsNaN(s.Ops) || math.IsInf(s.Ops, 0) || s.Time < 0 || s.Startup < 0 {
		return nil, problem.New(problem.Misuse, "", "operations and times cannot be negative")
	}
	if s.Time == 0 {
		s.Time = DefaultTime
	}
	if s.Startup == 0 {
		s.Startup = DefaultStartup
	}
	if s.Log == nil {
		s.Log = func(string) {}
	}
	if err := s.Program.check(); err != nil {
		return nil, err
	}
	j := &Subject{spec: s}
	if len(s.Load) > 0 {
		// In its own environment: the knobs are the program's.
		j.load = Program{Command: s.Load, Dir: s.Program.Dir}
		if err := j.load.check(); err != nil {
			return nil, err
		}
	}
	if j.server() {
		var err error
		if j.ready, err = parseReady(s.Ready); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// Close frees what a subject holds. Nothing of it runs between its runs.
func (s *Subject) Close() error { return nil }

func (s *Subject) server() bool { return s.spec.Ready != "" || len(s.spec.Load) > 0 }

// Run runs the subject once and measures from outside: nothing is added to the
// program. An exit code other than 0 is an error, and so is a server whose port
// is not its alone.
func (s *Subject) Run(ctx context.Context) (experiment.Sample, error) {
	ctx, cancel := s.withLimit(ctx)
	defer cancel()
	if s.server() {
		return s.serve(ctx)
	}
	return s.once(ctx)
}

func (s *Subject) withLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.spec.Time, errTimeout{s.spec.Time})
}

// once runs a program that ends by itself.
func (s *Subject) once(ctx context.Context) (experiment.Sample, error) {
	if err := ctx.Err(); err != nil {
		return experiment.Sample{}, err
	}
	meter := beginMeter()
	p, err := start(s.spec.Program, "")
	if err != nil {
		meter.end(0, -1)
		return experiment.Sample{}, err
	}
	w := watchOver(p.pid())
	err = p.await(ctx)
	u := p.usage()
	peak, runQueue := w.end(u.peak)
	m := measurement{begin: p.began, elapsed: p.ended.Sub(p.began), peak: peak}
	m.cpu, m.faults, m.switches = u.cpu, u.faults, u.switches
	m.conditions = meter.end(0, runQueue) // it was waited for
	if err != nil {
		return experiment.Sample{}, err
	}
	if err := p.failure(); err != nil {
		return experiment.Sample{}, err
	}
	sample := m.sample()
	if errors.Is(p.err, exec.ErrWaitDelay) {
		sample.Warnings = append(sample.Warnings, p.program.displayCommand()+" left processes running when it ended; what they do is not measured, and may disturb the runs that follow")
	}
	return sample, s.outcome(&sample, m, p.program, p.out)
}

// measurement is what was seen of one run from outside.
type measurement struct {
	begin   time.Time
	elapsed time.Duration
	counters
	peak       uint64 // bytes; 0 when not known
	conditions experiment.Conditions
}

func (m measurement) sample() experiment.Sample {
	s := experiment.Sample{Values: map[diagnosis.Metric]float64{}, Begin: m.begin, Elapsed: m.elapsed, Conditions: m.conditions}
	if m.peak > 0 {
		s.Values[diagnosis.PeakRSS] = float64(m.peak)
	}
	return s
}

// perOp divides what was used by the operations, of which a run without any
// has one: itself.
func (m measurement) perOp(s *experiment.Sample) {
	n := s.Ops
	if n <= 0 {
		n = 1
	}
	v := s.Values
	v[diagnosis.Elapsed] = m.elapsed.Seconds()
	v[diagnosis.CPUPerOp] = m.cpu.Seconds() / n
	v[diagnosis.Switches] = m.switches / n
	v[diagnosis.Faults] = m.faults / n
	if s.Ops > 0 && m.elapsed > 0 {
		v[diagnosis.OpsPerSec] = s.Ops / m.elapsed.Seconds()
	}
}

// outcome reads what was printed and fills in the values. Where the output
// tells operations, they count more than what was said before, but for a
// benchmark: it chose how many it does.
func (s *Subject) outcome(sample *experiment.Sample, m measurement, printer Program, out *output) error {
	r, err := out.result()
	switch {
	case err == nil && len(r.Benchmarks) > 0:
		benchmarks(sample, r.Benchmarks, s.spec.Program)
		return nil
	case s.bench:
		return noBenchmarks(printer, out)
	case err == nil:
		return s.take(sample, m, r, printer, out)
	case !unknown(err):
		sample.Warnings = append(sample.Warnings, fmt.Sprintf("the result that %s printed was not read: %v", printer.displayCommand(), err))
	}
	sample.Ops = s.spec.Ops
	if n, ok := out.operations(); ok && s.spec.Ops == 0 {
		sample.Ops = n
	}
	m.perOp(sample)
	return nil
}

// take takes over what a load generator measured, and says what is wrong with
// it.
func (s *Subject) take(sample *experiment.Sample, m measurement, r *loadresult.Result, printer Program, out *output) error {
	if r.Failed >= r.Ops {
		return problem.New(problem.Failure, "run the load by hand against the program, until it is answered", "all %d operations of %s failed%s", r.Ops, printer.displayCommand(), out.lastLines())
	}
	sample.Ops = float64(r.Ops)
	if r.Failed > 0 {
		sample.Warnings = append(sample.Warnings, fmt.Sprintf("%d of %d operations failed", r.Failed, r.Ops))
	}
	if r.Generator != "" {
		sample.Warnings = append(sample.Warnings, "the load generator was the limit: "+printable(r.Generator))
	}
	if said := s.spec.Ops; said > 0 && math.Abs(said-sample.Ops) > 0.001*said {
		sample.Warnings = append(sample.Warnings, fmt.Sprintf("%s did %s operations, not %s as was said", printer.displayCommand(), figures.Number(sample.Ops), figures.Number(said)))
	}
	m.perOp(sample)
	latencies(sample, r)
	return nil
}

// latencies takes over what a generator measured itself. Its rate is better
// than ours, which has its start and its end in it.
func latencies(sample *experiment.Sample, r *loadresult.Result) {
	if r.Rate > 0 {
		sample.Values[diagnosis.OpsPerSec] = r.Rate
	}
	for _, q := range r.Latency {
		switch q.Q {
		case 0.5:
			sample.Values[diagnosis.P50] = q.Value.Seconds()
		case 0.99:
			sample.Values[diagnosis.P99] = q.Value.Seconds()
		}
	}
}

// benchmarks takes over what lines of go test -bench say: their units are
// metrics behind the benchmark's name. Of a benchmark that was run several
// times it is the mean.
func benchmarks(sample *experiment.Sample, list []loadresult.Benchmark, p Program) {
	type sum struct{ total, n float64 }
	sums := map[diagnosis.Metric]sum{}
	suffix := procsSuffix(list, p)
	for _, b := range list {
		for unit, v := range b.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			name := diagnosis.Metric(strings.TrimSuffix(b.Name, suffix) + " " + unit)
			s := sums[name]
			sums[name] = sum{s.total + v, s.n + 1}
		}
	}
	for name, s := range sums {
		sample.Values[name] = s.total / s.n
	}
}
