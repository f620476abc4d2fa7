package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// A clock brings wall time to the model's, which counts from the beginning of
// the window that the model covers. Which window that is, is only known when
// everything was read: until then sources keep wall times, and [loader.align]
// takes what they have to do afterwards.
type clock struct {
	start  time.Time     // wall time of the window's beginning; zero when nothing tells it
	length time.Duration // 0 when not known
	cut    bool          // the user asked for a piece: leave out what is not in it
}

// since returns a wall time on the model's clock; known is false when either
// is not known.
func (c clock) since(t time.Time) (d time.Duration, known bool) {
	if t.IsZero() || c.start.IsZero() {
		return 0, false
	}
	return t.Sub(c.start), true
}

// contains reports whether a moment belongs to the model.
func (c clock) contains(d time.Duration) bool {
	return !c.cut || d >= 0 && d <= c.length
}

// inWindow returns the part of a series that belongs to the model.
func inWindow[T any](c clock, series []T, at func(*T) time.Duration) []T {
	if !c.cut {
		return series
	}
	var in []T
	for i := range series {
		if c.contains(at(&series[i])) {
			in = append(in, series[i])
		}
	}
	return in
}

// align has f called when the window is known.
func (l *loader) align(f func(c clock)) { l.aligned = append(l.aligned, f) }

// A spanRank says whose word counts for what the window is, the highest first.
type spanRank int

const (
	spanOfNothing spanRank = iota
	spanOfLoad             // a load test lasts longer than the recording, or not as long
	spanOfSnapshots
	spanOfSeries
	spanOfProfile // of a profile taken over a time
	spanOfCPU     // the CPU profile's
	spanOfRecording
)

// covers says that a source covers this time, with the rank that its word has.
// Of equal rank the first counts.
func (l *loader) covers(rank spanRank, from, to time.Time) {
	if from.IsZero() || to.Before(from) || rank <= l.spanRank {
		return
	}
	l.spanRank, l.spanFrom, l.spanTo = rank, from, to
}

// clock decides on the window. A trace decides alone; its own wall time is
// exact where it has one.
func (l *loader) clock() (clock, error) {
	run := &l.m.Run
	w := l.opts.Window
	c := clock{cut: w != Window{}}
	if l.m.Sched != nil {
		l.traceWall()
		c.start, c.length = run.Start, run.Duration
		return c, nil
	}
	c.start, c.length = l.spanFrom, l.spanTo.Sub(l.spanFrom)
	if l.spanRank == spanOfNothing {
		c.length = l.untimed // a profile that tells how long it took, but not when
	}
	if c.cut && c.length > 0 {
		if err := w.check(c.length, "evidence"); err != nil {
			return c, err
		}
		if w.To != 0 {
			c.length = min(c.length, w.To)
		}
		c.length -= w.From
		if !c.start.IsZero() {
			c.start = c.start.Add(w.From)
		}
	}
	run.Start, run.Duration = c.start, c.length
	return c, nil
}

// noteUncut tells which evidence is of the whole run although a piece was
// asked for: sums cannot be cut.
func (l *loader) noteUncut(c clock) {
	if !c.cut {
		return
	}
	var whole []string
	for _, src := range []model.Source{model.CPU, model.Wall, allocsSource, model.Heap, model.Block, model.Mutex, model.ThreadCreate, model.KernelCPU, model.OffCPU, model.SyscallLog, model.Holders, model.LoadResult} {
		if src == model.CPU && l.m.Sched != nil {
			continue // see joinCPU
		}
		if _, ok := l.from[src]; ok {
			whole = append(whole, string(src))
		}
	}
	if len(whole) > 0 {
		l.note("these cover the whole run, not only the window: %s", strings.Join(whole, ", "))
	}
}

// traceWall finds the wall time of a trace's window. Traces before Go 1.25 do
// not have it; those since Go 1.22 count CLOCK_MONOTONIC on Linux, which a
// recording ties to the wall. The last resort is that the trace was begun when
// the rest was, the CPU profile first of all.
func (l *loader) traceWall() {
	run := &l.m.Run
	if !run.Start.IsZero() {
		return
	}
	if start, ok := l.anchored(); ok {
		run.Start = start
		return
	}
	from := l.spanFrom
	if !l.cpuFrom.IsZero() {
		from = l.cpuFrom
	}
	if from.IsZero() {
		return
	}
	run.Start = from.Add(l.opts.Window.From)
	for _, src := range []model.Source{model.ProcFS, model.MetricsLog, model.LoadResult, model.GCTrace, model.SchedTrace} {
		if l.from[src] != "" {
			l.note("the trace does not tell its wall time: it is taken to have begun with the other evidence, and what is " +
				"placed by time may be shifted against it")
			return
		}
	}
}

// anchorSlack is by how much a trace may seem to begin outside its recording
// before its clock is taken to be another one than the recording's.
const anchorSlack = time.Minute

func (l *loader) anchored() (time.Time, bool) {
	if len(l.anchors) == 0 || l.traceStart == 0 {
		return time.Time{}, false
	}
	a := l.anchors[0]
	start := a.Wall.Add(time.Duration(int64(l.traceStart) - a.Monotonic))
	if start.Before(l.recordedRange.from.Add(-anchorSlack)) || start.After(l.recordedRange.to.Add(anchorSlack)) {
		return time.Time{}, false
	}
	return start, true
}

// A timeRange is when a recording began and ended, as its manifest tells.
type timeRange struct{ from, to time.Time }

// manifest takes over what a recording knows of its run.
func (l *loader) manifest(name string, rec *recording.Recording) {
	if rec.Cut {
		l.note("%s is cut short; what is left of it was read", name)
	}
	for _, n := range rec.Notes {
		l.note("%s: %s", name, n)
	}
	man := rec.Manifest
	if man == nil {
		return
	}
	run := &l.m.Run
	l.toolchain = man.Go
	if run.Procs == 0 {
		run.Procs = man.Procs
	}
	if run.PID == 0 {
		run.PID = man.PID
	}
	l.recordedRange = timeRange{man.Start, man.End}
	l.anchors = man.Clock
	l.covers(spanOfRecording, man.Start, man.End)
	l.environment(withoutRecorder(man.Env))
	if run.Recording == "" && slices.Contains(run.Files, name) && !strings.HasPrefix(name, "/dev/") {
		run.Recording = name // a file that can be read again
	}
	if len(run.Command) == 0 {
		run.Command, run.Dir, run.Env, run.URL = slices.Clone(man.Command), man.Dir, artifact.GoEnvironment(withoutRecorder(man.Env)), man.URL
		run.Fixed = slices.Clone(man.Fixed)
	}
	if r := man.Rates; r != nil {
		run.Rates = &model.Rates{Block: time.Duration(r.BlockNS), Mutex: r.Mutex, Mem: r.MemBytes}
	}
	if c := man.Cost; c != nil {
		run.Overhead = &model.Overhead{Recorder: seconds(c.RecorderCPU), Target: seconds(c.TargetCPU), Wall: seconds(c.TargetWall),
			Before: seconds(c.TargetBefore), BeforeWall: seconds(c.TargetBeforeWall)}
	}
	if e := man.Event; e != nil {
		by := " by the program itself"
		if e.Kind == "memory" { // or by who watched it
			by = ""
		}
		l.note("recorded%s at %s: %s", by, e.Time.Format(time.DateTime), artifact.EventWords(e))
	}
	if e := man.Ended; e != nil {
		run.Ended = e.Kind == recording.EndedByExit
	}
	if e := man.Ended; e != nil && (!run.Ended || e.Code != 0 || man.Event != nil) {
		words := strings.Join(slices.DeleteFunc([]string{artifact.EndingWords(e, e.Time.Location()), artifact.EvidenceAge(man)},
			func(s string) bool { return s == "" }), "; ")
		l.note("the program %s", words)
		if e.Kind == recording.EndedByMemory {
			run.Killed = &model.Kill{At: e.Time, Limit: e.Limit, Words: words}
		}
	}
	if len(man.Unredacted) > 0 {
		l.note("redacted, but for %s", strings.Join(man.Unredacted, ", "))
	}
	var refused []artifact.Refusal
	for _, r := range man.Refused {
		run.Refused = append(run.Refused, model.Refusal{Member: r.Member, Source: artifact.MemberNamed(r.Member).Source, Why: r.Why})
		run.Untold = run.Untold || r.Member == artifact.EndpointMember
		refused = append(refused, artifact.Refusal{Member: r.Member, Why: r.Why})
	}
	for _, r := range artifact.GroupRefusals(refused, func(member string) bool {
		return slices.ContainsFunc(rec.Members, func(m recording.Member) bool { return m.Name == member })
	}) {
		l.note("%s", r.Why)
	}
}

// seconds returns a number of seconds as a duration; what is none is 0.
func seconds(s float64) time.Duration {
	d := s * float64(time.Second)
	if !(d > 0 && d < 1<<62) {
		return 0
	}
	return time.Duration(d)
}

// zeroTime is a moment that is not known.
var zeroTime time.Time
