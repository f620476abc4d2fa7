package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
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
	calls, moved := callsByGroup(p.Model)
	active := time.Duration(0)
	for i := range p.Model.Sched.Groups {
		if g := &p.Model.Sched.Groups[i]; !g.System {
			active += g.Times.Running + moved[g.Name] + sumOps(calls[g.Name])
		}
	}
	found, vain := false, false
	var in, sockets, large time.Duration
	for i := range p.Model.Sched.Groups {
		g := &p.Model.Sched.Groups[i]
		ops := calls[g.Name]
		if g.System || len(ops) == 0 && moved[g.Name] == 0 {
			continue
		}
		total := sumOps(ops)
		in, sockets, large = in+total+moved[g.Name], sockets+socketTime(ops), large+moved[g.Name]
		own := total + moved[g.Name] + g.Times.Running
		if !bound(p, ops, total, own, active) {
			continue
		}
		f := syscallFinding(p, g, ops, total, div(float64(total), float64(own)))
		// The calls of a crowd that queues for the Ps are a symptom at most:
		// without them it would queue a little longer.
		if f.Bound.Share < gain(worthwhile) {
			vain = true
			continue
		}
		found = true
		addKernelFacts(p, &f)
		p.Report(f)
	}
	switch share := pct(div(float64(in), float64(active))); {
	case found:
	case vain:
		p.Fine(fmt.Sprintf("system calls: %s of the time that goroutines are active, but something else holds those goroutines up", share))
	case large > in/2:
		p.Fine(fmt.Sprintf("system calls: %s of the time that goroutines are active, most of it to read and write files in large pieces", share))
	case sockets > in/2:
		p.Fine(fmt.Sprintf("system calls: %s of the time that goroutines are active, most of it to read and write sockets", share))
	default:
		p.Fine(fmt.Sprintf("system calls: %s of the time that goroutines are active, and no group lives on them", share))
	}
}

// bound reports whether a group does little but call the system. Reading and
// writing sockets is left alone: a server that answers from memory does
// nothing else (50 to 95 % of its active time), and that is its work.
//
// total is the group's time in calls, own what it is active in all, and active
// the whole program's.
func bound(p *diagnosis.Pass, ops []op, total, own, active time.Duration) bool {
	return socketTime(ops) <= total/2 &&
		div(float64(total), float64(own)) >= syscallShare &&
		div(float64(total), float64(active)) >= syscallWeight &&
		div(total.Seconds(), p.Seconds()) >= syscallCores
}

func sumOps(ops []op) (d time.Duration) {
	for i := range ops {
		d += ops[i].total
	}
	return d
}

func socketTime(ops []op) (d time.Duration) {
	for i := range ops {
		if strings.HasPrefix(ops[i].name, "net.") {
			d += ops[i].total
		}
	}
	return d
}

// callsByGroup sums the system calls of each group by kind, the largest
// total first. Calls that wait for an event are left out, and those that move
// data in large pieces are only added up.
func callsByGroup(m *model.Model) (calls map[string][]op, moved map[string]time.Duration) {
	moved = map[string]time.Duration{}
	type key struct{ group, name string }
	sums := map[key]*op{}
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Kind != model.SyscallWait || waitsForEvent(m, w) || inC(m, w.Stack) {
			continue
		}
		if !strings.HasPrefix(callName(m, w.Stack), "net.") && bulk(m, w) {
			moved[w.Group] += w.Total
			continue
		}
		k := key{w.Group, callName(m, w.Stack)}
		o := sums[k]
		if o == nil {
			o = &op{name: k.name, stacks: map[model.Stack]time.Duration{}}
			sums[k] = o
		}
		o.count += w.Count
		o.total += w.Total
		o.stacks[w.Stack] += w.Total
	}
	calls = map[string][]op{}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b key) int {
		return cmp.Or(cmp.Compare(sums[b].total, sums[a].total), cmp.Compare(a.name, b.name), cmp.Compare(a.group, b.group))
	})
	for _, k := range keys {
		calls[k.group] = append(calls[k.group], *sums[k])
	}
	return calls, moved
}

// bulk recognises reads and writes of files that move data in large pieces,
// or wait for the device they come from: neither would be saved by fewer
// calls. Entry and exit of a call take about 0.3 µs, copying 64 KiB some 20 µs;
// the healed worker pool writes 2 MiB in 100 to 400 µs, 60 to 80 % of what it
// is active, and has nothing to be cured of.
func bulk(m *model.Model, w *model.Wait) bool {
	return w.Count > 0 && w.Total/time.Duration(w.Count) >= smallCall &&
		slices.ContainsFunc(m.Stacks.Frames(w.Stack), func(f model.Frame) bool {
			return slices.Contains(moves, f.Func)
		})
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
	if w.Count > 0 && w.Total/time.Duration(w.Count) >= syscallIdle {
		return true
	}
	return slices.ContainsFunc(m.Stacks.Frames(w.Stack), func(f model.Frame) bool {
		return slices.Contains(eventCalls, f.Func)
	})
}

var eventCalls = []string{
	"os/signal.signal_recv", "os/signal.loop", "os.(*Process).Wait", "os.(*Process).wait", "os.(*Process).blockUntilWaitable",
	"syscall.wait4", "syscall.Wait4", "syscall.EpollWait", "syscall.Select", "syscall.Pause", "syscall.Flock",
	"golang.org/x/sys/unix.Wait4", "golang.org/x/sys/unix.Waitid", "golang.org/x/sys/unix.EpollWait", "golang.org/x/sys/unix.Poll",
	"golang.org/x/sys/unix.Ppoll", "golang.org/x/sys/unix.Select", "golang.org/x/sys/unix.Pause", "golang.org/x/sys/unix.Flock",
}

// callName is the outermost function of the system's packages around the
// call: what the program asked for, os.ReadFile rather than syscall.read.
// inC reports whether a wait is a call to C, which the trace has as a system
// call: the thread is away, and what it does is the program's own work.
func inC(m *model.Model, s model.Stack) bool {
	return slices.ContainsFunc(m.Stacks.Frames(s), func(f model.Frame) bool {
		return f.Func == "runtime.cgocall" || strings.Contains(f.Func, "._Cfunc_")
	})
}

func callName(m *model.Model, s model.Stack) (name string) {
	for _, f := range m.Stacks.Frames(s) {
		if !systemPackage(f.Func) {
			break
		}
		name = f.Func
	}
	if name == "" {
		return "a system call"
	}
	return name
}

func syscallFinding(p *diagnosis.Pass, g *model.Group, ops []op, total time.Duration, share float64) diagnosis.Finding {
	first := &ops[0]
	rate := div(float64(count(ops)), p.Seconds())
	start, _ := p.GroupPlace(g)
	held := div(min(g.Syscall, total).Seconds(), p.Seconds())
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s spends %s of its active time in system calls: %s a second, most of it in %s (%s each).",
			short(groupName(g.Name)), pct(share), num(math.Round(rate)), first.name, dur(first.mean())),
		Where: where(first.place(p), start),
		Evidence: []fact.Fact{
			{Name: "share of active time in system calls", Value: share, Unit: fact.Ratio, Source: "trace: goroutine groups, calls that wait for events left out"},
			{Name: "goroutines in a call on average", Value: div(total.Seconds(), p.Seconds()), Unit: fact.Count, Source: "trace: system calls ÷ window"},
			{Name: "system calls", Value: rate, Unit: fact.PerSec, Source: "trace: system calls"},
			{Name: "of those while holding a P", Value: held, Unit: fact.Cores, Source: "trace: goroutine groups"},
		},
		Cost: diagnosis.Cost{
			Value: div(total.Seconds(), p.Seconds()), Unit: fact.Count, Share: share,
			What: "goroutines inside system calls, on average",
		},
		Bound:      callBound(p, g, total, held),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"every system call of the window is in the trace, with its stack", "what the kernel did inside them is not: computing, or waiting for a device"},
		RuledOut: []string{
			"calls that wait for a child, a signal or a terminal: left out by name and by length",
			"reads and writes of " + dur(smallCall) + " and more, which move much or wait for a device: fewer would be no faster",
		},
		Groups:     []string{g.Name},
		Remedy:     callRemedy(ops, rate, g),
		Experiment: changed(diagnosis.Syscalls, diagnosis.ThroughputMetric(p.Model), "Elapsed time follows only as far as the kernel was the limit: `gowhy ledger --by group after.gowhy` shows the group's time in calls beside its running time."),
	}
	for i := range ops[:min(3, len(ops))] {
		o := &ops[i]
		f.Stacks = append(f.Stacks, largest(o.stacks)...)
		f.Evidence = append(f.Evidence,
			fact.Fact{Name: "time in " + o.name, Value: o.total.Seconds(), Unit: fact.Seconds, Source: "trace: system calls by stack"},
			fact.Fact{Name: "calls of " + o.name, Value: div(float64(o.count), p.Seconds()), Unit: fact.PerSec, Source: "trace: system calls by stack"})
	}
	return f
}

// callBound promises CPU where the calls are short and keep their P, and
// throughput where the goroutine waits in them.
func callBound(p *diagnosis.Pass, g *model.Group, total time.Duration, held float64) diagnosis.Bound {
	if g.Syscall >= g.SyscallBlocked {
		return diagnosis.Bound{
			Value: held, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: div(held, working(p)),
			Method:  "Amdahl: all time that the group held a P inside system calls, as if none were needed; what it does around them comes on top",
			Partial: true,
		}
	}
	factor, method := speedup(p, []string{g.Name}, total, held)
	return diagnosis.Bound{
		Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
		Method: "throughput factor if no call were needed: " + method,
	}
}

func count(ops []op) (n int64) {
	for i := range ops {
		n += ops[i].count
	}
	return n
}

// callRemedy goes by what the largest calls are for.
func callRemedy(ops []op, rate float64, g *model.Group) diagnosis.Remedy {
	first := &ops[0]
	for _, r := range callRemedies {
		if slices.ContainsFunc(r.names, func(n string) bool { return strings.Contains(first.name, n) }) {
			return diagnosis.Remedy{Text: r.text, Code: r.code}
		}
	}
	switch {
	case first.mean() < smallCall && rate >= manyCalls:
		return diagnosis.Remedy{
			Text: "The calls are many and small: put a buffer before them, so that one call carries what hundreds do now. For datagrams use calls that carry several.",
			Code: "w := bufio.NewWriterSize(f, 64<<10)\ndefer w.Flush()",
		}
	case g.SyscallBlocked > g.Syscall:
		return diagnosis.Remedy{Text: "The calls are long: the goroutine waits for a device or for the kernel, and its P goes to others meanwhile. Move fewer bytes, keep what is read again in memory, or put independent calls side by side, up to what the device bears; more workers than that only lengthen its queue."}
	}
	return diagnosis.Remedy{Text: "The time is the kernel's, spent on behalf of these calls: make fewer of them (keep files open, read and write larger pieces, keep results) rather than faster code around them."}
}

var callRemedies = []struct {
	names      []string
	text, code string
}{
	{[]string{"Sync", "Fsync", "Fdatasync"}, "Each call waits until the disk has the data. Let one goroutine sync for all that wrote since the last time (group commit), so that many operations share one wait.", ""},
	{[]string{"os.Open", "os.Create", "os.ReadFile", "os.WriteFile", "os.Stat", "os.Lstat", "os.Remove", "os.ReadDir", "os.newFile", "os.(*File).Close"}, "Files are opened and closed for each piece of work. os.ReadFile makes about ten system calls (open, fstat, four fcntl, epoll_ctl, reads, close) where a descriptor kept open needs one pread. Keep open what is used again, within the limit of open files; share temporary files; reuse the buffers that they are read into.", "n, err := unix.Pread(fd, buf, 0) // fd opened once"},
	{[]string{"os.(*Process)", "os.StartProcess", "syscall.forkExec"}, "Starting processes is the work. Start fewer: keep helpers alive and talk to them, or call a library.", ""},
	{[]string{"runtime.cgocall", "runtime.asmcgocall"}, "The time is in C code. A call costs about 40 to 60 ns by itself, so if calls are short, do more in each; if they are long, look at the C code with the system's profiler.", ""},
}
