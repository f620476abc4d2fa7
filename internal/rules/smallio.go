package rules

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed smallio.md
var smallioPage string

var smallio = &diagnosis.Rule{
	Name:     "smallio",
	Title:    "Many reads or writes of a few bytes",
	Doc:      smallioPage,
	Needs:    []model.Source{model.SyscallLog},
	Explains: []string{"syscallbound"},
	Check:    checkSmallio,
}

const (
	// smallRate is how many successful calls a second are many: the
	// catalogue's figure. Lines written one by one to a file reach 800,000
	// a second on one core, the same lines through a buffer make 4,400 calls.
	smallRate = 10_000
	// smallBytes is the mean size below which entry and exit are most of a
	// call's price. A call of 20 bytes took 0.7 to 1 µs here, of which copying
	// is 1 ns; lines of a log are 20 to 200 bytes, a buffer is 4 KiB and more.
	smallBytes = 512
	// smallPerOp is how many calls in one direction an operation needs at
	// most: one. HTTP servers make 1 write and 1 successful read for a
	// request, and a datagram's answer is one of each.
	smallPerOp = 2
	// smallSocket is the part of the calls on sockets from which they are a
	// protocol's messages, which a buffer does not make larger.
	smallSocket = 0.5
)

// A direction is reading or writing.
type direction struct {
	verb  string
	names []string
}

// Calls that carry several messages at once (recvmmsg, sendmmsg) are the cure
// and not counted. Nor are those that say where in the file (pread64): a buffer
// is for what comes one after the other, and a record read again from its place
// is the cure for opening its file each time.
var directions = []direction{
	{"write", []string{"write", "writev", "sendto", "sendmsg"}},
	{"read", []string{"read", "readv", "recvfrom", "recvmsg"}},
}

// A traffic is the calls in one direction.
type traffic struct {
	direction
	rate   float64 // successful calls a second
	failed float64 // a second
	mean   float64 // bytes of a successful call
	perOp  float64 // 0 when operations are not known
	// socket is the part of them on sockets, by what; negative when unknown.
	socket float64
	by     string
}

func checkSmallio(p *diagnosis.Pass) {
	ops, name := operations(p)
	for _, d := range directions {
		t := measureTraffic(p, d, ops)
		if t.rate < smallRate/10 {
			continue // not worth a word
		}
		if t.rate < smallRate || t.mean >= smallBytes {
			p.Fine(fmt.Sprintf("%ss: %s a second, %s each", t.verb, num(math.Round(t.rate)), size(t.mean)))
			continue
		}
		switch repeated := t.perOp >= smallPerOp; {
		case repeated, t.socket >= 0 && t.socket < smallSocket:
			p.Report(smallioFinding(p, &t, name))
		case t.socket >= smallSocket, t.perOp > 0:
			p.Fine(fmt.Sprintf("%ss: %s a second of %s each, as many as its protocol has messages", t.verb, num(math.Round(t.rate)), size(t.mean)))
		default:
			p.Unchecked("whether small "+t.verb+"s could be fewer",
				fmt.Sprintf("there are %s a second of %s each, and neither stacks nor a count of operations tell whether these are a protocol's messages", num(math.Round(t.rate)), size(t.mean)),
				diagnosis.HowToGet(model.KernelCPU))
		}
	}
}

func measureTraffic(p *diagnosis.Pass, d direction, ops float64) traffic {
	t := traffic{direction: d, socket: -1}
	var good, bad, bytes int64
	for _, name := range d.names {
		c := p.Model.Syscalls.Call(name)
		var errors int64
		for _, n := range c.Errors {
			errors += n
		}
		errors = min(max(errors, 0), c.Count)
		good, bad, bytes = good+c.Count-errors, bad+errors, bytes+c.Bytes
	}
	w := p.Model.Syscalls.Window.Seconds()
	t.rate, t.failed, t.mean = div(float64(good), w), div(float64(bad), w), div(float64(bytes), float64(good))
	if ops > 0 {
		t.perOp = t.rate / ops
	}
	t.socket, t.by = t.onSockets(p.Model)
	return t
}

// onSockets is the part of the calls that are on sockets: by the trace, which
// has every call with its stack, else by the kernel's samples.
func (d direction) onSockets(m *model.Model) (part float64, by string) {
	var all, sockets int64
	if m.Sched != nil {
		for i := range m.Sched.Waits {
			w := &m.Sched.Waits[i]
			if w.Kind != model.SyscallWait || !d.under(m, w.Stack) {
				continue
			}
			all += w.Count
			if onSocket(m, w.Stack) {
				sockets += w.Count
			}
		}
	}
	if all >= diagnosis.ThinSamples {
		return float64(sockets) / float64(all), "trace: system calls by stack"
	}
	_, all = kernelSamples(m, inSyscall(d.names...))
	_, sockets = kernelSamples(m, func(s *model.Sample) bool { return inSyscall(d.names...)(s) && onSocket(m, s.Stack) })
	if all >= diagnosis.ThinSamples {
		return float64(sockets) / float64(all), "kernel samples"
	}
	return -1, ""
}

// under reports whether a stack of the trace makes a call in this direction:
// the functions of the poller and of package syscall are named after it.
func (d direction) under(m *model.Model, s model.Stack) bool {
	return slices.ContainsFunc(m.Stacks.Frames(s), func(f model.Frame) bool {
		name, ok := strings.CutPrefix(f.Func, "syscall.")
		if !ok {
			name, ok = strings.CutPrefix(f.Func, "golang.org/x/sys/unix.")
		}
		name = strings.ToLower(name)
		return ok && (slices.Contains(d.names, name) || slices.Contains(d.names, name+"64"))
	})
}

var socketFuncs = []string{"net.", "sock_", "__sys_sendto", "__sys_recvfrom", "__sys_sendmsg", "__sys_recvmsg", "pipe_read", "pipe_write", "anon_pipe_read", "anon_pipe_write"}

func smallioFinding(p *diagnosis.Pass, t *traffic, opName string) diagnosis.Finding {
	cores, share, samples := kernelCores(p.Model, inSyscall(t.names...))
	places, stacks, inside := t.sites(p)
	how, sure := howCounted(p.Model.Syscalls)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s %ss a second carry %s each on average.", num(math.Round(t.rate)), t.verb, size(t.mean)),
		Where:   places,
		Evidence: []fact.Fact{
			{Name: t.verb + "s that succeeded", Value: t.rate, Unit: fact.PerSec, Source: "system calls counted by the kernel"},
			{Name: "mean size", Value: t.mean, Unit: fact.Bytes, Source: "system calls counted by the kernel"},
			{Name: t.verb + "s that failed, with EAGAIN as a rule", Value: t.failed, Unit: fact.PerSec, Source: "system calls counted by the kernel"},
		},
		Confidence: sure,
		Reasons:    []string{how + "; what fewer and larger ones cost is not known before they are tried"},
		RuledOut:   []string{fmt.Sprintf("large transfers in many calls: %s each is far below a buffer's %s", size(t.mean), size(4096))},
		Stacks:     stacks,
		Remedy:     smallRemedy(t),
		Experiment: changed(diagnosis.Syscalls, diagnosis.CPUPerOp, fmt.Sprintf("It is %s %ss now. CPU time per operation tells what they cost.", perOpWords(t), t.verb)),
	}
	if t.perOp > 0 {
		f.Summary = fmt.Sprintf("%s %ss a second carry %s each on average: %s for each of the %s.", num(math.Round(t.rate)), t.verb, size(t.mean), num(t.perOp), opName)
		f.Evidence = append(f.Evidence, fact.Fact{Name: t.verb + "s for each operation", Value: t.perOp, Unit: fact.Count, Source: "system calls ÷ operations"})
		f.RuledOut = append(f.RuledOut, "one message to an operation: "+num(t.perOp)+" "+t.verb+"s for each")
	}
	if t.socket >= 0 {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "share of them on sockets", Value: t.socket, Unit: fact.Ratio, Source: t.by})
		if t.socket < smallSocket {
			f.RuledOut = append(f.RuledOut, "messages of a protocol: only "+pct(t.socket)+" of the calls are on sockets")
		}
	}
	if samples > 0 && enoughKernelSamples(p.Model) {
		f.Confidence = diagnosis.High
		f.Reasons = []string{"two kinds of evidence agree: the calls counted, and the kernel's samples of the time in them"}
		f.Evidence = append(f.Evidence, fact.Fact{Name: "CPU in them", Value: cores, Unit: fact.Cores, Source: "kernel samples"})
		f.Cost = diagnosis.Cost{Value: cores, Unit: fact.Cores, Share: share, What: "CPU inside these calls, their part in the kernel"}
		f.Bound = diagnosis.Bound{
			Value: cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method:  "Amdahl: all of the CPU inside these calls, as if none were needed; the bytes must still be copied, and what enters and leaves the kernel on the program's side comes on top",
			Partial: true,
		}
		return f
	}
	f.Cost, f.Bound = callPrice(p, t.rate, inside)
	return f
}

const (
	// leastPrice and mostPrice, in seconds, are what a call costs where no
	// sample tells. A byte from a file took 0.34 µs, 20 bytes to one 0.7 to 1 µs,
	// and the calls around opening a file 1.1 µs on average, on two cores of a
	// virtual machine. Five times that is more than any of them took.
	leastPrice = 0.34e-6
	mostPrice  = 5e-6
)

// callPrice is the CPU of so many calls a second where no sample tells it:
// the time inside them where a trace has it, which may include waiting, else
// what calls cost elsewhere, and no more than what the kernel took in all. What
// the program does around a call comes on top.
func callPrice(p *diagnosis.Pass, rate float64, inside time.Duration) (diagnosis.Cost, diagnosis.Bound) {
	cores, _ := cpuCores(p.Model)
	least, most := rate*leastPrice, rate*mostPrice
	method := "calls × 5 µs, five times what such calls took on another machine"
	if inside > 0 {
		most, method = div(inside.Seconds(), p.Seconds()), "all time inside these calls, as the trace has it"
	}
	if u, ok := rusage(p.Model); ok {
		method += ", and no more than the kernel took for the process"
		most = min(most, div(u.system.Seconds(), u.window.Seconds()))
	}
	least = min(least, most)
	return diagnosis.Cost{Value: least, Unit: fact.Cores, Share: min(1, div(least, cores)), What: "CPU to enter and leave the kernel so often, at 0.34 µs, which was measured elsewhere"},
		diagnosis.Bound{Value: most, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: min(1, div(most, cores)), Method: method, Partial: true}
}

// sites are the lines that make the calls: by the trace, which has all of them
// and lets other findings be compared, else by the kernel's samples.
func (t *traffic) sites(p *diagnosis.Pass) (places []diagnosis.Place, stacks []model.Stack, inside time.Duration) {
	if p.Model.Sched != nil {
		return callSites(p, func(s model.Stack) bool { return t.under(p.Model, s) })
	}
	return kernelSites(p, inSyscall(t.names...)), nil, 0
}

func perOpWords(t *traffic) string {
	if t.perOp > 0 {
		return num(t.perOp)
	}
	return num(math.Round(t.rate)) + " a second"
}

func smallRemedy(t *traffic) diagnosis.Remedy {
	switch {
	case t.socket >= smallSocket && t.verb == "write":
		return diagnosis.Remedy{
			Text: "An answer goes out in several pieces. Put them together before they are written: a bufio.Writer that is flushed once for an operation, or net.Buffers, which writes several with one call. For datagrams, WriteBatch of golang.org/x/net/ipv4 sends many with one call.",
			Code: "w := bufio.NewWriterSize(conn, 4<<10)\nencode(w, answer)\nerr := w.Flush() // once",
		}
	case t.verb == "write":
		return diagnosis.Remedy{
			Text: "Each piece is a call of its own. Put a buffer before the file and flush it when a batch ends, at the latest after a time that a reader of the file may wait; for a log, let the logger write to that buffer. What is in the buffer when the program is killed is lost.",
			Code: "w := bufio.NewWriterSize(f, 64<<10)\ndefer w.Flush()",
		}
	case t.socket >= smallSocket:
		return diagnosis.Remedy{
			Text: "A message is read in several pieces, most often its header first. Read through a bufio.Reader, which takes what is there with one call. For datagrams, ReadBatch of golang.org/x/net/ipv4 receives many with one call.",
			Code: "r := bufio.NewReaderSize(conn, 4<<10)",
		}
	}
	return diagnosis.Remedy{
		Text: "Each piece is a call of its own. Read through a bufio.Reader, or the file as a whole where it is small; encoding/binary and fmt.Fscan read a few bytes at a time from what they are given.",
		Code: "r := bufio.NewReaderSize(f, 64<<10)",
	}
}
