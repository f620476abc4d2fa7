package rules

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed packetgoroutine.md
var packetgoroutinePage string

var packetgoroutine = &diagnosis.Rule{
	Name:  "packetgoroutine",
	Title: "A goroutine is started for each packet",
	Doc:   packetgoroutinePage,
	Needs: []model.Source{model.Trace},
	Explains: []string{
		"singlesocket", "goroutinechurn", "stackgrowth", "unboundedspawn", "idlespin", "futexstorm", "oversubscribed", "schedlatency", "herdwakeup", "idleprocs",
	},
	Check: checkPacketgoroutine,
}

const (
	// packetRate is how many a second are started by a reader of datagrams for
	// it to matter: at 10 µs saved each, fewer are less than 1% of a core.
	packetRate = 1000
	// packetWork is the largest mean work of such a goroutine when the start of one weighs
	// beside the work. In a DNS server and its replays it is 3 to 20 µs, the two system calls
	// of an answer included; starting, queueing and ending a goroutine took 3 to 8 µs there.
	packetWork = 100 * time.Microsecond
	// packetOutside is the share of them that wait for the network, a timer
	// or another goroutine's message when the reader can do their work itself.
	// One that asks a server upstream would hold up all packets behind it.
	packetOutside = 0.05
	// packetEach is the least number of goroutines to a packet read, where
	// reads are in the trace: below, they are started for something else.
	packetEach = 0.5
	// packetShare is the share of the CPU in what the goroutines alone need:
	// a server that answers in its readers had 9% in the scheduler, one with
	// a goroutine for each packet, the same work and load, had 20%.
	packetShare = 0.12
	// packetMeasured is the CPU time per query of a DNS server that answers
	// in its reader, as a part of that with a goroutine for each packet: 5.5
	// of 13 µs. What goroutines cost in cold caches, buffers and garbage is
	// not in any profile under their name, so that the share there is less.
	packetMeasured = 5.5 / 13
)

// datagramReads are functions that take one packet, or several, from a socket.
var datagramReads = []string{
	"internal/poll.(*FD).ReadFrom", "internal/poll.(*FD).ReadMsg", "net.(*UDPConn).Read", "net.(*UnixConn).ReadFrom", "net.(*UnixConn).ReadMsg",
	"net.(*IPConn).Read", "golang.org/x/net/internal/socket.(*Conn).RecvMsg", "golang.org/x/net/internal/socket.(*Conn).recvMsg",
	"github.com/miekg/dns.(*Server).readUDP", "github.com/miekg/dns.(*Server).readPacketConn", "codeberg.org/miekg/dns.(*Server).listenUDP",
}

func readsPacket(frames []model.Frame) bool { return code.ContainsPrefix(frames, datagramReads) }

// A packetServer is goroutines that a reader of packets starts.
type packetServer struct {
	group, reader *model.Group
	created       fact.Fact // of them
	rate          fact.Fact // of their starts
	reads         fact.Fact // packets taken, as far as the trace has them
	work          fact.Fact // how long one of them runs or is in system calls, and no more than the CPU that all of it takes
	outside       fact.Fact // the part of them that waits for the network, for time or for a message
}

func newPacketServer(p *diagnosis.Pass, g, reader *model.Group) *packetServer {
	groups := []string{g.Name}
	all, created := p.Goroutines("goroutines", groups, "count"), p.Goroutines("goroutines started", groups, "created")
	ofThem := func(reasons ...string) func(*model.Wait) bool {
		return func(w *model.Wait) bool { return w.Group == g.Name && code.StartsWith(w.Reason, reasons) }
	}
	work := fact.Quotient.Of("work of one, mean", fact.Seconds,
		p.Goroutines("time running and in system calls", groups, "running", "syscall", "syscall_blocked"), all)
	if use, ok := cpu.UseOf(p); ok { // a busy machine takes the CPU away from what a trace has as running
		most := fact.Quotient.Of("work of one, mean, at most", fact.Seconds, fact.Product.Of("CPU time in use", fact.Seconds, use.InUse(), p.WindowLength()), all)
		if most.Value < work.Value {
			work = most
		}
	}
	return &packetServer{
		group: g, reader: reader, created: created,
		rate: fact.Quotient.Of("goroutines started by the reader of the socket", fact.PerSec, created, p.WindowLength()),
		reads: p.WaitCount("reads of the socket", model.SyscallWait, func(w *model.Wait) bool {
			return w.Group == reader.Name && readsPacket(p.Model.Stacks.Frames(w.Stack))
		}),
		work: work,
		outside: fact.Fraction.Of("of them waiting for anything outside", fact.Ratio, // each at most once is assumed
			fact.Sum.Of("waits for anything outside", fact.Count,
				p.WaitCount("waits for the network", model.Net, ofThem("")),
				p.WaitCount("waits for messages", model.Sync, ofThem("select", "chan receive")),
				p.WaitCount("sleeps", model.OtherWait, ofThem("sleep"))), all),
	}
}

func checkPacketgoroutine(p *diagnosis.Pass) {
	readers := packetReaders(p.Model)
	for _, g := range createdMost(p) {
		reader := code.Group(p.Model, code.Root(p.Model, g.Creator))
		if reader == nil || !slices.Contains(readers, reader.Name) && !createdByReader(p.Model, g) {
			continue
		}
		s := newPacketServer(p, g, reader)
		switch {
		case s.rate.Value < packetRate, s.created.Value < packetEach*s.reads.Value:
			p.Fine(fact.Sentence("packets: readers start %s goroutines a second", s.rate.Number()))
		case s.outside.Value >= packetOutside:
			p.Fine(fact.Sentence("packets: a goroutine for each, and %s of them wait for something outside: a reader could not do their work", s.outside))
		case s.work.Value > packetWork.Seconds():
			p.Fine(fact.Sentence("packets: a goroutine for each, and %s of work in one: its start weighs little", s.work))
		default:
			s.weigh(p)
		}
		return
	}
	if len(readers) > 0 {
		p.Fine("packets: those who read them start no goroutines")
	}
}

// packetReaders returns the groups that take packets from sockets.
func packetReaders(m *model.Model) (names []string) {
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if (w.Kind == model.Net || w.Kind == model.SyscallWait) && readsPacket(m.Stacks.Frames(w.Stack)) {
			names = append(names, w.Group)
		}
	}
	return names
}

// createdByReader knows the servers whose reading loop has a name of its own.
func createdByReader(m *model.Model, g *model.Group) bool {
	return code.ContainsFunc(m.Stacks.Frames(g.Creator), func(f string) bool {
		return strings.HasSuffix(f, "miekg/dns.(*Server).serveUDP")
	})
}

// packetMachinery reports whether a sample is of what goroutines need beyond
// their work: being started, scheduled, given a stack, and queued before the
// socket's lock.
func packetMachinery(frames []model.Frame) bool {
	switch model.CPUPartOf(frames) {
	case model.Scheduling, model.StackGrowth:
		return true
	}
	return startsOrEnds(frames) || code.ContainsPrefix(frames, []string{"internal/poll.(*fdMutex).rw"})
}

// weigh reports the goroutines if the CPU shows that they cost something.
func (s *packetServer) weigh(p *diagnosis.Pass) {
	use, ok := cpu.UseOf(p)
	if !ok {
		p.Unchecked(fact.Sentence("what a goroutine for each packet costs, of which %s are started a second", s.rate.Number()),
			"their number alone says nothing, and there are too few CPU samples", p.HowToGet(model.CPU))
		return
	}
	share := use.ShareIn("CPU in starting, scheduling and queueing goroutines", packetMachinery)
	if share.Value < packetShare {
		p.Fine(fact.Sentence("packets: a goroutine for each, %s a second, costs at most %s of the CPU", s.rate.Number(), share))
		return
	}
	p.Report(s.finding(p, &use, share))
}

func (s *packetServer) finding(p *diagnosis.Pass, use *cpu.Use, share fact.Fact) diagnosis.Finding {
	creator, _ := p.UserPlace(s.group.Creator)
	start, _ := p.GroupPlace(s.group)
	groups := []string{s.group.Name}
	saved := fact.Rest.Of("part of the CPU that answering in the reader saved", fact.Ratio, fact.Figure("CPU of a server that answers in its reader, as a part of that with a goroutine for each packet",
		packetMeasured, fact.Ratio, "a DNS server on two cores under flood: 5.5 µs of CPU per query in the place of 13"))
	f := diagnosis.Finding{
		Where: code.Places(creator, start),
		Evidence: []fact.Fact{
			s.rate, s.work,
			fact.Quotient.Of("waiting for a P or a lock, mean", fact.Seconds,
				p.Goroutines("time waiting for a P or a lock", groups, "runnable", "blocked:sync"), p.Goroutines("goroutines", groups, "count")),
			share, p.Goroutines("alive at once, at most", groups, "peak"), s.outside,
		},
		Cost: use.Cost(share),
		Bound: diagnosis.Limit(fact.Product.Of("CPU saved by answering in the reader", fact.Cores, saved, use.InUse()), diagnosis.CPUGoal, saved.Value,
			"the largest gain seen in a measured server. What the profile shows by name is less: "+
				"cold caches, a buffer for each packet and its garbage come on top. "+
				"Where packets are few the reader is woken for each in either design, and it brought a quarter"),
		Confidence: diagnosis.High,
		Reasons:    []string{"the trace shows who starts the goroutines and what they do", "the " + use.Source + " shows what that takes"},
		RuledOut: []string{
			fact.Sentence("work that must wait: %s of these goroutines waited for the network, time or messages", s.outside),
			fact.Sentence("long work that deserves a goroutine: it is %s on average", s.work),
			"a high rate that costs nothing: see its share of the CPU",
		},
		Groups: []string{s.group.Name, s.reader.Name},
		Remedy: diagnosis.Remedy{
			Text: "Let the reader of the socket handle the packet and write the answer itself; start as many readers as there are cores, " +
				"each on the same socket or, with SO_REUSEPORT, on one of its own. " +
				"What may block (a lookup upstream, a log) is handed to a fixed few workers. " +
				"In miekg/dns that needs a loop of your own around the socket with dns.Msg's Unpack and Pack, " +
				"since its Server always starts a goroutine.",
			Code: "buf := make([]byte, 4096) // one for each reader, used again\nfor {\n\tn, from, err := conn.ReadFromUDPAddrPort(buf)\n\tif err != nil {\n\t\treturn err\n\t}\n\tconn.WriteToUDPAddrPort(handle(buf[:n]), from) // no go statement\n}",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Goroutines started per operation show that the change was made, CPU time per operation whether it helped; "+
			"if that stays, this finding is refuted. Offer the same load to both, and see that as many packets are answered."),
	}
	if s.reads.Value > 0 {
		f.Rest(fact.Quotient.Of("reads of the socket", fact.PerSec, s.reads, p.WindowLength()))
	}
	f.Say("%s goroutines a second are started in %s, one for each packet that is read, for %s of work each; "+
		"starting, scheduling and queueing them takes %s of the CPU in use.", s.rate.Number(), code.Name(creator.Function), s.work, share)
	return f
}
