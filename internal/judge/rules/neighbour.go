package rules

import (
	_ "embed"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed neighbour.md
var neighbourPage string

var neighbour = &diagnosis.Rule{
	Name:       "neighbour",
	Title:      "Other processes take the CPU (noisy neighbour)",
	Doc:        neighbourPage,
	Needs:      []model.Source{model.ProcFS},
	Explains:   []string{"starved", "schedlatency", "slowstop", "gcassist"},
	Disturbing: true,
	Whole:      true,
	Check:      checkNeighbour,
}

const (
	// neighbourSteal is the part of the machine's CPU time that the
	// hypervisor must have given to other machines. The catalogue's figure;
	// the virtual machine that the rule was made on showed 0.1%.
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
	cpu, cores fact.Fact // of the process, as a time and by time
	queueing   fact.Fact // ready and without a CPU for each second of CPU, its group's stops taken off
	others     fact.Fact // CPU of other processes, the recorder left out, by time
	busy       fact.Fact // share of the machine that they used
	steal      fact.Fact // share of the machine that the hypervisor took
	full       fact.Fact // share of the window in which the machine was full
	wait       fact.Fact // mean, each time that a thread was ready
	stall      fact.Fact // share of the window in which somebody waited
	pressure   bool      // whether that is known
	stops      bool      // there is a quota, and its stops were not counted
	// taken is the most CPU that others can have kept from the process, and lost
	// the part that it is of what the process would have had.
	taken, lost fact.Fact
}

func checkNeighbour(p *diagnosis.Pass) {
	const what = "whether others took the CPU"
	c, ok := measureContest(p)
	waits := c.queueing.Value >= neighbourQueue
	switch {
	case !ok:
		p.Unchecked(what, "the counters of the process and of the machine were not read twice", p.HowToGet(model.ProcFS))
	case c.cpu.Duration() < neighbourTicks:
		// Nothing to take from a program at rest.
	case c.stops && c.steal.Value < neighbourSteal && waits:
		p.Unchecked(what, fact.Sentence("threads waited %s for each second of CPU, and how much of it was the "+
			"quota of their control group is not known", c.queueing),
			"grep -H . /sys/fs/cgroup/cpu.stat")
	case c.lost.Value >= neighbourLoss && (c.steal.Value >= neighbourSteal || waits && c.busy.Value >= neighbourBusy && c.full.Value >= neighbourFull):
		p.Report(neighbourFinding(p, &c))
	case waits && c.full.Value < neighbourFull:
		p.Fine(fact.Sentence("CPUs of the machine: others used %s and left some idle; a thread waited %s each time "+
			"that it was ready", c.busy, c.wait))
	case waits:
		p.Fine(fact.Sentence("CPUs of the machine: threads waited %s for each second of CPU, but for each other: "+
			"others used %s of the machine", c.queueing, c.busy))
	default:
		p.Fine(fact.Sentence("CPUs of the machine: others used %s, and threads of this process waited %s for each "+
			"second of CPU", c.busy, c.queueing))
	}
}

func measureContest(p *diagnosis.Pass) (c contest, ok bool) {
	m := p.Model
	n, _ := m.Neighbours()
	if c.cores, ok = cpu.ProcessCPU(p); !ok {
		return c, false
	}
	first, _, ok := m.Machine.Window()
	if !ok || m.Machine.CPUs <= 0 {
		return c, false
	}
	had := func(what, name string, d time.Duration) fact.Fact {
		return p.Statistic(fact.Machine, what, name, d.Seconds(), fact.Seconds).From(model.ProcFS)
	}
	c.cpu = cpu.TimeOfProcess(p)
	window := p.Machine("time between readings of the machine", "time", fact.Change)
	capacity := had("CPUs × window", "time of all CPUs", n.Capacity)
	others := had("busy, less the process and the recorder", "CPU time of others", n.Others)
	stolen := p.Machine("time that the hypervisor took", "steal", fact.Change)
	c.others = fact.Quotient.Of("CPU of others", fact.Cores, others, window)
	c.busy = fact.Fraction.Of("share of the machine that others used", fact.Ratio, others, capacity)
	c.steal = fact.Fraction.Of("share of the machine that the hypervisor took", fact.Ratio, stolen, capacity)
	full := had("less than a tenth idle", "time in which the machine was full", n.Full)
	c.full = fact.Fraction.Of("share of the time with less than a tenth of the machine idle", fact.Ratio, full, window)
	c.stall = fact.Fraction.Of("share of the time in which somebody waited for a CPU", fact.Ratio,
		p.Machine("time in which somebody waited for a CPU", "cpu_stall", fact.Change), window)
	c.pressure = first.CPUStall >= 0

	waited := p.Process("time ready without a CPU", "run_queue", fact.Growth)
	switches := fact.Sum.Of("times that a thread was ready", fact.Count,
		p.Process("threads that went to sleep", "voluntary", fact.Change),
		p.Process("threads that were put aside", "involuntary", fact.Change))
	c.wait = fact.Quotient.Of("one wait for a CPU, mean", fact.Seconds, waited, switches)
	queue := had("ready without a CPU, while the machine was full", "time ready without a CPU while the machine was full", n.FullWaited)
	// A stopped group's threads are ready too, and no neighbour's doing.
	if _, _, ok := m.Limits.Window(); ok {
		stopped := p.ControlGroup("time that the group was stopped", "throttled_time", fact.Growth)
		waited = fact.Difference.Of("the same without the group's stops", fact.Seconds, waited, stopped)
		queue = fact.Difference.Of("the same without the group's stops", fact.Seconds, queue, stopped)
	} else if m.Limits != nil && m.Limits.Quota > 0 {
		c.stops = true
	}
	c.queueing = fact.Quotient.Of("ready without a CPU, for each second of CPU", fact.Seconds, waited, c.cpu)

	// Three limits, each while the machine was full: what the process waited, what
	// others used, and what was left of the cores that it may use. The last
	// tells its own threads' crowding from others': who has all his cores has
	// no neighbour.
	room := fact.Difference.Of("rest of the cores that the process may use", fact.Seconds,
		fact.Product.Of("time of the cores that the process may use", fact.Seconds, cpu.AllowedCores(p), full),
		had("of the process, while the machine was full", "CPU of the process while the machine was full", n.FullOwn))
	crowded := fact.Smallest.Of("CPU that others had while its threads were ready", fact.Seconds,
		queue, had("of others, while the machine was full", "CPU of others while the machine was full", n.FullOthers), room)
	own := had("of the process", "CPU time of the process", n.Own)
	part := fact.Fraction.Of("part of the process in the CPU used", fact.Ratio, own, fact.Sum.Of("CPU time used", fact.Seconds, own, others))
	c.taken = fact.Sum.Of("CPU time taken, at most", fact.Seconds, crowded,
		fact.Product.Of("its part of what the hypervisor took", fact.Seconds, part, stolen))
	c.lost = fact.Fraction.Of("part of the CPU that it would have had", fact.Ratio, c.taken, c.fullCPU())
	return c, true
}

// fullCPU returns the CPU that the process would have had.
func (c *contest) fullCPU() fact.Fact {
	return fact.Sum.Of("CPU that it would have had", fact.Seconds, c.cpu, c.taken)
}

// keepsUp reports whether what a load offered was served.
func keepsUp(p *diagnosis.Pass) bool {
	l := p.Model.Load
	return l != nil && l.Offered > 0 && l.Offered < overloadOffered*l.Rate
}

// generatorPart is the part of what others used from which the load generator is who they
// are: with half of it, the machine was full for its sake.
const generatorPart = 0.5

// whoElse says who the others are, as far as the evidence tells: the load generator counts
// its own CPU, all others are one sum.
func whoElse(p *diagnosis.Pass, c *contest) string {
	l := p.Model.Load
	if l == nil || l.Generator.CPU <= 0 || c.others.Value <= 0 {
		return "Who it was is not in the recording: `gowhy top` and `top` say who runs now, and a load generator " +
			"or a build on the same machine counts."
	}
	used, _ := generatorCPU(p)
	if part := fact.Fraction.Of("part of the load generator in it", fact.Ratio, used, c.others); part.Value >= generatorPart {
		return fact.Sentence("It is the load generator, by its own account: it used %s of the %s. Let it run on another machine.", used, c.others)
	}
	return fact.Sentence("The load generator used %s of the %s by its own account; who used the rest is not in the recording: "+
		"`gowhy top` and `top` say who runs now.", used, c.others)
}

func neighbourFinding(p *diagnosis.Pass, c *contest) diagnosis.Finding {
	taken := fact.Quotient.Of("CPU that others had while threads of this process were ready, at most", fact.Cores,
		c.taken, p.Process("time between readings of the process", "time", fact.Change))
	f := diagnosis.Finding{
		Remark:     true, // of the recording: nothing is wrong with the program
		Evidence:   []fact.Fact{c.queueing, c.wait, c.cores, c.others, c.busy, c.full, c.steal, cpu.AllowedCores(p)},
		Cost:       diagnosis.CostOf(taken, c.lost.Value),
		Bound:      noSaving(fact.Factor, diagnosis.Throughput, "nothing in the program is wrong, so that no change of it brings anything"),
		Confidence: diagnosis.Medium,
		Reasons: []string{"who took a CPU from whom is not recorded; that others used it while threads of this " +
			"process were ready is"},
		RuledOut: []string{
			fact.Sentence("its own threads in each other's way: the process had %s of the %s that it may "+
				"use", c.cores.Number(), cpu.AllowedCores(p)),
			"a CPU quota: time that the group was stopped is taken off the waits",
			"waits to be woken: what was waited while the machine had CPUs idle is not counted as taken",
			"the recording: what the recorder used is not counted for others",
		},
		Remedy: diagnosis.Remedy{
			Text: "Nothing to change in the program. " + whoElse(p, c) +
				" Move it, or give it less weight or CPUs of its own (cpu.weight, cpuset.cpus). " +
				"Steal is the hypervisor's: another instance type or a dedicated host. " +
				"Until then don't trust elapsed times; CPU per operation and counts still hold.",
		},
		Prove: fact.Sentence("Nothing to change in the program, so there are no two variants to compare. "+
			"Record the same load on a quiet machine: the wait for each second of CPU, now %s, falls below %s.",
			c.queueing, fact.Name(fact.Seconds.Format(neighbourQueue))),
	}
	short := c.cores.Value >= minBusy && !keepsUp(p) // of CPU, for its work
	if l := p.Model.Load; l != nil && l.Generator.CPU > 0 {
		used, _ := generatorCPU(p)
		f.Evidence = append(f.Evidence, used)
	}
	format, parts := "Threads waited %s for a CPU for each second that they got one, while others used %s of the machine", []fact.Part{c.queueing, c.busy}
	if c.steal.Value >= neighbourSteal {
		format, parts = "The hypervisor took %s of the machine's CPU time, and other processes used %s", []fact.Part{c.steal, c.busy}
	}
	if short {
		format, parts = format+": up to %s of the CPU that the process would have had went to them", append(parts, c.lost)
	}
	f.Say(format+".", parts...)
	if c.pressure {
		f.Evidence = append(f.Evidence, c.stall)
		if c.stall.Value >= neighbourStall {
			f.Confidence = diagnosis.High
			f.Reasons = append(f.Reasons, "two counters agree: the waits of its threads, and the pressure on the "+
				"machine's CPUs")
		}
	}
	return f
}
