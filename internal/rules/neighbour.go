package rules

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed neighbour.md
var neighbourPage string

var neighbour = &diagnosis.Rule{
	Name:     "neighbour",
	Title:    "Others on the machine take the CPU",
	Doc:      neighbourPage,
	Needs:    []model.Source{model.ProcFS},
	Explains: []string{"starved", "schedlatency", "slowstop", "gcassist"},
	Untimed:  true,
	Check:    checkNeighbour,
}

const (
	// neighbourSteal is the part of the machine's CPU time that the
	// hypervisor must have given to other machines. The catalogue's figure;
	// the virtual machine that the rule was made on showed 0.1 %.
	neighbourSteal = 0.03
	// neighbourQueue is how long threads must have been ready and without a
	// CPU for each second of CPU that they got. Beside four busy processes on
	// two CPUs it was 11 to 14, beside occasional work of others 0.02 to 0.11;
	// the catalogue's figure lies between.
	neighbourQueue = 0.2
	// neighbourBusy is the part of the machine's CPU time that others must
	// have used: less cannot have been in anybody's way for long.
	neighbourBusy = 0.10
	// neighbourStall is the part of the time in which somebody on the machine
	// waited for a CPU (PSI), from which it agrees with the waits of the
	// process. Alone it says nothing: the process may be the one that crowds.
	neighbourStall = 0.10
	// neighbourFull is the part of the time in which less than a tenth of the
	// machine was idle. A web server at a thirtieth of a core waited 1.7 s for
	// each second of CPU though others used a seventh of the machine, and one
	// at a fifth of a core 2.4 s beside a load generator that left a sixth of
	// it idle: 0.1 ms each time that a thread was ready. Both had the CPU that
	// they needed.
	neighbourFull = 0.10
	// neighbourLoss is the least share of its possible CPU that the process
	// must have lost. Run-to-run noise of a shared machine is as large.
	neighbourLoss = 0.05
	// neighbourTicks is the least CPU time, ten times the counters'
	// resolution, from which shares of it are taken.
	neighbourTicks = 100 * time.Millisecond
)

// A contest is who used the machine's CPUs, as far as it concerns the process.
type contest struct {
	use    cpuUse
	queue  time.Duration // ready and without a CPU, its group's stops taken off
	others time.Duration // CPU that other processes used, the recorder left out
	steal  time.Duration
	whole  time.Duration // CPUs × window
	window time.Duration
	full   float64       // part of the window in which the machine was full
	wait   time.Duration // mean, each time that a thread was ready
	stall  float64       // part of the window in which somebody waited; negative when not known
	stops  bool          // there is a quota, and its stops were not counted
	// taken is the most CPU that others can have kept from the process.
	taken time.Duration
}

func (c *contest) stealShare() float64 { return div(c.steal.Seconds(), c.whole.Seconds()) }
func (c *contest) busyShare() float64  { return div(c.others.Seconds(), c.whole.Seconds()) }
func (c *contest) queueing() float64   { return div(c.queue.Seconds(), c.use.total().Seconds()) }

// lost is the part of the CPU that the process would have had.
func (c *contest) lost() float64 {
	return div(c.taken.Seconds(), (c.taken + c.use.total()).Seconds())
}

func checkNeighbour(p *diagnosis.Pass) {
	const what = "whether others took the CPU"
	c, ok := measureContest(p.Model)
	switch {
	case !ok:
		p.Unchecked(what, "the counters of the process and of the machine were not read twice", diagnosis.HowToGet(model.ProcFS))
	case c.use.total() < neighbourTicks:
		// Nothing to take from a program at rest.
	case c.stops && c.stealShare() < neighbourSteal && c.queueing() >= neighbourQueue:
		p.Unchecked(what, fmt.Sprintf("threads waited %s for each second of CPU, and how much of it was the quota of their control group is not known", dur(time.Duration(c.queueing()*float64(time.Second)))), "grep -H . /sys/fs/cgroup/cpu.stat")
	case c.lost() >= neighbourLoss && (c.stealShare() >= neighbourSteal || c.queueing() >= neighbourQueue && c.busyShare() >= neighbourBusy && c.full >= neighbourFull):
		p.Report(neighbourFinding(p, c))
	case c.queueing() >= neighbourQueue && c.full < neighbourFull:
		p.Fine(fmt.Sprintf("CPUs of the machine: others used %s and left some idle; a thread waited %s each time that it was ready", pct(c.busyShare()), dur(c.wait)))
	case c.queueing() >= neighbourQueue:
		p.Fine(fmt.Sprintf("CPUs of the machine: threads waited %s for each second of CPU, but for each other: others used %s of the machine", dur(time.Duration(c.queueing()*float64(time.Second))), pct(c.busyShare())))
	default:
		p.Fine(fmt.Sprintf("CPUs of the machine: others used %s, and threads of this process waited %s for each second of CPU", pct(c.busyShare()), dur(time.Duration(c.queueing()*float64(time.Second)))))
	}
}

func measureContest(m *model.Model) (c contest, ok bool) {
	use, ok := rusage(m)
	n, too := m.Neighbours()
	if !ok || !too || m.Machine.CPUs <= 0 {
		return contest{}, false
	}
	first, last, _ := m.Machine.Window()
	from, to, _ := m.Process.Window()
	c = contest{use: use, queue: n.Waited, others: n.Others, steal: n.Steal, whole: n.Capacity, window: n.Window, full: div(n.Full.Seconds(), n.Window.Seconds()), stall: -1}
	c.wait = n.Waited / time.Duration(max(1, to.Voluntary+to.Involuntary-from.Voluntary-from.Involuntary))
	queue := n.FullWaited
	// A stopped group's threads are ready too, and no neighbour's doing.
	if begin, end, ok := m.Limits.Window(); ok {
		stopped := max(0, end.ThrottledTime-begin.ThrottledTime)
		c.queue, queue = max(0, c.queue-stopped), max(0, queue-stopped)
	} else if m.Limits != nil && m.Limits.Quota > 0 {
		c.stops = true
	}
	if first.CPUStall >= 0 && last.CPUStall >= first.CPUStall {
		c.stall = div((last.CPUStall - first.CPUStall).Seconds(), (last.At - first.At).Seconds())
	}
	// Three limits, each while the machine was full: what the process waited, what
	// others used, and what was left of the cores that it may use. The last
	// tells its own threads' crowding from others': who has all his cores has
	// no neighbour.
	room := time.Duration(m.Usable()*float64(n.Full)) - n.FullOwn
	own := div(n.Own.Seconds(), (n.Own + n.Others).Seconds())
	c.taken = max(0, min(queue, n.FullOthers, room)) + time.Duration(own*float64(c.steal))
	return c, true
}

func neighbourFinding(p *diagnosis.Pass, c contest) diagnosis.Finding {
	factor := 1 / max(1-c.lost(), 0.01)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("Threads waited %s for a CPU for each second that they got one, while others used %s of the machine: up to %s of the CPU that the process would have had went to them.",
			dur(time.Duration(c.queueing()*float64(time.Second))), pct(c.busyShare()), pct(c.lost())),
		Evidence: []fact.Fact{
			{Name: "ready without a CPU, for each second of CPU", Value: c.queueing(), Unit: fact.Seconds, Source: "/proc: schedstat of all threads, the group's stops taken off"},
			{Name: "CPU of the process", Value: c.use.cores(), Unit: fact.Cores, Source: "/proc: CPU time of the process"},
			{Name: "CPU of others", Value: div(c.others.Seconds(), c.window.Seconds()), Unit: fact.Cores, Source: "/proc/stat less the process and the recorder"},
			{Name: "share of the machine that others used", Value: min(1, c.busyShare()), Unit: fact.Ratio, Source: "/proc/stat less the process and the recorder"},
			{Name: "share of the time with less than a tenth of the machine idle", Value: min(1, c.full), Unit: fact.Ratio, Source: "/proc/stat: idle and iowait"},
			{Name: "share of the machine that the hypervisor took", Value: min(1, c.stealShare()), Unit: fact.Ratio, Source: "/proc/stat: steal"},
			{Name: "cores that the process may use", Value: p.Model.Usable(), Unit: fact.Cores, Source: "affinity, quota and CPUs online"},
		},
		Cost: diagnosis.Cost{
			Value: div(c.taken.Seconds(), c.use.window.Seconds()), Unit: fact.Cores, Share: c.lost(), What: "CPU that others had while threads of this process were ready, at most",
		},
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "throughput factor of work that is short of CPU, if nobody else were there: (CPU + taken) ÷ CPU, where taken is the least of the time that threads were ready without a CPU, the CPU that others used, and the rest of the cores that the process may use, each while the machine was full, and its part of what the hypervisor took. Less where the load sets the pace",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"who took a CPU from whom is not recorded; that others used it while threads of this process were ready is"},
		RuledOut: []string{
			fmt.Sprintf("its own threads in each other's way: the process had %s of the %s cores that it may use", num(c.use.cores()), num(p.Model.Usable())),
			"a CPU quota: time that the group was stopped is taken off the waits",
			"waits to be woken: what was waited while the machine had CPUs idle is not counted as taken",
			"the recording: what the recorder used is not counted for others",
		},
		Remedy: diagnosis.Remedy{
			Text: "Nothing in the program is to be changed. Find who else runs (`top`, and the other containers of the host) and move it, give it less weight or CPUs of its own (cpu.weight, cpuset.cpus); a load generator or a build on the same machine is such a neighbour too. Steal is the hypervisor's: another instance type or a dedicated host. Until then judge nothing by the clock: CPU per operation and other counts bear it, elapsed times do not.",
		},
		Prove: fmt.Sprintf("Nothing of the program is to be changed, so that there is nothing to compare in turns. Record the same load on a quiet machine: the wait for each second of CPU, now %s, falls below %s, and throughput rises by no more than %s.", dur(time.Duration(c.queueing()*float64(time.Second))), dur(time.Duration(neighbourQueue*float64(time.Second))), times(factor)),
	}
	if c.stealShare() >= neighbourSteal {
		f.Summary = fmt.Sprintf("The hypervisor took %s of the machine's CPU time, and other processes used %s: up to %s of the CPU that the process would have had went to them.", pct(c.stealShare()), pct(c.busyShare()), pct(c.lost()))
	}
	switch {
	case c.stall >= neighbourStall:
		f.Confidence = diagnosis.High
		f.Reasons = append(f.Reasons, "two counters agree: the waits of its threads, and the pressure on the machine's CPUs")
		f.Evidence = append(f.Evidence, fact.Fact{Name: "share of the time in which somebody waited for a CPU", Value: min(1, c.stall), Unit: fact.Ratio, Source: "PSI: cpu some"})
	case c.stall >= 0:
		f.Evidence = append(f.Evidence, fact.Fact{Name: "share of the time in which somebody waited for a CPU", Value: min(1, c.stall), Unit: fact.Ratio, Source: "PSI: cpu some"})
	}
	return f
}
