package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	// smallMost is the share of the CPU inside the calls from which they are too many
	// on sockets also where nobody counts operations: they cost more than all
	// else that the program does, and two of them in one call save a quarter.
	smallMost = 0.5
	// smallOneSided is how many writes there are for each read, or reads for each write, in
	// a program of which nobody counts operations, for them not to be one answer to one
	// question: a server and a client make one of each. What goes to many subscribers or
	// comes from many senders is as one-sided, so that it takes smallPieces to say that they
	// are pieces: the part, half of them and more, that the code makes of less than a
	// message, as fmt does on the connection itself and io.ReadFull of a header.
	smallOneSided = 2
	smallPieces   = 0.5
	// smallShare is the share of the CPU inside the calls below which they are nobody's
	// concern: five programs of the field make twelve thousand and more small writes a
	// second for 0.02 or less, the least of those that have the problem is at 0.36.
	smallShare = 0.05
	// smallWhole is how many reads there are at most for each file that is opened when
	// files are read whole: os.ReadFile makes two of a small one, and a buffer would make
	// none of them larger.
	smallWhole = 4
	// smallRow is how many calls in a row, without a wait in between, are pieces of what could go at once: who
	// answers one question after another makes one write, and a second where header and body are apart, and who
	// looks up a record one read. smallRowPart is the part of all of them that must be in such rows.
	smallRow     = 3
	smallRowPart = 0.5
	// smallPlaced is the share of the CPU inside reads at places in files from which rows of them are too many. An index
	// that is searched in its file is at 0.26, the same program that reads one record for each look-up at 0.06.
	smallPlaced = 0.10
	// smallBuffer is what a bufio.Writer gathers unless another size is set.
	smallBuffer = 4 << 10
)

// A direction is reading or writing.
type direction struct {
	verb   string
	names  []string
	placed bool // they say where in the file
}

// Calls that carry several messages at once (recvmmsg, sendmmsg) are the fix
// and not counted. Those that say where in the file (pread64) are only where a goroutine makes them in
// rows that cost a tenth of the CPU: a record read again from its place is the fix for opening its file each
// time, and who asks for several records in turn, without a wait in between, makes a row as well.
var directions = []direction{
	{"write", []string{"write", "writev", "sendto", "sendmsg"}, false},
	{"read", []string{"read", "readv", "recvfrom", "recvmsg"}, false},
	{"read", []string{"pread64", "preadv"}, true},
}

// A traffic is the calls in one direction.
type traffic struct {
	direction
	rate, failed, mean fact.Fact              // of those that succeeded but for failed
	opened             fact.Fact              // files a second
	perOp              fact.Fact              // nothing when operations are not known
	socket             fact.Fact              // share of them on sockets
	known              bool                   // whether that is
	perOther           fact.Fact              // for each call in the other direction; nothing without those
	pieces             fact.Fact              // share of them that are less than a message
	row                fact.Fact              // of them in a row, where that is long; else nothing
	cpu                cpu.CallUse            // inside them
	match              func(model.Stack) bool // which of them, nil for all
}

func checkSmallio(p *diagnosis.Pass) {
	ops, operations := operationRate(p)
	for _, d := range directions {
		t := measureTraffic(p, d, ops)
		verb := fact.Name(t.verb)
		onSockets := t.known && t.socket.Value >= smallSocket
		many := t.perOp.Value >= smallPerOp || t.perOp.Value > 0 && t.rate.Value*(1-t.socket.Value) >= smallRate
		if onSockets && many && t.row.Value == 0 && t.perOp.Value*t.socket.Value < smallPerOp {
			// A request's one message is no piece of it: what is too much is the others.
			t = t.withoutSockets(p)
			onSockets = false
		}
		switch {
		case t.rate.Value < smallRate/10, t.placed && (t.row.Value == 0 || t.cpu.Share.Value < smallPlaced): // not worth a word
		case t.rate.Value < smallRate || t.mean.Value >= smallBytes:
			p.Fine(fact.Sentence("%ss: %s a second, %s each", verb, t.rate.Number(), t.mean))
		case t.verb == "read" && t.rate.Value <= smallWhole*t.opened.Value:
			p.Fine(fact.Sentence("reads: %s a second of %s each, of %s files a second that are read whole", t.rate.Number(), t.mean, t.opened.Number()))
		case t.cpu.Enough && t.cpu.Share.Value < smallShare:
			p.Fine(fact.Sentence("%ss: %s a second of %s each take %s of the CPU", verb, t.rate.Number(), t.mean, t.cpu.Share))
		case t.row.Value > 0, t.perOp.Value >= smallPerOp, t.known && !onSockets, t.perOp.Value == 0 && onSockets && (t.mostOfCPU() || t.inPieces()):
			p.Report(smallioFinding(p, &t, string(operations)))
		case t.perOp.Value > 0:
			p.Fine(fact.Sentence("%ss: %s a second of %s each, as many as its protocol has messages", verb, t.rate.Number(), t.mean))
		case t.cpu.Enough && t.perOther.Value >= smallOneSided:
			p.Unchecked("whether small "+t.verb+"s could be fewer", fact.Sentence("there are %s a second of %s each, %s for each %s, which take %s of the CPU: "+
				"pieces of what could go at once, or messages of many", t.rate.Number(), t.mean, t.perOther, fact.Name(t.opposite().verb), t.cpu.Share), p.HowToGet(model.Trace))
		case t.cpu.Enough && !t.mostOfCPU():
			p.Fine(fact.Sentence("%ss: %s a second of %s each take %s of the CPU", verb, t.rate.Number(), t.mean, t.cpu.Share))
		default:
			p.Unchecked("whether small "+t.verb+"s could be fewer",
				fact.Sentence("there are %s a second of %s each, and neither stacks nor a count of operations tell "+
					"whether these are a protocol's messages", t.rate.Number(), t.mean),
				p.HowToGet(model.KernelCPU))
		}
	}
}

// withoutSockets returns the traffic without that on sockets: a log that is written line by line to a
// file, beside the one message that each operation needs.
func (t *traffic) withoutSockets(p *diagnosis.Pass) traffic {
	files := fact.Rest.Of("share of them that are not on sockets", fact.Ratio, t.socket)
	away := func(s model.Stack) bool { return !cpu.OnSocket(p.Model, s) }
	in := cpu.MatchCalls(t.names...)
	rest := *t
	rest.rate = fact.Product.Of(t.verb+"s that are not on sockets", fact.PerSec, t.rate, files)
	rest.perOp = fact.Product.Of(t.verb+"s that are not on sockets, for each operation", fact.Count, t.perOp, files)
	rest.socket, rest.match = fact.Fact{}, away
	rest.cpu = cpu.CallUseOf(p, "CPU inside these calls, their part in the kernel", func(s *model.Sample) bool { return in(s) && away(s.Stack) })
	return rest
}

// mostOfCPU reports whether the program does little else.
func (t *traffic) mostOfCPU() bool { return t.cpu.Enough && t.cpu.Share.Value >= smallMost }

// inPieces reports whether the calls are pieces of what could go at once.
func (t *traffic) inPieces() bool {
	return t.cpu.Enough && t.perOther.Value >= smallOneSided && t.pieces.Value >= smallPieces
}

func measureTraffic(p *diagnosis.Pass, d direction, ops fact.Fact) traffic {
	t := traffic{direction: d,
		rate:   cpu.CallRate(p, d.verb+"s that succeeded", "good", d.names...),
		failed: cpu.CallRate(p, d.verb+"s that failed, with EAGAIN as a rule", "errors", d.names...),
		opened: cpu.CallRate(p, "files opened", "good", "open", "openat", "openat2"),
		mean: fact.Quotient.Of("mean size", fact.Bytes,
			p.Syscalls("bytes", "bytes", d.names...), p.Syscalls(d.verb+"s that succeeded", "good", d.names...)),
	}
	if ops.Value > 0 {
		t.perOp = fact.Quotient.Of(d.verb+"s for each operation", fact.Count, t.rate, ops)
	}
	t.socket, t.known = d.onSockets(p)
	o := d.opposite()
	if others := cpu.CallRate(p, o.verb+"s that succeeded", "good", o.names...); others.Value > 0 {
		t.perOther = fact.Quotient.Of(d.verb+"s for each "+o.verb, fact.Count, t.rate, others)
	}
	t.pieces, _ = d.part(p, "that are less than a message", func(s model.Stack) bool { return piece(p.Model.Stacks.Frames(s)) })
	t.cpu = cpu.CallUseOf(p, "CPU inside these calls, their part in the kernel", cpu.MatchCalls(d.names...))
	switch {
	case d.placed:
		t.row = rowOfReads(p)
	case d.verb == directions[0].verb:
		t.row = rowOfWrites(p)
	}
	return t
}

// rowOfReads returns how many reads at places in files come in a row, nothing where that is no long row or is of few
// of them.
func rowOfReads(p *diagnosis.Pass) fact.Fact {
	if p.Model.Sched == nil {
		return fact.Fact{}
	}
	return longRows(p, p.Model.Sched.ReadRows, "reads at a place in a file, goroutine by goroutine", "reads", func(*model.CallRow) bool { return true })
}

// rowOfWrites returns how many writes to connections come in a row, nothing where that is no long row or is of few of
// the writes. A goroutine may write a message to each of many peers: those count that go through a buffer, or by fmt, of
// goroutines that are several, as one to each connection is, or in rows so long that the program has not enough
// descriptors for as many peers.
func rowOfWrites(p *diagnosis.Pass) (row fact.Fact) {
	if p.Model.Sched == nil {
		return row
	}
	peers := 0.0 // at most
	for _, s := range p.Model.Process.Series(func(s model.ProcessSample) float64 { return float64(s.FDs) }) {
		peers = max(peers, s.Value)
	}
	return longRows(p, p.Model.Sched.WriteRows, "writes to connections, goroutine by goroutine", "writes", func(r *model.CallRow) bool {
		frames := p.Model.Stacks.Frames(r.Stack)
		root := code.Group(p.Model, code.Root(p.Model, r.Stack))
		several := root != nil && root.Count > 1 || peers > 0 && float64(r.Calls) >= smallRow*peers*float64(r.Rows)
		return several && (piece(frames) || code.ContainsPrefix(frames, []string{"bufio.(*Writer)"}))
	})
}

// longRows returns the mean length of the long rows among some, nothing where those that count have few of the calls.
func longRows(p *diagnosis.Pass, list []model.CallRow, source, what string, count func(*model.CallRow) bool) (row fact.Fact) {
	rows, calls, all := 0.0, 0.0, 0.0
	for i := range list {
		r := &list[i]
		all += float64(r.Calls)
		if float64(r.Calls) >= smallRow*float64(r.Rows) && count(r) {
			rows, calls = rows+float64(r.Rows), calls+float64(r.Calls)
		}
	}
	if calls == 0 || calls < smallRowPart*all {
		return row
	}
	of := func(name string, v float64) fact.Fact { return p.Statistic(fact.Timeline, source, name, v, fact.Count) }
	return fact.Quotient.Of(what+" in a row, mean", fact.Count, of(what+" in long rows", calls), of("rows", rows))
}

// onSockets returns the part of the calls that are on sockets.
func (d direction) onSockets(p *diagnosis.Pass) (share fact.Fact, known bool) {
	return d.part(p, "on sockets", func(s model.Stack) bool { return cpu.OnSocket(p.Model, s) })
}

// part returns the part of the calls that are of some kind: by the trace, which has
// every call with its stack, else by the kernel's samples.
func (d direction) part(p *diagnosis.Pass, kind string, match func(model.Stack) bool) (share fact.Fact, known bool) {
	name := "share of them " + kind
	all := p.WaitCount(d.verb+"s", model.SyscallWait, func(w *model.Wait) bool { return d.matches(p.Model, w.Stack) })
	if all.Value >= diagnosis.ThinSamples {
		some := p.WaitCount(d.verb+"s "+kind, model.SyscallWait, func(w *model.Wait) bool {
			return d.matches(p.Model, w.Stack) && match(w.Stack)
		})
		return fact.Quotient.Of(name, fact.Ratio, some, all), true
	}
	in := cpu.MatchCalls(d.names...)
	all = p.Samples("CPU in "+d.verb+"s", "kernel", in)
	if all.Origin.N < diagnosis.ThinSamples {
		return fact.Fact{}, false
	}
	some := p.Samples("CPU in "+d.verb+"s "+kind, "kernel", func(s *model.Sample) bool { return in(s) && match(s.Stack) })
	return fact.Quotient.Of(name, fact.Ratio, some, all), true
}

// opposite returns the direction that is not this.
func (d direction) opposite() direction {
	if d.verb == directions[0].verb {
		return directions[1]
	}
	return directions[0]
}

// piecemeal are functions that write or read less than a message: what is between two verbs
// of a format, a line, a field, a header of eight bytes.
var piecemeal = []string{"fmt.Fprint", "fmt.Fscan", "io.ReadFull", "io.ReadAtLeast", "encoding/binary.Read", "encoding/binary.Write"}

// piece reports whether code makes a call of less than a message, with no buffer between.
func piece(frames []model.Frame) bool {
	return code.ContainsPrefix(frames, piecemeal) && !code.ContainsPrefix(frames, []string{"bufio.", "net/http."})
}

// matches reports whether a stack of the trace makes a call in this direction:
// the functions of the poller and of package syscall are named after it.
func (d direction) matches(m *model.Model, s model.Stack) bool {
	return code.ContainsFunc(m.Stacks.Frames(s), func(f string) bool {
		name, ok := strings.CutPrefix(f, "syscall.")
		if !ok {
			name, ok = strings.CutPrefix(f, "golang.org/x/sys/unix.")
		}
		name = strings.ToLower(name)
		return ok && (slices.Contains(d.names, name) || slices.Contains(d.names, name+"64"))
	})
}

func smallioFinding(p *diagnosis.Pass, t *traffic, operations string) diagnosis.Finding {
	places, stacks, inside := t.sites(p)
	how, confidence := cpu.CallCountMethod(p)
	verb := fact.Name(t.verb)
	f := diagnosis.Finding{
		Where:      places,
		Evidence:   []fact.Fact{t.rate, t.mean, t.failed},
		Confidence: confidence,
		Reasons:    []string{how + "; what fewer and larger ones cost is not known before they are tried"},
		RuledOut: []string{fact.Sentence("large transfers in many calls: %s each is far below a buffer's %s",
			t.mean, fact.Name(fact.Bytes.Format(smallBuffer)))},
		Stacks: stacks,
		Remedy: smallRemedy(t),
	}
	now := fact.Sentence("There are %s %ss a second now.", t.rate.Number(), verb)
	switch {
	case t.row.Value > 0:
		f.Evidence = append(f.Evidence, t.row)
		one := fact.Name("message to a question")
		if t.placed {
			one = "read to a record"
		}
		f.RuledOut = append(f.RuledOut, fact.Sentence("one %s: a goroutine makes %s %ss before it waits for anything again", one, t.row, verb))
		f.Say("%s %ss a second carry %s each on average, %s of them in a row: a goroutine makes them without a wait in between.", t.rate.Number(), verb, t.mean, t.row)
	case t.perOp.Value > 0:
		now = fact.Sentence("There are %s %ss for each operation now.", t.perOp, verb)
		f.Evidence = append(f.Evidence, t.perOp)
		if t.match == nil {
			f.RuledOut = append(f.RuledOut, fact.Sentence("one message to an operation: %s %ss for each", t.perOp, verb))
		} else {
			f.RuledOut = append(f.RuledOut, fact.Sentence("the one message of each operation: %ss on sockets are not counted", verb))
		}
		which := ""
		if t.match != nil {
			which = " that are not on sockets"
		}
		f.Say("%s %ss a second"+which+" carry %s each on average: %s for each of the %s.", t.rate.Number(), verb, t.mean, t.perOp, fact.Name(operations))
	case t.cpu.Enough:
		f.Say("%s %ss a second carry %s each on average, and take %s of the CPU in use.", t.rate.Number(), verb, t.mean, t.cpu.Share)
	default:
		f.Say("%s %ss a second carry %s each on average.", t.rate.Number(), verb, t.mean)
	}
	f.Experiment = codeChange(diagnosis.Syscalls, diagnosis.CPUPerOp, now+" CPU time per operation tells what they cost.")
	if t.known && t.match == nil {
		f.Evidence = append(f.Evidence, t.socket)
		if t.socket.Value < smallSocket {
			f.RuledOut = append(f.RuledOut, fact.Sentence("messages of a protocol: only %s of the calls are on sockets", t.socket))
		}
	}
	if !t.cpu.Enough {
		f.Cost, f.Bound = cpu.CallPrice(p, t.rate, inside)
		return f
	}
	f.Confidence = diagnosis.High
	f.Reasons = []string{"two kinds of evidence agree: the calls counted, and the kernel's samples of the time in them"}
	if t.perOp.Value == 0 && t.socket.Value >= smallSocket && t.inPieces() {
		f.Evidence = append(f.Evidence, t.perOther, t.pieces)
		f.RuledOut = append(f.RuledOut, fact.Sentence("answers, one to a question: %s for each %s", t.perOther, fact.Name(t.opposite().verb)))
	}
	if t.row.Value > 0 {
		f.Confidence = diagnosis.Medium
		of := "whether the writes of a row go to one peer is not in the trace"
		if t.placed {
			of = "whether what the reads of a row bring lies together, or stays the same, is not in the trace"
		}
		f.Reasons = append(f.Reasons, of)
	} else if t.perOp.Value == 0 && t.socket.Value >= smallSocket {
		f.Confidence = diagnosis.Medium
		f.Reasons = append(f.Reasons, "how many operations there were is not known: a protocol of so many small messages would look the same")
	}
	f.Evidence = append(f.Evidence, t.cpu.Cores)
	if t.cpu.Share.Value >= burstsShare {
		f.Explains = append(slices.Clone(p.Rule.Explains), schedlatency.Name)
	}
	f.Cost = t.cpu.Cost()
	f.Bound = t.cpu.Bound("Amdahl, as if none of these calls were needed; the bytes must still be copied, " +
		"and what enters and leaves the kernel on the program's side comes on top")
	return f
}

// sites returns the lines that make the calls.
func (t *traffic) sites(p *diagnosis.Pass) (places []diagnosis.Place, stacks []model.Stack, inside fact.Fact) {
	in := cpu.MatchCalls(t.names...)
	return cpu.CallSites(p, func(s model.Stack) bool { return t.matches(p.Model, s) && t.counts(s) },
		func(s *model.Sample) bool { return in(s) && t.counts(s.Stack) })
}

// counts reports whether the calls of a stack are of this traffic.
func (t *traffic) counts(s model.Stack) bool { return t.match == nil || t.match(s) }

func smallRemedy(t *traffic) diagnosis.Remedy {
	switch {
	case t.placed:
		return diagnosis.Remedy{Text: "Read what one piece of work looks at with one call: the block around it, the whole of a small file. " +
			"Keep in memory what is looked at again and does not change, like an index or a header."}
	case t.socket.Value >= smallSocket && t.verb == "write":
		return diagnosis.Remedy{
			Text: "Put the pieces together before they are written: a bufio.Writer that is flushed once for an operation, " +
				"or where no more is there to be answered (`reader.Buffered() == 0`), or net.Buffers, which writes several " +
				"with one call. " +
				"For datagrams, WriteBatch of " +
				"golang.org/x/net/ipv4 sends many with one call.",
			Code: "w := bufio.NewWriterSize(conn, 4<<10)\nencode(w, answer)\nerr := w.Flush() // once",
		}
	case t.verb == "write":
		return diagnosis.Remedy{
			Text: "Put a buffer before the file and flush it when a batch ends, " +
				"at the latest after a time that a reader of the file may wait; for a log, let the logger write to " +
				"that buffer. What is in the buffer when the program is killed is lost.",
			Code: "w := bufio.NewWriterSize(f, 64<<10)\ndefer w.Flush()",
		}
	case t.socket.Value >= smallSocket:
		return diagnosis.Remedy{
			Text: "Read through a bufio.Reader, which takes what is there with one call: a message is read in several pieces, " +
				"most often its header first. For datagrams, ReadBatch of golang.org/x/net/ipv4 " +
				"receives many with one call.",
			Code: "r := bufio.NewReaderSize(conn, 4<<10)",
		}
	}
	return diagnosis.Remedy{
		Text: "Read through a bufio.Reader, or the file as a whole where it is " +
			"small; encoding/binary and fmt.Fscan read a few bytes at a time from what they are given.",
		Code: "r := bufio.NewReaderSize(f, 64<<10)",
	}
}
