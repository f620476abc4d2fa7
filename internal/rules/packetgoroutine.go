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
	// it to matter: at 10 µs saved each, fewer are less than 1 % of a core.
	packetRate = 1000
	// packetWork is the most that such a goroutine works on average when the
	// start of one weighs beside the work. In a DNS server and its replays it
	// is 3 to 20 µs, the two system calls of an answer included; starting,
	// queueing and ending a goroutine took 3 to 8 µs there.
	packetWork = 100 * time.Microsecond
	// packetOutside is the share of them that wait for the network, a timer
	// or another goroutine's message when the reader can do their work itself.
	// One that asks a server upstream would hold up all packets behind it.
	packetOutside = 0.05
	// packetEach is the least number of goroutines to a packet read, where
	// reads are in the trace: below, they are started for something else.
	packetEach = 0.5
	// packetShare is the share of the CPU in what the goroutines alone need:
	// a server that answers in its readers had 9 % in the scheduler, one with
	// a goroutine for each packet, the same work and load, had 20 %.
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

func readsPacket(frames []model.Frame) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool {
		return slices.ContainsFunc(datagramReads, func(r string) bool { return strings.HasPrefix(f.Func, r) })
	})
}

// A packetServer is goroutines that a reader of packets starts.
type packetServer struct {
	group   *model.Group
	reader  *model.Group
	reads   int64 // packets taken, as far as the trace has them
	outside float64
}

func (s *packetServer) rate(p *diagnosis.Pass) float64 {
	return div(float64(s.group.Created), p.Seconds())
}

// work is how long one of them runs or is in system calls.
func (s *packetServer) work() time.Duration {
	g := s.group
	return (g.Times.Running + g.Syscall + g.SyscallBlocked) / time.Duration(max(1, g.Count))
}

func checkPacketgoroutine(p *diagnosis.Pass) {
	readers := packetReaders(p.Model)
	for _, g := range createdMost(p) {
		reader := group(p.Model, root(p.Model, g.Creator))
		if reader == nil || readers[reader.Name] == 0 && !createdByReader(p.Model, g) {
			continue
		}
		s := packetServer{group: g, reader: reader, reads: readers[reader.Name], outside: waitsOutside(p.Model, g)}
		switch {
		case s.rate(p) < packetRate, float64(g.Created) < packetEach*float64(s.reads):
			p.Fine(fmt.Sprintf("packets: readers start %s goroutines a second", num(s.rate(p))))
		case s.outside >= packetOutside:
			p.Fine(fmt.Sprintf("packets: a goroutine for each, and %s of them wait for something outside: a reader could not do their work", pct(s.outside)))
		case s.work() > packetWork:
			p.Fine(fmt.Sprintf("packets: a goroutine for each, and %s of work in one: its start weighs little", dur(s.work())))
		default:
			s.weigh(p)
		}
		return
	}
	if len(readers) > 0 {
		p.Fine("packets: those who read them start no goroutines")
	}
}

// packetReaders is how many packets each group took from sockets; at least 1
// where it was seen to wait for one.
func packetReaders(m *model.Model) map[string]int64 {
	out := map[string]int64{}
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Kind != model.Net && w.Kind != model.SyscallWait || !readsPacket(m.Stacks.Frames(w.Stack)) {
			continue
		}
		if w.Kind == model.SyscallWait {
			out[w.Group] += w.Count
		}
		out[w.Group] = max(1, out[w.Group])
	}
	return out
}

// createdByReader knows the servers whose reading loop has a name of its own.
func createdByReader(m *model.Model, g *model.Group) bool {
	return slices.ContainsFunc(m.Stacks.Frames(g.Creator), func(f model.Frame) bool {
		return strings.HasSuffix(f.Func, "miekg/dns.(*Server).serveUDP")
	})
}

// waitsOutside is how many of a group's goroutines wait for the network, for
// time or for a message, as a share; each at most once is assumed.
func waitsOutside(m *model.Model, g *model.Group) float64 {
	var n int64
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if w.Group == g.Name && (w.Kind == model.Net || w.Reason == "sleep" || w.Reason == "select" || strings.HasPrefix(w.Reason, "chan receive")) {
			n += w.Count
		}
	}
	return min(1, div(float64(n), float64(g.Count)))
}

// packetMachinery reports whether a sample is of what goroutines need beyond
// their work: being started, scheduled, given a stack, and queued before the
// socket's lock.
func packetMachinery(frames []model.Frame) bool {
	switch model.CPUPartOf(frames) {
	case model.Scheduling, model.StackGrowth:
		return true
	}
	return slices.ContainsFunc(frames, func(f model.Frame) bool {
		return churnFunctions[f.Func] || strings.HasPrefix(f.Func, "internal/poll.(*fdMutex).rw")
	})
}

// weigh reports the goroutines if the CPU shows that they cost something.
func (s *packetServer) weigh(p *diagnosis.Pass) {
	spent, ok := spentCPU(p)
	if !ok {
		p.Unchecked(fmt.Sprintf("what a goroutine for each packet costs, of which %s are started a second", num(s.rate(p))),
			"their number alone says nothing, and there are too few CPU samples", diagnosis.HowToGet(model.CPU))
		return
	}
	share := spent.seen(p.Model, packetMachinery)
	if share < packetShare {
		p.Fine(fmt.Sprintf("packets: a goroutine for each, %s a second, costs at most %s of the CPU", num(s.rate(p)), pct(share)))
		return
	}
	p.Report(s.finding(p, &spent, share))
}

func (s *packetServer) finding(p *diagnosis.Pass, spent *cpuSpent, share float64) diagnosis.Finding {
	g := s.group
	creator, _ := p.UserPlace(g.Creator)
	start, _ := p.GroupPlace(g)
	queued := g.Runnable + g.Blocked["sync"]
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s goroutines a second are started in %s, one for each packet that is read, for %s of work each; starting, scheduling and queueing them takes %s of the CPU in use.",
			num(s.rate(p)), short(creator.Function), dur(s.work()), pct(share)),
		Where: where(creator, start),
		Evidence: []fact.Fact{
			{Name: "goroutines started by the reader of the socket", Value: s.rate(p), Unit: fact.PerSec, Source: "trace: goroutine groups, creators"},
			{Name: "work of one, mean", Value: s.work().Seconds(), Unit: fact.Seconds, Source: "trace: running and in system calls ÷ goroutines"},
			{Name: "waiting for a P or a lock, mean", Value: div(queued.Seconds(), float64(g.Count)), Unit: fact.Seconds, Source: "trace: goroutine groups"},
			{Name: "CPU in starting, scheduling and queueing goroutines", Value: share, Unit: fact.Ratio, Source: spent.from()},
			{Name: "alive at once, at most", Value: float64(g.Peak), Unit: fact.Count, Source: "trace: goroutine groups"},
			{Name: "of them waiting for anything outside", Value: s.outside, Unit: fact.Ratio, Source: "trace: waits for the network, time or messages"},
		},
		Cost: diagnosis.Cost{Value: share * spent.Cores(), Unit: fact.Cores, Share: share, What: "CPU in starting, scheduling and queueing goroutines"},
		Bound: diagnosis.Bound{
			Value: (1 - packetMeasured) * spent.Cores(), Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: 1 - packetMeasured,
			Method: "the most that answering in the reader brought: 5.5 µs of CPU per query in the place of 13, in a DNS server on two cores under flood. What the profile shows by name is less: cold caches, a buffer for each packet and its garbage come on top. Where packets are few the reader is woken for each in either design: at 3,000 queries a second it brought a quarter",
		},
		Confidence: diagnosis.High,
		Reasons:    []string{"the trace shows who starts the goroutines and what they do", "CPU samples show what that takes: " + spent.from()},
		RuledOut: []string{
			"work that must wait: " + pct(s.outside) + " of these goroutines waited for the network, time or messages",
			"long work that deserves a goroutine: it is " + dur(s.work()) + " on average",
			"a high rate that costs nothing: see its share of the CPU",
		},
		Groups: []string{g.Name, s.reader.Name},
		Remedy: diagnosis.Remedy{
			Text: "Let the reader of the socket handle the packet and write the answer itself; start as many readers as there are cores, each on the same socket or, with SO_REUSEPORT, on one of its own. What may block (a lookup upstream, a log) is handed to a fixed few workers. In miekg/dns that needs a loop of your own around the socket with dns.Msg's Unpack and Pack, since its Server always starts a goroutine.",
			Code: "buf := make([]byte, 4096) // one for each reader, used again\nfor {\n\tn, from, err := conn.ReadFromUDPAddrPort(buf)\n\tif err != nil {\n\t\treturn err\n\t}\n\tconn.WriteToUDPAddrPort(handle(buf[:n]), from) // no go statement\n}",
		},
		Experiment: changed(diagnosis.CPUPerOp, "", "Goroutines started per operation show that the change was made, CPU time per operation whether it helped; if that stays, this finding is refuted. Offer the same load to both, and see that as many packets are answered."),
	}
	if s.reads > 1 {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "reads of the socket", Value: div(float64(s.reads), p.Seconds()), Unit: fact.PerSec, Source: "trace: system calls of the reader"})
	}
	return f
}
