package rules

import (
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	// average: at 0.3, by the queue M/M/1, somebody writes a line 42% of the
	// time.
	loggerWaiters = 0.3
	// loggerShare is the CPU in logging from which it is a finding where the
	// Ps are busy anyway. Eight goroutines that log a line for each 3 µs of work
	// had 29% there. Less than a tenth can hardly be told from noise once
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
	return code.ContainsPrefix(frames, lockedWriters)
}

// A logging is what the program's log lines cost.
type logging struct {
	queue       queueing.Queue // before the lock
	writes      fact.Fact      // system calls
	stack       model.Stack
	cpu         cpu.Use
	share, most fact.Fact // of the CPU: in logging, and what goes without it; nothing when not known
}

func checkLoggerlock(p *diagnosis.Pass) {
	l := measureLogging(p)
	rate := fact.Quotient.Of("writes of the logger", fact.PerSec, l.writes, p.WindowLength())
	if rate.Value < loggerRate {
		return
	}
	waiting, throughput := l.queue.Waiting(p, "goroutines waiting for the logger, on average"), l.gainWithout(p)
	switch {
	case waiting.Value >= loggerWaiters && throughput.Value >= worthwhile:
		f := loggerFinding(p, &l, rate, waiting)
		f.Cost = diagnosis.CostOf(waiting, l.queue.Share(p, "their time in it").Value)
		f.Bound = queueing.TurnsLimit(throughput, l.writes, "if nothing were logged, with its part of the collector's and the scheduler's work")
		f.Experiment = codeChange(diagnosis.ThroughputMetric(p.Model), "", loggerNote)
		p.Report(f)
	case l.share.Value >= loggerShare:
		f := loggerFinding(p, &l, rate, waiting)
		f.Cost = l.cpu.Cost(l.share)
		f.Bound = l.cpu.Estimate(l.most, "lines that are kept and buffered still have to be formatted")
		f.Experiment = codeChange(diagnosis.CPUPerOp, "", loggerNote)
		p.Report(f)
	default:
		p.Fine(fact.Sentence("logging: %s lines a second, %s goroutines wait for the logger on average", rate.Number(), waiting))
	}
}

// gainWithout returns the most by which throughput can grow when nothing is logged: those who log
// do not wait for the lock then, nor write for as long as that takes, nor have to get a P
// again after either. Which of their waits for one these are is not told, so all count.
func (l *logging) gainWithout(p *diagnosis.Pass) fact.Fact {
	groups := l.queue.Groups
	written := p.Waits("time in writes of the logger", model.SyscallWait, func(w *model.Wait) bool {
		return slices.Contains(groups, w.Group) && logsLocked(p.Model.Stacks.Frames(w.Stack))
	})
	ready := p.Goroutines("time that those who log wait for a P", groups, "runnable")
	computed := fact.Product.Of("time in logging on a P", fact.Seconds, l.most, p.Goroutines("time that those who log run", groups, "running"))
	freed := append(l.queue.Frees(p, nil), queueing.StolenPs(p)...)
	if l.most.Value > 0 {
		freed = append(queueing.StolenPs(p), fact.Product.Of("CPU in logging", fact.Cores, l.most, fact.Smallest.Of("busy Ps with a CPU", fact.Cores, cpu.BusyPs(p), l.cpu.InUse())))
	}
	wait := fact.SumOf("time waiting for the logger or in it", fact.Seconds, l.queue.WaitTime(p), written, ready, computed)
	return queueing.FasterBy(p, groups, wait, l.queue.Has, freed...)
}

const loggerNote = "A test without code: the same run with the log at level error, or its output to /dev/null. " +
	"Write calls per operation are a count and show that the change was made."

func measureLogging(p *diagnosis.Pass) (l logging) {
	l.queue.Kind = queueing.Lock
	for _, q := range queueing.Queues(p) {
		if q.Kind == queueing.Lock && logsLocked(p.Model.Stacks.Frames(q.Stacks[0])) {
			l.queue.Merge(q)
		}
	}
	byStack := map[model.Stack]int64{}
	l.writes = p.WaitCount("writes of the logger", model.SyscallWait, func(w *model.Wait) bool {
		if !logsLocked(p.Model.Stacks.Frames(w.Stack)) {
			return false
		}
		byStack[w.Stack] += w.Count
		return true
	})
	if stacks := statistics.Largest(byStack); len(stacks) > 0 {
		l.stack = stacks[0]
	}
	if s, ok := cpu.UseOf(p); ok {
		l.cpu, l.share, l.most = s, s.ShareIn("CPU in logging", logsLocked), s.MaxSaving("logging", logsLocked)
	}
	return l
}

func loggerFinding(p *diagnosis.Pass, l *logging, rate, waiting fact.Fact) diagnosis.Finding {
	place := code.ProgramPlace(p, l.stack) // and not the logger's
	if place == (diagnosis.Place{}) {
		place = code.UserPlace(p, l.stack)
	}
	f := diagnosis.Finding{
		Where:      code.Places(place, l.queue.Place(p)),
		Evidence:   []fact.Fact{rate, waiting, cpu.BusyPs(p)},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the logger is named by its functions, in waits for its lock and in system calls under it"},
		RuledOut: []string{
			"a buffered log: each line is a system call",
			"locks of the program's own: only the logger's functions are counted",
		},
		Groups: l.queue.Groups,
		Stacks: append(slices.Clone(l.queue.Stacks), l.stack),
		Remedy: diagnosis.Remedy{
			Text: "Log less on the path of every operation: a level that is off by default, checked before arguments are built, " +
				"or one line in a hundred. What must be kept goes through a buffer that is flushed every second and at the end " +
				"(lines in it are lost in a crash): log.SetOutput, slog.NewJSONHandler and zap's BufferedWriteSyncer take any writer.",
			Code: "if logger.Enabled(ctx, slog.LevelDebug) {\n\tlogger.LogAttrs(ctx, slog.LevelDebug, \"done\", slog.Int(\"n\", n))\n}",
		},
	}
	if o := p.Model.Operations(); o != nil {
		done := p.Statistic(fact.LoadResults, o.Name, o.Name, o.Count, fact.Count).From(o.Source)
		f.Rest(fact.Quotient.Of("writes of the logger, for each of "+o.Name, fact.Factor, l.writes, done))
	}
	if l.cpu.CPUAccount != nil {
		f.Rest(l.share)
	}
	if l.share.Value >= loggerShare {
		f.Confidence = diagnosis.High
		f.Reasons = append(f.Reasons, fact.Sentence("CPU samples agree: %s of the CPU is in logging", l.share))
	}
	f.Say("%s log lines a second are written one by one while the logger is locked, most of them from %s: "+
		"%s goroutines wait for it on average.",
		rate.Number(), code.Name(place.Function), waiting)
	if len(f.Groups) == 0 {
		f.Groups = code.GroupsOfStacks(p.Model, f.Stacks)
	}
	return f
}
