package rules

import (
	_ "embed"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed singlesocket.md
var singlesocketPage string

var singlesocket = &diagnosis.Rule{
	Name:     "singlesocket",
	Title:    "Many goroutines share one socket or file",
	Doc:      singlesocketPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idleprocs"},
	Check:    checkSinglesocket,
}

const (
	// singlesocketWaiters is the average number of goroutines inside the
	// lock's queue from which it is a finding.
	singlesocketWaiters = 1
	// singlesocketShare is its share of the time blocked on anything that
	// holds up work. The DNS server that the rule was made after shows 67%,
	// its replay 88 to 92%.
	singlesocketShare = 0.5
	// singlesocketSome is the least number of waiters that the share may
	// speak for: half of nothing is nothing.
	singlesocketSome = 0.1
	// singlesocketGain is the largest gain that four sockets instead of one brought on two
	// cores (4 to 25%), although the lock had 88 to 99% of the blocked time. Where blocked
	// time ranks, it does not predict.
	singlesocketGain = 1.25
	// singlesocketSpawn is the rate of new goroutines in the waiting groups,
	// per second, from which each packet is taken to have its own.
	singlesocketSpawn = 1000
)

func checkSinglesocket(p *diagnosis.Pass) {
	qs := queueing.Queues(p)
	var sock, file queueing.Queue
	for _, q := range qs {
		// The lock is in one descriptor whatever line of the library waits for
		// it, so what is read from it and written to it is one queue.
		switch {
		case q.Kind != queueing.Descriptor:
		case isSocket(p.Model, q.Stacks[0]):
			sock.Merge(q)
		default:
			file.Merge(q)
		}
	}
	q, kind := &sock, kindOfSocket(p.Model, sock.Stacks)
	if file.Total > sock.Total {
		q, kind = &file, ofFile
	}
	waiting, share := q.Waiting(p, "goroutines waiting for the descriptor's lock, on average"), q.PartOf(p, qs, "share of blocked time")
	switch why := queueing.Unseen(p, queueing.Descriptor); {
	case waiting.Value == 0 && why != "":
		p.Unchecked("whether goroutines wait for the lock of a file descriptor", why, p.HowToGet(model.Trace))
	case waiting.Value == 0:
		p.Fine("file descriptors: nobody waits for the lock of one")
	case waiting.Value < singlesocketWaiters && (share.Value < singlesocketShare || waiting.Value < singlesocketSome):
		p.Fine(fact.Sentence("file descriptors: on average %s goroutines wait for the lock of one", waiting))
	default:
		p.Report(sharedDescriptor(p, q, kind, waiting, share))
	}
}

// A descriptor is what kind of thing a lock is in.
type descriptor uint8

const (
	ofFile       descriptor = iota
	ofConnection            // a socket with one other end
	ofListener              // a socket at a port, which whoever wants sends to
)

func (d descriptor) String() string { return [...]string{"file", "connection", "socket"}[d] }

// kindOfSocket tells by the library's functions: what takes or answers packets names
// the other end each time, and only that can share its port with more sockets.
func kindOfSocket(m *model.Model, stacks []model.Stack) descriptor {
	for _, s := range stacks {
		if code.ContainsPrefix(m.Stacks.Frames(s), listenerFunctions) {
			return ofListener
		}
	}
	return ofConnection
}

var listenerFunctions = []string{
	"net.(*TCPListener).", "net.(*UnixListener).",
	"net.(*UDPConn).ReadFrom", "net.(*UDPConn).WriteTo", "net.(*UDPConn).ReadMsg", "net.(*UDPConn).WriteMsg",
	"net.(*IPConn).ReadFrom", "net.(*IPConn).WriteTo", "net.(*UnixConn).ReadFrom", "net.(*UnixConn).WriteTo",
	"golang.org/x/net/ipv4.(*PacketConn).", "golang.org/x/net/ipv6.(*PacketConn).",
}

func isSocket(m *model.Model, s model.Stack) bool {
	for _, f := range m.Stacks.Frames(s) {
		switch {
		case strings.HasPrefix(f.Func, "net."):
			return true
		case strings.HasPrefix(f.Func, "os.(*File)."):
			return false
		}
	}
	return false
}

func sharedDescriptor(p *diagnosis.Pass, q *queueing.Queue, kind descriptor, waiting, share fact.Fact) diagnosis.Finding {
	place := q.Place(p)
	started := fact.Quotient.Of("goroutines started", fact.PerSec,
		p.Goroutines("goroutines started in the window", q.Groups, "created"), p.WindowLength())
	spawning := started.Value >= singlesocketSpawn
	f := inQueue(p, q, waiting, "if nobody waited for this lock", place)
	f.Evidence = []fact.Fact{waiting, share, q.MeanWait(p, "mean wait"), started, cpu.BusyPs(p)}
	f.Reasons = []string{
		"the lock is named by its function, whoever waits for it",
		"the trace does not tell how many descriptors these are: " +
			"many connections with one writer each do not wait, but a few shared by many look the same",
	}
	f.RuledOut = []string{"goroutines waiting for data: those wait in the network poller, not for this lock"}
	f.Remedy = descriptorRemedy(kind, spawning)
	note := "Blocked time falls whatever was changed and proves nothing."
	if kind == ofListener {
		f.Bound = moreSockets()
		note += " See that the old server no longer answers: with SO_REUSEPORT a forgotten one keeps taking its part of the packets."
	}
	f.Experiment = codeChange(diagnosis.CPUPerOp, "", note)
	what, spawns := kind.String(), ""
	if spawning {
		spawns = " %s goroutines a second are started to do so."
	}
	f.Say("On average %s goroutines wait for the lock of one "+what+" in %s, %s of all the time blocked on something that holds up work."+spawns,
		waiting, code.Name(place.Function), share, started.Number())
	return f
}

// moreSockets promises no more than was ever measured with several sockets at one port.
func moreSockets() diagnosis.Bound {
	throughput := fact.Figure("throughput", singlesocketGain, fact.Factor,
		"the largest gain measured with four sockets instead of one, on two cores, in CPU time per request")
	return diagnosis.Direction(throughput, diagnosis.Throughput, fact.Gain.Of("time saved", fact.Ratio, throughput).Value,
		"machines with many cores may gain more, the goroutine per packet is another matter")
}

func descriptorRemedy(kind descriptor, spawning bool) diagnosis.Remedy {
	switch {
	case kind == ofConnection:
		return diagnosis.Remedy{
			Text: "Let one goroutine write to the connection what the others hand it, several messages with one call; " +
				"or, if the program is the client, give them a few connections to take turns at, where the protocol allows. " +
				"Writing less often, with a buffer, cuts both the calls and the wait.",
			Code: "w := bufio.NewWriter(conn) // owned by one goroutine, flushed when its queue is empty",
		}
	case kind == ofFile:
		return diagnosis.Remedy{
			Text: "Let one goroutine own the file and write what the others hand it, in large pieces; " +
				"or give each goroutine a file of its own. Buffering before the write cuts both the calls and the wait.",
			Code: "w := bufio.NewWriterSize(f, 64<<10) // owned by one goroutine, flushed when its queue is empty",
		}
	case spawning:
		return diagnosis.Remedy{
			Text: "Do not start a goroutine for each packet: let each reader of the socket handle the packet and write the answer itself. " +
				"That is the first cause; it brought 2.25 times the work per CPU where more sockets alone brought 4 to 25%. " +
				"Then open one socket to a core with SO_REUSEPORT, each with its own reader.",
			Code: "for {\n\tn, from, err := conn.ReadFromUDPAddrPort(buf)\n\tif err != nil {\n\t\treturn err\n\t}\n\tconn.WriteToUDPAddrPort(handle(buf[:n]), from) // no go statement\n}",
		}
	}
	return diagnosis.Remedy{
		Text: "Let one goroutine write to the socket what the others hand it, several packets with one call where the protocol allows; " +
			"or open one socket to a core on the same port with SO_REUSEPORT, each with its own reader.",
		Code: "lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {\n\treturn c.Control(func(fd uintptr) {\n\t\tunix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)\n\t})\n}}",
	}
}
