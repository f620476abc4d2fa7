package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/record"
)

// counted are the sources of a run that is counted and not timed: each adds
// little to what another one counts, and none samples.
var counted = []string{"metrics", "syscalls", "proc"}

// Count runs the subject once with everything counted that can be, which makes
// it slower: its times are not given. Of a program that ends by itself it is
// all from start to end, of a server what happened during the load.
//
// What the runtime counts needs the program to tell: it imports gowhy's agent
// and, if it ends by itself, defers agent.Finish; of a server that has HTTP,
// net/http/pprof is enough. System calls need root or the rights that gowhy doctor names. What
// could not be counted is absent, and a warning says why.
//
// The model is what was recorded, with the sources of [Spec.Also].
func (s *Subject) Count(ctx context.Context) (experiment.Sample, *model.Model, error) {
	dir, err := os.MkdirTemp("", "gowhy-count-")
	if err != nil {
		return experiment.Sample{}, nil, err
	}
	defer os.RemoveAll(dir)
	limited, cancel := s.withLimit(ctx)
	defer cancel()
	c := &count{Subject: s, file: filepath.Join(dir, "run.gowhy"), sample: experiment.Sample{Values: map[diagnosis.Metric]float64{}, Conditions: unmeasured}}
	if s.server() {
		err = c.server(limited)
	} else {
		err = c.command(limited)
	}
	if err != nil {
		return experiment.Sample{}, nil, err
	}
	m, err := evidence.Load(ctx, []string{c.file}, evidence.Options{})
	if err != nil {
		return experiment.Sample{}, nil, err
	}
	c.values(m)
	return c.sample, m, nil
}

// A count is one counted run.
type count struct {
	*Subject
	file   string
	sample experiment.Sample
	res    *record.Result
	own    counters // of a server, read by ourselves
	served bool
}

func (c *count) options() record.Options {
	return record.Options{Out: c.file, Only: append(slices.Clone(counted), c.spec.Also...), NoGodebug: len(c.spec.Also) == 0}
}

// command counts a program that ends by itself.
func (c *count) command(ctx context.Context) error {
	p := c.spec.Program
	path, err := p.path()
	if err != nil {
		return p.cannotStart(err)
	}
	out := newOutput("")
	o := c.options()
	o.Env, o.Dir, o.Stdout, o.Stderr = p.Env, p.Dir, out.stdout(), out.stderr()
	c.sample.Begin = time.Now()
	c.res, err = record.Run(ctx, record.Target{Command: append([]string{path}, p.Command[1:]...)}, o)
	switch {
	case ctx.Err() != nil:
		return (&process{program: p, out: out}).interrupted(ctx)
	case c.res != nil && c.res.ExitCode != 0:
		return failedAs(p, fmt.Sprintf("failed with exit code %d", c.res.ExitCode), out)
	case err != nil:
		return err
	}
	c.sample.Elapsed = c.res.Duration
	return c.readOutput(p, out)
}

// readOutput takes from a counted run how many operations it did, and of
// benchmarks what does not depend on time.
func (c *count) readOutput(p Program, out *output) error {
	scratch := experiment.Sample{Values: map[diagnosis.Metric]float64{}}
	if err := c.outcome(&scratch, measurement{}, p, out); err != nil {
		return err
	}
	c.sample.Ops, c.sample.Warnings = scratch.Ops, scratch.Warnings
	for name, v := range scratch.Values {
		if n := string(name); strings.HasSuffix(n, " "+string(diagnosis.AllocsOp)) || strings.HasSuffix(n, " "+string(diagnosis.BytesOp)) {
			c.sample.Values[name] = v
		}
	}
	return nil
}

// server counts what a server does under its load.
func (c *count) server(ctx context.Context) error {
	if len(c.spec.Load) == 0 {
		return problem.New(problem.Absence, "--load 'CMD'   # whose operations are counted", "a start is timed and cannot be counted")
	}
	c.served = true
	agentSocket, err := record.NewAgentSocket()
	if err != nil {
		return err
	}
	defer agentSocket.Close()
	asked := *c.Subject // this run alone: the agent costs a server its first second
	asked.spec.Program.Env = append(slices.Clip(asked.spec.Program.Env), agentSocket.Env())
	return asked.running(ctx, func(server *process) error { return c.underLoad(ctx, server, agentSocket) })
}

func (c *count) underLoad(ctx context.Context, server *process, agentSocket *record.AgentSocket) error {
	pid := c.listener(server)
	begun := make(chan struct{})
	o := c.options()
	o.Duration, o.Started = min(c.spec.Time, 12*time.Hour), func() { close(begun) }
	recording, end := context.WithCancel(ctx)
	defer end()
	var err error
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		c.res, err = record.Run(recording, record.Target{PID: pid, AgentSocket: agentSocket}, o)
	}()
	select {
	case <-begun:
	case <-recorded:
		return firstError(err, errors.New("the recording ended before it began"))
	}
	c.sample.Begin = time.Now()
	ledger, lerr := beginLedger(server.pid())
	generator, oerr := c.offer(ctx, server)
	if lerr == nil {
		c.own = ledger.use()
		ledger.close()
	}
	end()
	<-recorded
	if oerr != nil || err != nil || lerr != nil {
		return firstError(oerr, err, lerr)
	}
	c.sample.Elapsed = generator.ended.Sub(generator.began)
	return c.readOutput(generator.program, generator.out)
}

// firstError returns the first of several that is one.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// listener returns the process that serves: of a command that is a shell, what it
// started.
func (c *count) listener(server *process) int {
	f := readFamily(procFS, server.pid())
	own, _ := claims(procFS, f, nil)
	by := holders(procFS)
	var pids []int
	for _, s := range own {
		for _, pid := range by[s.Inode] {
			if f.has(pid) && !slices.Contains(pids, pid) {
				pids = append(pids, pid)
			}
		}
	}
	switch {
	case len(pids) == 0:
		return server.pid()
	case len(pids) > 1:
		c.sample.Warnings = append(c.sample.Warnings, fmt.Sprintf("%d processes serve; allocations and system calls are of process %d alone", len(pids), pids[0]))
	}
	return pids[0]
}

// values takes the counters from what was recorded.
func (c *count) values(m *model.Model) {
	ops := c.sample.Ops
	if ops <= 0 {
		ops = 1
	}
	benchmark := len(c.sample.Values) > 0 // whose operations are not those of the process
	if c.bench || benchmark {
		return
	}
	c.runtime(m, ops)
	c.syscalls(m, ops)
	if c.served {
		c.sample.Values[diagnosis.Faults] = c.own.faults / ops
		c.sample.Values[diagnosis.Switches] = c.own.switches / ops
	} else if m.Process != nil && len(m.Process.Samples) > 0 {
		// Of switches the last tenth of a second is lost with the process; those
		// that Run gives are whole.
		last := m.Process.Samples[len(m.Process.Samples)-1]
		c.sample.Values[diagnosis.Faults] = float64(last.MinorFaults+last.MajorFaults) / ops
	}
}

// The runtime's counters, in its own names. Tiny objects, which share a block,
// are counted apart; a benchmark's allocs/op has them.
const (
	allocsMetric     = "/gc/heap/allocs:objects"
	tinyMetric       = "/gc/heap/tiny/allocs:objects"
	bytesMetric      = "/gc/heap/allocs:bytes"
	cyclesMetric     = "/gc/cycles/total:gc-cycles"
	liveMetric       = "/gc/heap/live:bytes"
	goroutinesMetric = "/sched/goroutines-created:goroutines" // since Go 1.26
)

func (c *count) runtime(m *model.Model, ops float64) {
	if why := c.untold(m); why != "" {
		c.sample.Warnings = append(c.sample.Warnings, "allocations, goroutines and collections are not counted: "+why)
		return
	}
	v := c.sample.Values
	if n, ok := grown(m, allocsMetric); ok {
		tiny, _ := grown(m, tinyMetric) // where it is missing, allocs has them
		v[diagnosis.AllocsOp] = (n + tiny) / ops
	}
	for metric, name := range map[diagnosis.Metric]string{diagnosis.BytesOp: bytesMetric, diagnosis.GCPerOp: cyclesMetric, diagnosis.Goroutines: goroutinesMetric} {
		if n, ok := grown(m, name); ok {
			v[metric] = n / ops
		}
	}
	if live := m.Metrics.Series[liveMetric]; len(live) > 0 && v[diagnosis.GCPerOp] > 0 {
		v[diagnosis.LiveHeap] = live[len(live)-1].Value
	}
}

// untold says why the runtime's counters cannot be relied upon; empty when they
// can.
func (c *count) untold(m *model.Model) string {
	const hint = `import _ "github.com/gowhy/gowhy/agent" in the program`
	const finish = "and `defer agent.Finish()` in main"
	if m.Metrics == nil || len(m.Metrics.Series[allocsMetric]) == 0 {
		if c.served {
			return hint + ", or _ \"net/http/pprof\" where it serves HTTP"
		}
		return hint + " " + finish
	}
	cut := slices.ContainsFunc(c.res.Refused, func(r artifact.Refusal) bool { return strings.Contains(r.Member, recording.MetricsMember) })
	// Without the agent they are asked for over HTTP, and nobody answers after
	// the program's end. Only the agent knows tiny objects.
	if !c.served && (cut || len(m.Metrics.Series[tinyMetric]) == 0) {
		return "the program ended before it could tell the last of them; " + hint + " " + finish
	}
	if cut {
		return "they do not reach the end of the load"
	}
	return ""
}

// grown returns by how much a counter grew. The first sample of a program that was
// started is from before main, and has the agent's own start in it; that of a
// server from before the load.
func grown(m *model.Model, name string) (float64, bool) {
	s := m.Metrics.Series[name]
	if len(s) < 2 {
		return 0, false
	}
	d := s[len(s)-1].Value - s[0].Value
	return d, d >= 0
}

func (c *count) syscalls(m *model.Model, ops float64) {
	y := m.Syscalls
	if y == nil || !y.Exact() || y.Lost > 0 {
		why := "the kernel did not tell all of them"
		for _, r := range c.res.Refused {
			if r.Member == recording.SyscallsMember {
				why = r.Why
			}
		}
		c.sample.Warnings = append(c.sample.Warnings, "system calls are not counted: "+printable(why))
		return
	}
	total := int64(0)
	for _, call := range y.Calls {
		total += call.Count
	}
	c.sample.Values[diagnosis.Syscalls] = float64(total) / ops
	c.sample.Values[diagnosis.Futexes] = float64(y.Call("futex").Count) / ops
}
