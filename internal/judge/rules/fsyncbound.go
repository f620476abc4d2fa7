package rules

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed fsyncbound.md
var fsyncboundPage string

var fsyncbound = &diagnosis.Rule{
	Name:  "fsyncbound",
	Title: "The work waits for fsync",
	Doc:   fsyncboundPage,
	// No Needs: a trace tells who waits in syncs, and so do the kernel's switches.
	Explains: []string{"syscallbound", "idleprocs", "hotmutex", "lockedio", "loggerlock", "funnelchannel", "futexstorm"},
	Check:    checkFsyncbound,
}

const (
	// fsyncShare is the part of the working time of those who sync from which it
	// is a finding, however seldom they do: at half, twice the throughput is behind it. A
	// writer that syncs each record is at 86 to 99%.
	fsyncShare = 0.5
	// fsyncOften and fsyncSome are the same where syncs are short and many: then
	// what is written and locked around each takes as long and goes with it. An
	// SQLite that commits each row was at 26% with 1,249 syncs a second, one
	// that commits five hundred together at 22 to 27% with 17 to 32.
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
	return code.ContainsAny(frames, syncCalls)
}

// fsyncs are the calls of those that sync and the time these work.
type fsyncs struct {
	stacks []model.Stack // the longest total first
	groups []string
	// total is the time in syncs, and work that of the groups, waits for work left out.
	total, work                       fact.Fact
	count, rate, mean, average, share fact.Fact
	runs                              fact.Fact // what the program computes meanwhile
	reason, full                      string    // what it is taken from; that the CPU is not the limit
}

func checkFsyncbound(p *diagnosis.Pass) {
	var f fsyncs
	switch {
	case p.Model.Sched != nil:
		f = measureFsyncs(p)
	case p.Model.Has(model.OffCPU) && p.Model.Has(model.SyscallLog):
		f = measureOutside(p)
	default:
		p.Unchecked("waits for the disk", "neither a trace nor the kernel's switches and system calls were recorded", p.HowToGet(model.Trace))
		return
	}
	if f.rate.Value == 0 {
		return
	}
	least := fsyncShare
	if f.rate.Value >= fsyncOften {
		least = fsyncSome
	}
	// Half of little working time is nothing: the share must be that of the window, too.
	if f.share.Value < least || f.average.Value < least || f.rate.Value < fsyncRate {
		p.Fine(fact.Sentence("files: %s syncs a second take %s of the time of the goroutines that wait for them", f.rate.Number(), f.share))
		return
	}
	throughput := fact.Bottleneck.Of("throughput", fact.Factor, cpu.UsableCores(p), f.runs, f.work, queueing.WithEnds(p, f.total, f.work, f.groups))
	if throughput.Value < worthwhile {
		p.Fine(fact.Sentence("files: %s syncs a second, but %s of %s cores are busy: the disk is not the limit",
			f.rate.Number(), f.runs.Number(), cpu.UsableCores(p).Number()))
		return
	}
	p.Report(fsyncFinding(p, &f, throughput))
}

func measureFsyncs(p *diagnosis.Pass) (f fsyncs) {
	by, groups := map[model.Stack]time.Duration{}, map[string]time.Duration{}
	syncs := func(w *model.Wait) bool { return syncsFile(p.Model.Stacks.Frames(w.Stack)) }
	for i := range p.Model.Sched.Waits {
		if w := &p.Model.Sched.Waits[i]; w.Kind == model.SyscallWait && syncs(w) {
			by[w.Stack] += w.Total
			groups[w.Group] += w.Total
		}
	}
	f.stacks, f.groups = statistics.Largest(by), statistics.Largest(groups)
	f.total = p.Waits("time in syncs", model.SyscallWait, syncs)
	f.work = p.Goroutines("time of the goroutines that sync", f.groups, "total")
	if columns := leisure(code.Groups(p.Model, f.groups)); len(columns) > 0 {
		f.work = fact.Difference.Of("working time", fact.Seconds, f.work, p.Goroutines("their waits for work", f.groups, columns...))
	}
	f.work = f.work.Larger(f.total)
	f.count = p.WaitCount("syncs", model.SyscallWait, syncs)
	f.rate = fact.Quotient.Of("syncs", fact.PerSec, f.count, p.WindowLength())
	f.mean = fact.Quotient.Of("one sync, mean", fact.Seconds, f.total, f.count)
	f.average = fact.Quotient.Of("goroutines waiting for the disk, on average", fact.Count, f.total, p.WindowLength())
	f.share = fact.Fraction.Of("working time in syncs", fact.Ratio, f.total, f.work)
	f.runs = fact.Quotient.Of("Ps that run goroutines", fact.Cores,
		p.Processors("time of Ps that run goroutines", "user", "gc"), p.WindowLength())
	f.reason = fact.Sentence("one kind of evidence, the trace: %s calls a second with their stacks", f.rate.Number())
	f.full = fact.Sentence("a full machine: %s of %s Ps run goroutines", f.runs.Number(), cpu.Procs(p))
	return f
}

// fsyncCalls are the system calls behind syncCalls.
var fsyncCalls = []string{"fsync", "fdatasync", "msync", "sync_file_range"}

// measureOutside measures from what the kernel saw, of a program that gives no trace: the
// threads that were off the CPU in a sync, and how many of these calls there were. Who
// syncs may wait for work besides, which is not seen; so their work is taken to fill the
// window, where a trace would say less.
func measureOutside(p *diagnosis.Pass) (f fsyncs) {
	by := map[model.Stack]int64{}
	off := p.Model.Kernel.Off
	for i := range off.Samples {
		if s := &off.Samples[i]; syncsFile(p.Model.Stacks.Frames(s.Stack)) {
			by[s.Stack] += int64(s.Value(off.Column("offcpu")))
		}
	}
	if len(by) == 0 {
		return f
	}
	f.stacks = statistics.Largest(by)
	f.total = p.Samples("time in syncs", "offcpu", p.Frames(syncsFile))
	f.work = p.WindowLength().Larger(f.total)
	f.count = p.Syscalls("syncs", "calls", fsyncCalls...)
	f.rate = fact.Quotient.Of("syncs", fact.PerSec, f.count, p.SyscallWindow())
	f.average = fact.Quotient.Of("threads waiting for the disk, on average", fact.Count, f.total, p.WindowLength())
	f.mean = fact.Quotient.Of("one sync, mean", fact.Seconds, f.average, f.rate)
	f.share = fact.Fraction.Of("time of one thread in syncs", fact.Ratio, f.total, f.work)
	f.runs = p.CPUInUse()
	f.reason = "the kernel saw the threads wait and counted the calls; without a trace the waits for work of who syncs are not known"
	f.full = fact.Sentence("a full machine: %s of %s cores are used", f.runs.Number(), cpu.UsableCores(p).Number())
	return f
}

// leisure returns the columns of the time that groups wait to be given work, or for time.
func leisure(gs []*model.Group) (columns []string) {
	for _, g := range gs {
		for reason := range g.Blocked {
			if slices.Contains([]string{"", "network", "sleep", "sync.(*Cond).Wait"}, reason) ||
				strings.HasPrefix(reason, "chan receive") || strings.HasPrefix(reason, "select") {
				columns = append(columns, "blocked:"+reason)
			}
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

func fsyncFinding(p *diagnosis.Pass, s *fsyncs, throughput fact.Fact) diagnosis.Finding {
	lib, asks := code.UserPlace(p, s.stacks[0]), code.ProgramPlace(p, s.stacks[0])
	if asks == (diagnosis.Place{}) {
		asks = lib
	}
	f := diagnosis.Finding{
		Where:    code.Places(asks, lib),
		Evidence: []fact.Fact{s.share, s.average, s.rate, s.mean, s.runs},
		Cost:     diagnosis.CostOf(s.average, s.share.Value),
		Bound: queueing.TurnsLimit(throughput, queueing.TurnsOfEach(p, s.count, s.groups), "if nobody waited for a sync; one sync for many pieces of work leaves a "+
			"part of it, "+
			"and the disk still has to take the bytes"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			s.reason,
			"what must be on the disk before the answer is given is yours to judge",
		},
		RuledOut: []string{
			"reads and writes: only fsync and its kin are counted",
			fact.Sentence("checkpoints now and then: there are %s a second", s.rate.Number()),
			s.full,
		},
		Groups: s.groups,
		Stacks: s.stacks,
		Remedy: diagnosis.Remedy{
			Text: "Let one sync serve many: collect what comes while the last sync runs, write it, sync once, and " +
				"answer all of them " +
				"(group commit). In SQL that is one transaction for a batch of rows; in SQLite also " +
				"journal_mode=WAL with synchronous=NORMAL, " +
				"which syncs at checkpoints (the last transactions may be lost when the power fails, the file " +
				"stays whole). " +
				"Drop syncs that protect nothing: of files that are made anew after a crash.",
			Code: "for batch := range pending { // all that came during the last sync\n\tfor _, r := range batch {\n\t\tw.Write(r.data)\n\t}\n\terr := f.Sync()\n\tfor _, r := range batch {\n\t\tr.done <- err\n\t}\n}",
		},
		Experiment: codeChange(diagnosis.ThroughputMetric(p.Model), "", "Syncs per operation are a count and show whether the change was made. "+
			"A test without code: the same run on a file system in memory; if it is not faster, this finding is "+
			"refuted."),
	}
	spent := fact.Name("its working time")
	if p.Model.Sched == nil {
		spent = "the time"
	}
	f.Say("%s waits for the disk %s of %s: %s syncs a second, %s each.",
		code.Name(asks.Function), s.share, spent, s.rate.Number(), s.mean)
	return f
}
