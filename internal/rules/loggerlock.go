package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed loggerlock.md
var loggerlockPage string

var loggerlock = &diagnosis.Rule{
	Name:     "loggerlock",
	Title:    "Every log line is written under the logger's lock",
	Doc:      loggerlockPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"hotmutex", "lockedio", "singlesocket", "smallio", "syscallbound", "idleprocs", "futexstorm"},
	Check:    checkLoggerlock,
}

const (
	// loggerWaiters is how many goroutines wait for the logger's lock on
	// average: at 0.3, by the queue M/M/1, somebody writes a line 42 % of the
	// time.
	loggerWaiters = 0.3
	// loggerShare is the CPU in logging from which it is a finding where the
	// Ps are busy anyway. Eight goroutines that log a line for each 3 µs of work
	// had 29 % there. Less than a tenth can hardly be told from noise once
	// it is gone.
	loggerShare = 0.1
	// loggerRate is the least number of lines a second for all of this.
	loggerRate = 1000
)

// lockedWriters are the functions that write a line while they hold a lock.
var lockedWriters = []string{
	"log.(*Logger).output", "log/slog.(*commonHandler).handle", "go.uber.org/zap/zapcore.(*lockedWriteSyncer).", "github.com/sirupsen/logrus.(*Entry).write",
	"github.com/rs/zerolog.(*syncWriter).", "github.com/rs/zerolog.syncWriter.", "k8s.io/klog/v2.(*loggingT).output", "github.com/go-kit/log.(*syncWriter).",
}

func logsLocked(frames []model.Frame) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool {
		return slices.ContainsFunc(lockedWriters, func(w string) bool { return strings.HasPrefix(f.Func, w) })
	})
}

// A logging is what the program's log lines cost.
type logging struct {
	queue  queue // before the lock
	writes int64 // system calls
	stack  model.Stack
	spent  cpuSpent
	share  float64 // of the CPU in logging; 0 when not known
	most   float64 // of the CPU that goes without logging; 0 when not known
	known  bool
}

// written is the time that those who log would not have run for, waited for a P, or been in
// system calls, if they did not.
func (l *logging) written(p *diagnosis.Pass) (d time.Duration) {
	for _, g := range groupsOf(p.Model, l.queue.groups) {
		d += g.Running + g.Runnable + g.Syscall + g.SyscallBlocked
	}
	return time.Duration(l.most * float64(d))
}

func checkLoggerlock(p *diagnosis.Pass) {
	l := measureLogging(p)
	rate := div(float64(l.writes), p.Seconds())
	if rate < loggerRate {
		return
	}
	waiters := l.queue.waiters(p)
	factor, method := speedup(p, l.queue.groups, l.queue.total+l.written(p), l.most*working(p))
	switch {
	case waiters >= loggerWaiters && factor >= worthwhile:
		f := loggerFinding(p, &l, rate)
		f.Cost = diagnosis.Cost{Value: waiters, Unit: fact.Count, Share: waitShare(p, &l.queue), What: "goroutines waiting for the logger, on average"}
		f.Bound = diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "throughput factor if nothing were logged, with its part of the collector's and the scheduler's work: " + method,
		}
		f.Experiment = changed(diagnosis.ThroughputMetric(p.Model), "", loggerNote)
		p.Report(f)
	case l.known && l.share >= loggerShare:
		f := loggerFinding(p, &l, rate)
		cores := l.share * l.spent.Cores()
		f.Cost = diagnosis.Cost{Value: cores, Unit: fact.Cores, Share: l.share, What: "CPU in logging"}
		f.Bound = diagnosis.Bound{
			Value: l.most * l.spent.Cores(), Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: l.most,
			Method: fmt.Sprintf(withoutMethod, "logging") + "; lines that are kept and buffered still have to be formatted",
		}
		f.Experiment = changed(diagnosis.CPUPerOp, "", loggerNote)
		p.Report(f)
	default:
		p.Fine(fmt.Sprintf("logging: %s lines a second, %s goroutines wait for the logger on average", num(rate), num(waiters)))
	}
}

const loggerNote = "A test without code: the same run with the log at level error, or its output to /dev/null. Write calls per operation are a count and show that the change was made."

func measureLogging(p *diagnosis.Pass) (l logging) {
	for _, q := range queues(p) {
		if q.kind == lockDemand && logsLocked(p.Model.Stacks.Frames(q.stacks[0])) {
			l.queue.merge(q)
		}
	}
	most := int64(0)
	for i := range p.Model.Sched.Waits {
		if w := &p.Model.Sched.Waits[i]; w.Kind == model.SyscallWait && logsLocked(p.Model.Stacks.Frames(w.Stack)) {
			l.writes += w.Count
			if w.Count > most {
				most, l.stack = w.Count, w.Stack
			}
		}
	}
	if l.spent, l.known = spentCPU(p); l.known {
		l.share, l.most = l.spent.seen(p.Model, logsLocked), l.spent.without(p.Model, logsLocked)
	}
	return l
}

func loggerFinding(p *diagnosis.Pass, l *logging, rate float64) diagnosis.Finding {
	place, _ := p.UserPlace(l.stack)
	waiters := l.queue.waiters(p)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s log lines a second are written one by one while the logger is locked, most of them from %s: %s goroutines wait for it on average.",
			num(rate), short(place.Function), num(waiters)),
		Where: where(place, l.queue.place(p)),
		Evidence: []fact.Fact{
			{Name: "writes of the logger", Value: rate, Unit: fact.PerSec, Source: "trace: system calls under the logger's lock"},
			{Name: "goroutines waiting for the logger on average", Value: waiters, Unit: fact.Count, Source: "trace: sync waits ÷ window"},
			{Name: "busy Ps", Value: working(p), Unit: fact.Cores, Source: "trace: Ps"},
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the logger is named by its functions, in waits for its lock and in system calls under it"},
		RuledOut:   []string{"a buffered log: each line is a system call", "locks of the program's own: only the logger's functions are counted"},
		Groups:     l.queue.groups,
		Stacks:     append(slices.Clone(l.queue.stacks), l.stack),
		Remedy: diagnosis.Remedy{
			Text: "Log less on the path of every operation: a level that is off by default, checked before arguments are built, or one line in a hundred. What must be kept goes through a buffer that is flushed every second and at the end (lines in it are lost in a crash): log.SetOutput, slog.NewJSONHandler and zap's BufferedWriteSyncer take any writer.",
			Code: "if logger.Enabled(ctx, slog.LevelDebug) {\n\tlogger.LogAttrs(ctx, slog.LevelDebug, \"done\", slog.Int(\"n\", n))\n}",
		},
	}
	if ops, name := operations(p); ops > 0 {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "writes of the logger, each of " + name, Value: rate / ops, Unit: fact.Ratio, Source: "trace"})
	}
	if l.known {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "CPU in logging", Value: l.share, Unit: fact.Ratio, Source: l.spent.from()})
		if l.share >= loggerShare {
			f.Confidence = diagnosis.High
			f.Reasons = append(f.Reasons, "CPU samples agree: "+pct(l.share)+" of the CPU is in logging")
		}
	}
	if len(f.Groups) == 0 {
		f.Groups = groupsOfStacks(p.Model, f.Stacks)
	}
	return f
}
