package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// trace reads an execution trace into the model.
func (l *loader) trace(s source) error {
	if l.onlyTrace != nil {
		return l.onlyTrace(s)
	}
	if s.at != nil {
		return l.readTrace(s)
	}
	// It is read again event by event, a window counts from its start, and what is kept is looked at
	// later: a stream does none of it.
	err := l.spool(s, l.readTrace)
	if errors.Is(err, errNoSpool) && l.opts.Window == (Window{}) && l.opts.Trace == nil {
		l.note("%s: it could be read only once, so that operations were not followed: %v", s.name, err)
		return l.readTrace(s)
	}
	return err
}

func (l *loader) readTrace(s source) error {
	if err := l.take(model.Trace, "trace", s.name); err != nil {
		return err
	}
	t, err := openTrace(s)
	if err != nil {
		return traceProblem(s.name, err)
	}
	piece := l.offerTrace(s, t)
	if l.opts.Trace == nil {
		defer t.Close()
	}
	window, err := l.window(s.name, t)
	if err != nil {
		return err
	}
	acc, err := t.Account(l.ctx, exectrace.Options{
		Workers:  l.opts.Workers,
		Window:   window,
		Keep:     l.opts.Keep,
		Sweeps:   l.opts.Sweeps,
		Progress: l.opts.Progress,
		Piece:    piece,
		// A picture needs no wake-ups, logs and labels until somebody looks closer.
		BarePieces: true,
	})
	if err != nil {
		return traceProblem(s.name, err)
	}
	if acc.Info.Damage.LostBytes > 0 && !slices.ContainsFunc(acc.Info.Generations, func(g exectrace.Generation) bool { return g.Events > 0 }) {
		return traceProblem(s.name, fmt.Errorf("%w: none of its %d bytes can be read", exectrace.ErrNoEvents, acc.Info.Size))
	}
	f := folder{acc: acc, m: l.m}
	f.fold()
	l.cpuInTrace = f.samples()
	if s.at != nil { // no stream
		if err := l.serial(t, window); err != nil {
			return traceProblem(s.name, err)
		}
	}
	if f.monotonic() {
		l.traceStart = f.start()
	}
	return nil
}

// offerTrace gives the trace to whoever wants to keep it, with the file that it is in.
func (l *loader) offerTrace(s source, t *exectrace.Trace) (piece func(*exectrace.Piece)) {
	if l.opts.Trace == nil {
		return nil
	}
	release := t.Close
	if s.path == "" && l.reading != nil { // read through the file of an archive
		in := l.reading
		l.lent = in
		release = func() error { return errors.Join(t.Close(), in.Close()) }
	}
	return l.opts.Trace(t, release)
}

func openTrace(s source) (*exectrace.Trace, error) {
	switch {
	case s.path != "":
		return exectrace.Open(s.path)
	case s.at != nil:
		return exectrace.NewReaderAt(s.at, s.size)
	}
	return exectrace.NewReader(s.r)
}

func traceProblem(name string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, recording.ErrUnpacked) {
		return cutProblem(name, err)
	}
	kind := problem.Failure
	if errors.Is(err, exectrace.ErrNoEvents) {
		kind = problem.Absence
	}
	return &problem.Error{What: fmt.Sprintf("cannot read the trace %q: %v", name, err),
		Hint: recordHelp, Kind: kind, Err: err}
}

// window returns what to read of the trace. A trace that is read whole is not
// asked for its length: a stream could not tell.
func (l *loader) window(name string, t *exectrace.Trace) (exectrace.Range, error) {
	if l.opts.Window == (Window{}) {
		return exectrace.Range{}, nil
	}
	info, err := t.Info()
	if err != nil {
		return exectrace.Range{}, traceProblem(name, err)
	}
	return l.opts.Window.toTrace(info)
}

// toTrace returns the window on the trace's own clock.
func (w Window) toTrace(info exectrace.Info) (exectrace.Range, error) {
	if err := w.check(time.Duration(info.End-info.Start), "trace"); err != nil {
		return exectrace.Range{}, err
	}
	r := exectrace.Range{From: info.Start + exectrace.Time(w.From), To: math.MaxInt64}
	if w.To != 0 {
		r.To = info.Start + exectrace.Time(w.To)
	}
	return r, nil
}

// check refuses a window that holds nothing of what is length long.
func (w Window) check(length time.Duration, what string) error {
	if w.From < 0 || w.To < 0 || w.To != 0 && w.To <= w.From {
		return problem.New(problem.Misuse, "--window 1.5s,3s", "the window from %v to %v is empty", w.From, w.To)
	}
	if w.From > 0 && w.From >= length {
		return problem.New(problem.Misuse, "--window counts from the "+what+"'s start, like 0.5s,2s", "the window begins at %v, the %s is only %v long", w.From, what, length.Round(time.Millisecond))
	}
	return nil
}

// A folder turns the accounts of a trace into the model's parts.
type folder struct {
	acc    *exectrace.Accounts
	m      *model.Model
	stacks []model.Stack // by exectrace.Stack
}

func (f *folder) fold() {
	a := f.acc
	f.addStacks()
	f.run()
	f.m.Sched = &model.Sched{
		Groups:     mapSlice(a.Groups, f.group),
		Goroutines: mapSlice(a.Goroutines, f.goroutine),
		AllKept:    a.AllKept,
		Procs:      mapSlice(a.Procs, tracedProc),
		Timeline:   mapSlice(a.Buckets, f.bucket),
		Waits:      mapSlice(a.Waits, f.wait),
		Wakes:      mapSlice(a.Wakes, f.wake),
		Bursts:     mapSlice(a.Bursts, f.burst),
		Delay:      model.Histogram(a.Delay),
		Slice:      model.Histogram(a.Slice),
		Threads:    a.Threads,
	}
	f.m.Moment = f.moment()
	// The reader's order is by time on a P, the model's by all of the time.
	slices.SortStableFunc(f.m.Sched.Groups, func(a, b model.Group) int { return cmp.Compare(b.Total(), a.Total()) })
	f.m.GC = &model.GC{
		Cycles: mapSlice(a.Cycles, f.cycle),
		Heap:   mapSlice(a.Heap, f.heap),
		Pauses: mapSlice(a.Pauses, f.pause),
		Load:   mapSlice(a.Load, f.load),
	}
	f.m.Tasks = &model.Tasks{
		Tasks:   mapSlice(a.Tasks, taskType),
		Regions: mapSlice(a.Regions, regionType),
		Logs:    mapSlice(a.Logs, func(c exectrace.LogCount) model.LogCount { return model.LogCount(c) }),
		Slow:    mapSlice(a.Slow, f.task),
	}
}

func mapSlice[S, D any](from []S, one func(S) D) []D {
	to := make([]D, len(from))
	for i := range from {
		to[i] = one(from[i])
	}
	return to
}

func (f *folder) addStacks() {
	f.stacks = make([]model.Stack, len(f.acc.Stacks))
	for i, frames := range f.acc.Stacks {
		if i == 0 || len(frames) == 0 {
			continue // stays 0, "no stack"
		}
		f.stacks[i] = f.m.Stacks.Add(mapSlice(frames, func(fr exectrace.Frame) model.Frame { return model.Frame(fr) }))
	}
}

func (f *folder) stack(s exectrace.Stack) model.Stack {
	if s < 0 || int(s) >= len(f.stacks) {
		return 0
	}
	return f.stacks[s]
}

func (f *folder) groupName(i int) string {
	if i < 0 || i >= len(f.acc.Groups) {
		return ""
	}
	g := &f.acc.Groups[i]
	if inits(g) {
		return "main.main"
	}
	return g.Name
}

// inits tells the main goroutine where it was first seen while packages were
// initialized, as when the agent records from there on: its stacks end below
// runtime.main, and it seems to have begun in doInit.
func inits(g *exectrace.Group) bool { return strings.HasPrefix(g.Name, "runtime.doInit") }

// start returns the beginning of what the accounts cover.
func (f *folder) start() exectrace.Time {
	if f.acc.Window.IsZero() {
		return f.acc.Info.Start
	}
	return f.acc.Window.From
}

// since returns a moment relative to the window, -1 for one outside the trace.
func (f *folder) since(t exectrace.Time) time.Duration {
	if t == 0 {
		return -1
	}
	return time.Duration(t - f.start())
}

func (f *folder) run() {
	info := &f.acc.Info
	end := f.acc.Window.To
	if f.acc.Window.IsZero() || end > info.End {
		end = info.End
	}
	run := &f.m.Run
	run.Go = info.Version
	if info.Procs > 0 {
		run.Procs = info.Procs
	}
	run.Duration = max(0, time.Duration(end-f.start()))
	if !info.Clock.Wall.IsZero() {
		run.Start = info.Clock.Wall.Add(time.Duration(f.start() - info.Clock.At))
	}
	f.coverage(&run.Coverage)
}

// monotonic reports whether the trace's clock is CLOCK_MONOTONIC, as far as
// its version tells: before Go 1.22 it counted ticks from any moment.
func (f *folder) monotonic() bool {
	minor, err := strconv.Atoi(strings.TrimPrefix(f.acc.Info.Version, "go1."))
	return err == nil && minor >= 22
}

func (f *folder) coverage(c *model.Coverage) {
	info := &f.acc.Info
	d := &info.Damage
	c.Bytes, c.LostBytes, c.LostEvents, c.Lost, c.Forced = info.Size, d.LostBytes, d.LostEvents, d.LostTime, d.Forced
	c.Generations = len(info.Generations)
	for i := range info.Generations {
		g := &info.Generations[i]
		c.Events += g.Events
		c.Overlap += g.Overlap
		c.MaxOverlap = max(c.MaxOverlap, g.Overlap)
		if g.LostBytes > 0 || g.Forced > 0 || !g.Trusted {
			c.Damaged++
		}
	}
	for i := range f.acc.Groups {
		c.Unknown += f.acc.Groups[i].Unknown
	}
	c.Notes = append(c.Notes, joinNotes(d.Notes)...)
}

// joinNotes makes one note of those that follow each other about the same
// generation: they have one cause.
func joinNotes(notes []string) (joined []string) {
	last := ""
	for _, n := range notes {
		about, text, ok := strings.Cut(n, ": ")
		if ok && about == last {
			joined[len(joined)-1] += "; " + text
			continue
		}
		if joined, last = append(joined, n), ""; ok {
			last = about
		}
	}
	return joined
}

func times(t exectrace.Times) model.Times {
	m := model.Times{Running: t.Running, Runnable: t.Runnable, Syscall: t.Syscall, SyscallBlocked: t.SyscallBlocked, Unknown: t.Unknown}
	m.Blocked = reasons(t.Blocked)
	return m
}

func reasons(list []exectrace.ReasonTime) map[string]time.Duration {
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]time.Duration, len(list))
	for _, r := range list {
		m[r.Reason] += r.Total
	}
	return m
}

func (f *folder) group(g exectrace.Group) model.Group {
	name, start := g.Name, model.Frame(g.Start)
	if inits(&g) {
		name, start = "main.main", model.Frame{Func: "main.main"}
	}
	return model.Group{
		Name: name, System: exectrace.IsSystem(name), Start: start, Creator: f.stack(g.Creator),
		Count: g.Count, Created: g.Created, Ended: g.Ended, Peak: g.Peak,
		Times: times(g.Times), Ranges: reasons(g.Ranges),
		Runs: g.Runs, Delay: model.Histogram(g.Delay), RunningEach: model.Histogram(g.RunningEach), Life: model.Histogram(g.Life),
	}
}

func (f *folder) goroutine(g exectrace.Goroutine) model.Goroutine {
	return model.Goroutine{
		ID: g.ID, Group: f.groupName(g.Group),
		Created: f.since(g.Created), First: f.since(g.First), Ended: f.since(g.Ended),
		Runs: g.Runs, Times: times(g.Times), Ranges: reasons(g.Ranges),
	}
}

func tracedProc(p exectrace.Proc) model.Proc {
	return model.Proc{ID: p.ID, User: p.User, GC: p.GC, GCIdle: p.GCIdle, Syscall: p.Syscall,
		Scheduler: p.Scheduler, Idle: p.Idle, Unknown: p.Unknown, Starts: p.Starts}
}

// bucket turns integrals over a piece of time into averages.
func (f *folder) bucket(b exectrace.Bucket) model.Bucket {
	m := model.Bucket{Start: time.Duration(b.From - f.start()), Width: b.Width}
	if w := float64(b.Width); w > 0 {
		m.Running, m.Held, m.Runnable = float64(b.Running)/w, float64(b.Held)/w, float64(b.Runnable)/w
	}
	return m
}

func (f *folder) wait(w exectrace.Wait) model.Wait {
	return model.Wait{Kind: waitKind(w.State, w.Reason), Reason: w.Reason, Stack: f.stack(w.Stack),
		Group: f.groupName(w.Group), Count: w.Count, Total: w.Total, Open: w.Open, Parked: w.Parked, OpenTotal: w.OpenTotal}
}

// moment returns what all stood at when the window ended.
func (f *folder) moment() *model.Moment {
	m := &model.Moment{Source: model.Trace, At: f.m.Run.Duration, Known: true, Watched: f.m.Run.Duration}
	for _, s := range f.acc.Last {
		began := ""
		if s.Stack == 0 {
			began = f.groupName(s.Group)
		}
		m.Goroutines = append(m.Goroutines, model.Standing{Count: s.Count, Stack: f.stack(s.Stack), State: standingState(s), Waited: s.Longest, Still: s.Still, Began: began})
	}
	return m
}

// standingState returns the runtime's word for what goroutines stand at.
func standingState(s exectrace.Standing) string {
	switch s.State {
	case exectrace.Waiting:
		return s.Reason
	case exectrace.Running:
		return "running"
	case exectrace.Runnable:
		return "runnable"
	case exectrace.Syscall, exectrace.SyscallBlocked:
		return "syscall"
	}
	return ""
}

// waitKind tells which of the four blocking profiles a wait belongs to, by
// the same words as `go tool trace` looks for.
func waitKind(s exectrace.State, reason string) model.WaitKind {
	switch {
	case s == exectrace.Runnable:
		return model.SchedWait
	case s == exectrace.Syscall, s == exectrace.SyscallBlocked:
		return model.SyscallWait
	case reason == "network":
		return model.Net
	case strings.Contains(reason, "chan"), strings.Contains(reason, "sync"), strings.Contains(reason, "select"):
		return model.Sync
	}
	return model.OtherWait
}

func (f *folder) wake(w exectrace.Wake) model.Wake {
	return model.Wake{Waker: f.stack(w.Waker), Woken: f.stack(w.Woken), Count: w.Count}
}

func (f *folder) burst(b exectrace.Burst) model.Burst {
	return model.Burst{Waker: f.stack(b.Waker), Count: b.Count, Woken: b.Woken, Max: b.Max, Futile: b.Futile}
}

func (f *folder) cycle(c exectrace.Cycle) model.Cycle {
	return model.Cycle{Seq: c.Seq, Begin: f.since(c.Begin), End: f.since(c.End)}
}

func (f *folder) heap(h exectrace.HeapSample) model.HeapSample {
	return model.HeapSample{At: f.since(h.At), Alloc: h.Alloc, Goal: h.Goal}
}

func (f *folder) pause(p exectrace.Pause) model.Pause {
	return model.Pause{Kind: p.Kind, At: f.since(p.Begin), Duration: time.Duration(p.End - p.Begin), Stack: f.stack(p.Stack)}
}

func (f *folder) load(c exectrace.LoadChange) model.LoadChange {
	return model.LoadChange{At: time.Duration(c.At - f.start()), Proc: c.Proc, Kind: loadKinds[c.Kind], Dedicated: c.Dedicated, Delta: c.Delta}
}

var loadKinds = map[exectrace.LoadKind]model.LoadKind{
	exectrace.LoadSTW:        model.LoadSTW,
	exectrace.LoadBackground: model.LoadBackground,
	exectrace.LoadAssist:     model.LoadAssist,
	exectrace.LoadSweep:      model.LoadSweep,
	exectrace.LoadProcs:      model.LoadProcs,
}

func taskType(t exectrace.TaskType) model.TaskType {
	return model.TaskType{Name: t.Name, Count: t.Count, Complete: t.Complete, Latency: model.Histogram(t.Latency)}
}

func regionType(r exectrace.RegionType) model.RegionType {
	return model.RegionType{Name: r.Name, Count: r.Count, Open: r.Open, Latency: model.Histogram(r.Latency), Times: times(r.Times)}
}

func (f *folder) task(t exectrace.Task) model.Task {
	return model.Task{ID: t.ID, Parent: t.Parent, Name: t.Name, Begin: f.since(t.Begin), End: f.since(t.End), Logs: t.Logs}
}

// samples returns the CPU samples that the trace carries as a profile, nil
// when it carries none.
func (f *folder) samples() *model.Profile {
	a := f.acc
	if len(a.Samples) == 0 {
		return nil
	}
	p := &model.Profile{
		Types:     []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
		Duration:  f.m.Run.Duration,
		FromTrace: true,
	}
	for _, s := range a.Samples {
		p.Samples = append(p.Samples, model.Sample{
			Stack:  f.stack(s.Stack),
			Values: []int64{s.Count, s.Count * int64(a.SamplePeriod)},
			Group:  f.groupName(s.Group),
		})
	}
	return p
}
