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

//go:embed syscallbound.md
var syscallboundPage string

// syscallbound looks at a trace, which has every call with its stack, and
// without one at what the kernel counted and sampled.
var syscallbound = &diagnosis.Rule{
	Name:  "syscallbound",
	Title: "The work is in system calls",
	Doc:   syscallboundPage,
	Check: checkSyscallbound,
}

const (
	// syscallShare is the part of a group's active time, running or in
	// system calls, from which the calls are what it does.
	syscallShare = 0.5
	// syscallWeight is the part of the whole program's active time that the
	// group's calls must be, and syscallCores their least size, in
	// goroutines inside a call on average.
	syscallWeight = 0.2
	syscallCores  = 0.1
	// syscallIdle is the mean length from which a call is taken to wait for
	// an event (a child, a signal, a terminal) and not to work.
	syscallIdle = 100 * time.Millisecond
	// smallCall and manyCalls make calls "many and small": at 20 µs the
	// scheduler begins to take the P away, and below it entry, exit and
	// wake-ups are most of the price. The catalogue's rate.
	smallCall = 20 * time.Microsecond // also the least of a call that moves much; see bulk
	manyCalls = 10_000
)

func checkSyscallbound(p *diagnosis.Pass) {
	if p.Model.Sched == nil {
		checkKernelbound(p)
		return
	}
	calls := tracedCalls(p.Model)
	var users []string
	for i := range p.Model.Sched.Groups {
		if g := &p.Model.Sched.Groups[i]; !g.System {
			users = append(users, g.Name)
		}
	}
	in := calls.time(p, "time in system calls", func(w *model.Wait, _ string) bool { return slices.Contains(users, w.Group) })
	active := fact.Sum.Of("time that goroutines are active", fact.Seconds, p.Goroutines("time running", users, "running"), in)
	found, vain, spare := false, false, false
	for _, name := range users {
		c := measureCalls(p, calls, code.Group(p.Model, name))
		if !c.bound(active) {
			continue
		}
		if c.Syscall < c.SyscallBlocked && c.atLeisure(p) {
			spare = true
			continue
		}
		// The calls of a crowd that queues for the Ps are a symptom at most:
		// without them it would queue a little longer.
		if c.gain(p).Value < 1-1/worthwhile {
			vain = true
			continue
		}
		found = true
		f := syscallFinding(p, &c)
		addKernelFacts(p, &f)
		p.Report(f)
	}
	share := fact.Quotient.Of("active time in system calls", fact.Ratio, in, active)
	most := func(match func(op string) bool) bool {
		part := calls.time(p, "most", func(w *model.Wait, op string) bool { return slices.Contains(users, w.Group) && match(op) })
		return part.Value > in.Value/2
	}
	switch {
	case found:
	case vain:
		p.Fine(fact.Sentence("system calls: %s of the time that goroutines are active, but something else holds "+
			"those goroutines up", share))
	case spare:
		p.Fine(fact.Sentence("system calls: %s of the time that goroutines are active, but those that wait in them wait longer "+
			"to be given work", share))
	case most(func(op string) bool { return op == movesMuch }):
		p.Fine(fact.Sentence("system calls: %s of the time that goroutines are active, most of it to read and "+
			"write files in large pieces", share))
	case most(onNet):
		p.Fine(fact.Sentence("system calls: %s of the time that goroutines are active, most of it to read and "+
			"write sockets", share))
	default:
		p.Fine(fact.Sentence("system calls: %s of the time that goroutines are active, and no group lives on "+
			"them", share))
	}
}

// movesMuch is the name of calls that move data in large pieces.
const movesMuch = ""

// A callTable is the system calls of a trace by what the program asked for, those
// left out that wait for an event.
type callTable map[*model.Wait]string

func tracedCalls(m *model.Model) callTable {
	t := callTable{}
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Kind != model.SyscallWait || waitsForEvent(m, w) || inC(m, w.Stack) {
			continue
		}
		name := callName(m, w.Stack)
		if !onNet(name) && bulk(m, w) {
			name = movesMuch
		}
		t[w] = name
	}
	return t
}

func onNet(op string) bool { return strings.HasPrefix(op, "net.") }

// time returns that spent in some of the calls, and count how many they were.
func (t callTable) time(p *diagnosis.Pass, name string, match func(w *model.Wait, op string) bool) fact.Fact {
	return p.Waits(name, model.SyscallWait, t.where(match))
}

func (t callTable) count(p *diagnosis.Pass, name string, match func(w *model.Wait, op string) bool) fact.Fact {
	return p.WaitCount(name, model.SyscallWait, t.where(match))
}

func (t callTable) where(match func(w *model.Wait, op string) bool) func(*model.Wait) bool {
	return func(w *model.Wait) bool {
		op, ok := t[w]
		return ok && match(w, op)
	}
}

// A callerGroup is a group and its calls, but for those that move much.
type callerGroup struct {
	*model.Group
	calls                callTable
	ops                  []*cpu.Request // the largest total first
	total, sockets       fact.Fact
	share, average, rate fact.Fact
	ps                   fact.Fact // of average, while holding a P
}

func (c *callerGroup) counts(w *model.Wait, op string) bool {
	return w.Group == c.Name && op != movesMuch
}

func measureCalls(p *diagnosis.Pass, calls callTable, g *model.Group) callerGroup {
	c := callerGroup{Group: g, calls: calls}
	sums := cpu.Requests{}
	for w, op := range calls {
		if c.counts(w, op) {
			sums.Add(op, w.Stack, w.Total)
		}
	}
	c.ops = sums.Sorted()
	if len(c.ops) == 0 {
		return c
	}
	c.total = calls.time(p, "time of the group in system calls", c.counts)
	c.sockets = calls.time(p, "time in calls on sockets", func(w *model.Wait, op string) bool { return c.counts(w, op) && onNet(op) })
	moved := calls.time(p, "time in calls that move much", func(w *model.Wait, op string) bool { return w.Group == g.Name && op == movesMuch })
	active := fact.Sum.Of("active time", fact.Seconds, p.Goroutines("time running", []string{g.Name}, "running"), c.total, moved)
	c.share = fact.Quotient.Of("share of active time in system calls", fact.Ratio, c.total, active)
	c.average = fact.Quotient.Of("goroutines inside system calls, on average", fact.Count, c.total, p.WindowLength())
	c.rate = fact.Quotient.Of("system calls", fact.PerSec, calls.count(p, "system calls", c.counts), p.WindowLength())
	holding := fact.Smallest.Of("time in them that holds a P", fact.Seconds,
		p.Goroutines("time that holds a P in a call", []string{g.Name}, "syscall"), c.total)
	c.ps = fact.Quotient.Of("cores in them while holding a P", fact.Cores, holding, p.WindowLength())
	return c
}

// bound reports whether the group does little but call the system. Reading and
// writing sockets is left alone: a server that answers from memory does
// nothing else (50 to 95% of its active time), and that is its work.
// active is the time of the whole program's goroutines.
func (c *callerGroup) bound(active fact.Fact) bool {
	return len(c.ops) > 0 && c.sockets.Value <= c.total.Value/2 && c.share.Value >= syscallShare &&
		c.total.Value >= syscallWeight*active.Value && c.average.Value >= syscallCores
}

// atLeisure reports whether its goroutines wait to be given work for longer than they are in
// calls: then more of it could be done, however long a device takes. A writer that
// kept up with 6,000 rows a second beside a busy disk waited twice as long for rows.
func (c *callerGroup) atLeisure(p *diagnosis.Pass) bool {
	kinds := queueing.NewDemands(p.Model)
	return p.Waits("time waiting to be given work", model.Sync, func(w *model.Wait) bool {
		return w.Group == c.Name && queueing.Receives(p.Model, w.Stack) && kinds.Kind(w) == queueing.None
	}).Value > c.total.Value
}

// operationMatch returns one of its operations.
func (c *callerGroup) operationMatch(o *cpu.Request) func(*model.Wait, string) bool {
	return func(w *model.Wait, op string) bool { return c.counts(w, op) && op == o.Name }
}

// mean returns how long one call of an operation takes.
func (c *callerGroup) mean(p *diagnosis.Pass, o *cpu.Request) fact.Fact {
	return fact.Quotient.Of("one call of "+o.Name+", mean", fact.Seconds,
		c.calls.time(p, "time in "+o.Name, c.operationMatch(o)), c.calls.count(p, "calls of "+o.Name, c.operationMatch(o)))
}

// bulk recognises reads and writes of files that move data in large pieces,
// or wait for the device they come from: neither would be saved by fewer
// calls. Entry and exit of a call take about 0.3 µs, copying 64 KiB some 20 µs;
// the fixed worker pool writes 2 MiB in 100 to 400 µs, 60 to 80% of what it
// is active, and has nothing to fix.
func bulk(m *model.Model, w *model.Wait) bool {
	return w.Count > 0 && w.Total/time.Duration(w.Count) >= smallCall && code.ContainsAny(m.Stacks.Frames(w.Stack), moves)
}

// moves are functions under which a system call reads or writes data.
var moves = []string{
	"internal/poll.(*FD).Read", "internal/poll.(*FD).Write", "internal/poll.(*FD).Pread", "internal/poll.(*FD).Pwrite",
	"internal/poll.(*FD).Writev", "syscall.read", "syscall.write", "syscall.pread", "syscall.pwrite",
	"golang.org/x/sys/unix.Read", "golang.org/x/sys/unix.Write", "golang.org/x/sys/unix.Pread", "golang.org/x/sys/unix.Pwrite",
	"golang.org/x/sys/unix.Readv", "golang.org/x/sys/unix.Writev", "internal/poll.CopyFileRange", "internal/poll.SendFile", "internal/poll.Splice",
}

// waitsForEvent recognises calls in which a goroutine is at leisure: by the
// functions known for it, and by their length.
func waitsForEvent(m *model.Model, w *model.Wait) bool {
	return w.Count > 0 && w.Total/time.Duration(w.Count) >= syscallIdle || code.ContainsAny(m.Stacks.Frames(w.Stack), eventCalls)
}

var eventCalls = []string{
	"os/signal.signal_recv", "os/signal.loop", "os.(*Process).Wait", "os.(*Process).wait", "os.(*Process).blockUntilWaitable",
	"syscall.wait4", "syscall.Wait4", "syscall.EpollWait", "syscall.Select", "syscall.Pause", "syscall.Flock",
	"golang.org/x/sys/unix.Wait4", "golang.org/x/sys/unix.Waitid", "golang.org/x/sys/unix.EpollWait", "golang.org/x/sys/unix.Poll",
	"golang.org/x/sys/unix.Ppoll", "golang.org/x/sys/unix.Select", "golang.org/x/sys/unix.Pause", "golang.org/x/sys/unix.Flock",
}

// inC reports whether a wait is a call to C, which the trace has as a system
// call: the thread is away, and what it does is the program's own work.
func inC(m *model.Model, s model.Stack) bool {
	return code.ContainsFunc(m.Stacks.Frames(s), func(f string) bool { return f == "runtime.cgocall" || strings.Contains(f, "._Cfunc_") })
}

// callName returns the outermost function of the system's packages around the
// call: what the program asked for, os.ReadFile rather than syscall.read.
func callName(m *model.Model, s model.Stack) (name string) {
	for _, f := range m.Stacks.Frames(s) {
		if !code.IsSystem(f.Func) {
			break
		}
		name = f.Func
	}
	if name == "" {
		return "a system call"
	}
	return name
}

func syscallFinding(p *diagnosis.Pass, c *callerGroup) diagnosis.Finding {
	start, _ := p.GroupPlace(c.Group)
	mean := c.mean(p, c.ops[0])
	f := diagnosis.Finding{
		Where:      code.Places(c.ops[0].Place(p), start),
		Evidence:   []fact.Fact{c.share, c.average, c.rate, c.ps},
		Cost:       diagnosis.CostOf(c.average, c.share.Value),
		Bound:      c.limit(p),
		Confidence: diagnosis.Medium,
		Reasons: []string{"every system call of the window is in the trace, with its stack",
			"what the kernel did inside them is not: computing, or waiting for a device"},
		RuledOut: []string{
			"calls that wait for a child, a signal or a terminal: left out by name and by length",
			fact.Sentence("reads and writes of %s and more, which move much or wait for a device: fewer would be "+
				"no faster",
				fact.Name(fact.Seconds.Format(smallCall.Seconds()))),
		},
		Groups: []string{c.Name},
		Remedy: c.remedy(mean),
		Experiment: codeChange(diagnosis.Syscalls, diagnosis.ThroughputMetric(p.Model), "Elapsed time follows only as far as the kernel "+
			"was the limit: `gowhy ledger --by group after.gowhy` shows the group's time in calls beside its "+
			"running time."),
	}
	for _, o := range c.ops[:min(3, len(c.ops))] {
		f.Stacks = append(f.Stacks, statistics.Largest(o.Stacks)...)
		f.Evidence = append(f.Evidence, c.calls.time(p, "time in "+o.Name, c.operationMatch(o)),
			fact.Quotient.Of("calls of "+o.Name, fact.PerSec, c.calls.count(p, "calls of "+o.Name, c.operationMatch(o)), p.WindowLength()))
	}
	f.Say("%s spends %s of its active time in system calls: %s a second, most of it in %s (%s each).",
		code.Name(code.GroupName(c.Name)), c.share, c.rate.Number(), fact.Name(c.ops[0].Name), mean)
	return f
}

// gain returns the part of the time that is saved where the goroutine waits in the calls, and
// that of the busy Ps where the calls are short and keep theirs.
func (c *callerGroup) gain(p *diagnosis.Pass) fact.Fact {
	if c.Syscall < c.SyscallBlocked {
		return fact.Gain.Of("time saved", fact.Ratio, queueing.FasterBy(p, []string{c.Name}, c.total, nil, c.ps))
	}
	return fact.Fraction.Of("share of the busy Ps", fact.Ratio, c.ps, cpu.BusyPs(p))
}

// limit promises CPU where the calls are short, and throughput where the goroutine waits.
func (c *callerGroup) limit(p *diagnosis.Pass) diagnosis.Bound {
	if c.Syscall < c.SyscallBlocked {
		group := []string{c.Name}
		wait := queueing.WithEnds(p, c.total, p.Goroutines("time of those goroutines", group, "total"), group)
		return queueing.TurnsLimit(queueing.FasterBy(p, group, wait, nil, c.ps), queueing.TurnsOfEach(p, c.calls.count(p, "system calls", c.counts), group), "if no call were needed")
	}
	return diagnosis.Direction(c.ps, diagnosis.CPUGoal, c.gain(p).Value,
		"Amdahl, as if no call were needed; what the group does around them comes on top")
}

// remedy goes by what the largest calls are for.
func (c *callerGroup) remedy(mean fact.Fact) diagnosis.Remedy {
	if r, ok := knownCall(c.ops[0].Name); ok {
		return r
	}
	switch {
	case mean.Duration() < smallCall && c.rate.Value >= manyCalls:
		return diagnosis.Remedy{
			Text: "Put a buffer before these small calls, so that one carries what hundreds do now. " +
				"For datagrams use calls that carry several.",
			Code: "w := bufio.NewWriterSize(f, 64<<10)\ndefer w.Flush()",
		}
	case c.SyscallBlocked > c.Syscall:
		return diagnosis.Remedy{Text: "Move fewer bytes, keep what is read again in memory, or put independent calls side by side, up to " +
			"what the device bears: the calls are long, the goroutine waits for a device or for the kernel, and " +
			"more workers than that only lengthen its queue."}
	}
	return diagnosis.Remedy{Text: fewerCalls}
}

// knownCall says what helps with a call that is known by its name.
func knownCall(name string) (diagnosis.Remedy, bool) {
	for _, r := range callRemedies {
		if slices.ContainsFunc(r.names, func(n string) bool { return strings.Contains(name, n) }) {
			return diagnosis.Remedy{Text: r.text, Code: r.code}, true
		}
	}
	return diagnosis.Remedy{}, false
}

const fewerCalls = "Make fewer of these calls (keep files open, read and write larger pieces, keep results) rather than faster code " +
	"around them: the time is the kernel's, spent on their behalf."

var callRemedies = []struct {
	names      []string
	text, code string
}{
	{[]string{"Sync", "Fsync", "Fdatasync"}, "Let one goroutine sync for all that wrote since the last time (group commit), so that many operations " +
		"share one wait: each call waits until the disk has the data.", ""},
	{[]string{"os.Open", "os.Create", "os.ReadFile", "os.WriteFile", "os.Stat", "os.Lstat", "os.Remove", "os.ReadDir", "os.newFile", "os.(*File).Close"}, "Keep open what is used again, within the limit of open files, instead of opening it for each piece of work: " +
		"os.ReadFile makes about ten system calls (open, fstat, four fcntl, epoll_ctl, reads, close) where a " +
		"descriptor kept open needs one pread. Share temporary files; reuse the buffers that they are read into.", "n, err := unix.Pread(fd, buf, 0) // fd opened once"},
	{[]string{"os.(*Process)", "os.StartProcess", "syscall.forkExec"}, "Start fewer processes: keep helpers alive and talk to them, or call a library.", ""},
	{[]string{"runtime.cgocall", "runtime.asmcgocall"}, "The time is in C code. A call costs about 40 to 60 ns by " +
		"itself, so if calls are short, do more in each; if they are long, look at the C code with the system's " +
		"profiler.", ""},
}
