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

//go:embed fsyncbound.md
var fsyncboundPage string

var fsyncbound = &diagnosis.Rule{
	Name:     "fsyncbound",
	Title:    "The work waits for the disk to have it safe",
	Doc:      fsyncboundPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"syscallbound", "idleprocs", "hotmutex", "lockedio", "loggerlock", "funnelchannel", "futexstorm"},
	Check:    checkFsyncbound,
}

const (
	// fsyncShare is the part of the working time of those who sync from which it
	// is a finding, however seldom they do: at half, twice the throughput is behind it. A
	// writer that syncs each record is at 86 to 99 %.
	fsyncShare = 0.5
	// fsyncOften and fsyncSome are the same where syncs are short and many: then
	// what is written and locked around each takes as long and goes with it. An
	// SQLite that commits each row was at 26 % with 1,249 syncs a second, one
	// that commits five hundred together at 22 to 27 % with 17 to 32.
	fsyncOften = 200
	fsyncSome  = 0.2
	// fsyncRate is the least number of calls a second: below, they are
	// checkpoints however long each takes.
	fsyncRate = 10
)

// syncCalls wait until a file is on the disk.
var syncCalls = []string{
	"os.(*File).Sync", "internal/poll.(*FD).Fsync", "syscall.Fsync", "syscall.Fdatasync", "syscall.Sync", "syscall.fsync", "syscall.fdatasync",
	"golang.org/x/sys/unix.Fsync", "golang.org/x/sys/unix.Fdatasync", "golang.org/x/sys/unix.Msync", "golang.org/x/sys/unix.SyncFileRange",
	"modernc.org/libc.Xfsync", "modernc.org/libc.Xfdatasync",
}

func syncsFile(frames []model.Frame) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool { return slices.Contains(syncCalls, f.Func) })
}

// fsyncs are the calls of those that sync and the time these work.
type fsyncs struct {
	total  time.Duration
	count  int64
	stacks []model.Stack // the longest total first
	groups []string
	work   time.Duration // of the groups, waits for work left out
}

func (f *fsyncs) mean() time.Duration { return f.total / time.Duration(max(1, f.count)) }
func (f *fsyncs) share() float64      { return min(1, div(f.total.Seconds(), f.work.Seconds())) }

func checkFsyncbound(p *diagnosis.Pass) {
	f := measureFsyncs(p.Model)
	wall := div(f.total.Seconds(), p.Seconds())
	rate := div(float64(f.count), p.Seconds())
	if f.count == 0 {
		return
	}
	least := fsyncShare
	if rate >= fsyncOften {
		least = fsyncSome
	}
	// Half of little working time is nothing: the share must be that of the window, too.
	if f.share() < least || wall < least || rate < fsyncRate {
		p.Fine(fmt.Sprintf("files: %s syncs a second take %s of the time of those who ask for them", num(rate), pct(f.share())))
		return
	}
	factor, method := fsyncFactor(p, &f)
	if factor < worthwhile {
		p.Fine(fmt.Sprintf("files: %s syncs a second, but %s of %d Ps are busy: the disk is not the limit", num(rate), num(working(p)), p.Procs()))
		return
	}
	p.Report(fsyncFinding(p, &f, wall, rate, factor, method))
}

func measureFsyncs(m *model.Model) (f fsyncs) {
	by, groups := map[model.Stack]time.Duration{}, map[string]time.Duration{}
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Kind != model.SyscallWait || !syncsFile(m.Stacks.Frames(w.Stack)) {
			continue
		}
		f.total += w.Total
		f.count += w.Count
		by[w.Stack] += w.Total
		groups[w.Group] += w.Total
	}
	f.stacks, f.groups = largest(by), largest(groups)
	for _, g := range groupsOf(m, f.groups) {
		f.work += g.Total() - leisure(g)
	}
	f.work = max(f.work, f.total)
	return f
}

// leisure is the time that a group waits to be given work, or for time.
func leisure(g *model.Group) (d time.Duration) {
	for reason, t := range g.Blocked {
		if reason == "" || reason == "network" || reason == "sleep" || strings.HasPrefix(reason, "chan receive") || strings.HasPrefix(reason, "select") || reason == "sync.(*Cond).Wait" {
			d += t
		}
	}
	return d
}

func fsyncFactor(p *diagnosis.Pass, f *fsyncs) (factor float64, method string) {
	factor, byP, byR := fact.Closed{
		Cores: usableProcs(p), Busy: max(minBusy, cpuBusy(p)), Whole: f.work.Seconds(), Wait: f.total.Seconds(),
	}.Asymptotic()
	return factor, fmt.Sprintf("asymptotic bound of a closed system: min(P ÷ Ps that run goroutines = %s, working time ÷ working time without this wait = %s); one sync for many pieces of work leaves a part of it, and the disk still has to take the bytes", times(byP), times(byR))
}

// cpuBusy is the Ps that ran goroutines or the collector. A P whose goroutine is
// in a system call that waits does not use a core.
func cpuBusy(p *diagnosis.Pass) float64 {
	var d time.Duration
	for _, proc := range p.Model.Sched.Procs {
		d += proc.User + proc.GC
	}
	return div(d.Seconds(), p.Seconds())
}

func fsyncFinding(p *diagnosis.Pass, s *fsyncs, wall, rate, factor float64, method string) diagnosis.Finding {
	lib, _ := p.UserPlace(s.stacks[0])
	asks, ok := own(p, s.stacks[0])
	if !ok {
		asks = lib
	}
	return diagnosis.Finding{
		Summary: fmt.Sprintf("%s waits for the disk %s of its working time: %s syncs a second, %s each.",
			short(asks.Function), pct(s.share()), num(rate), dur(s.mean())),
		Where: where(asks, lib),
		Evidence: []fact.Fact{
			{Name: "working time in syncs", Value: s.share(), Unit: fact.Ratio, Source: "trace: system calls ÷ time of those goroutines, waits for work left out"},
			{Name: "goroutines in a sync on average", Value: wall, Unit: fact.Count, Source: "trace: system calls ÷ window"},
			{Name: "syncs", Value: rate, Unit: fact.PerSec, Source: "trace: system calls"},
			{Name: "one sync, mean", Value: s.mean().Seconds(), Unit: fact.Seconds, Source: "trace: system calls"},
			{Name: "Ps that run goroutines", Value: cpuBusy(p), Unit: fact.Cores, Source: "trace: Ps"},
		},
		Cost: diagnosis.Cost{Value: wall, Unit: fact.Count, Share: s.share(), What: "goroutines waiting for the disk, on average"},
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "throughput factor if nobody waited for a sync: " + method,
		},
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"one kind of evidence, the trace: " + num(s.count) + " calls with their stacks",
			"what must be on the disk before the answer is given is yours to judge",
		},
		RuledOut: []string{
			"reads and writes: only fsync and its kin are counted",
			fmt.Sprintf("checkpoints now and then: there are %s a second", num(rate)),
			fmt.Sprintf("a full machine: %s of %d Ps run goroutines", num(cpuBusy(p)), p.Procs()),
		},
		Groups: s.groups,
		Stacks: s.stacks,
		Remedy: diagnosis.Remedy{
			Text: "Let one sync serve many: collect what comes while the last sync runs, write it, sync once, and answer all of them (group commit). In SQL that is one transaction for a batch of rows; in SQLite also journal_mode=WAL with synchronous=NORMAL, which syncs at checkpoints (the last transactions may be lost when the power fails, the file stays whole). Drop syncs that protect nothing: of files that are made anew after a crash.",
			Code: "for batch := range pending { // all that came during the last sync\n\tfor _, r := range batch {\n\t\tw.Write(r.data)\n\t}\n\terr := f.Sync()\n\tfor _, r := range batch {\n\t\tr.done <- err\n\t}\n}",
		},
		Experiment: changed(diagnosis.ThroughputMetric(p.Model), "", "Syncs per operation are a count and show whether the change was made. A test without code: the same run on a file system in memory; if it is not faster, this finding is refuted."),
	}
}
