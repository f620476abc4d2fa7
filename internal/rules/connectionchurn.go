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

//go:embed connectionchurn.md
var connectionchurnPage string

var connectionchurn = &diagnosis.Rule{
	Name:     "connectionchurn",
	Title:    "Connections are made anew instead of kept",
	Doc:      connectionchurnPage,
	Needs:    []model.Source{model.SyscallLog},
	Explains: []string{"syscallbound", "reopen", "goroutinechurn"},
	Check:    checkConnectionchurn,
}

const (
	// newConnRate is how many connections a second are many: a tenth of it is a
	// health check or a pool that fills. Four clients and their server in one
	// process took 80 to 150 µs of CPU for each connection on loopback, so that
	// below it they are some hundredths of a core.
	newConnRate = 100
	// newConnPerOp is how many an operation makes: with connections that are
	// kept hundreds share one, with none kept each makes its own.
	newConnPerOp = 0.5
	// newConnShare is the share of the CPU in making and ending them from which
	// that matters. Four clients and their server in one process are at 0.57
	// without keep-alive, at 0.39 with the two idle connections to a host that are
	// kept unless MaxIdleConnsPerHost says more, and at 0 when it does.
	newConnShare = 0.05
	// newConnKept is the part of the new connections that may be open at once
	// before they are a crowd that arrives and stays: a thousand clients that poll
	// for news show all, at their beginning; without keep-alive it is a handful.
	newConnKept  = 0.5
	newConnNamed = 2
)

func checkConnectionchurn(p *diagnosis.Pass) {
	c := countConnections(p.Model.Syscalls)
	if c.rate() < newConnRate/10 {
		return
	}
	ops, name := operations(p)
	perOp := div(c.rate(), ops)
	s, sampled := spentCPU(p)
	switch {
	case c.rate() < newConnRate:
		p.Fine(fmt.Sprintf("connections: %s new ones a second", num(c.rate())))
		return
	case ops > 0 && perOp < newConnPerOp:
		p.Fine(fmt.Sprintf("connections: %s new ones a second, one for %s of the %s", num(c.rate()), num(1/perOp), name))
		return
	case openAtOnce(p.Model) >= newConnKept*c.rate()*p.Model.Syscalls.Window.Seconds():
		p.Fine(fmt.Sprintf("connections: %s new ones a second, most of which stay", num(c.rate())))
		return
	case !sampled:
		p.Unchecked("what making connections costs", fmt.Sprintf("there are %s new ones a second, and too few CPU samples to tell their price", num(c.rate())), diagnosis.HowToGet(model.CPU))
		return
	}
	sites := s.functions(p.Model, connects)
	share := s.seen(p.Model, connects)
	if share < newConnShare {
		p.Fine(fmt.Sprintf("connections: %s new ones a second take %s of the CPU", num(c.rate()), pct(share)))
		return
	}
	p.Report(churnConnections(p, &s, c, perOp, name, sites, share))
}

// openAtOnce is the most descriptors that the process had more than at its
// least; 0 where nobody was allowed to look.
func openAtOnce(m *model.Model) float64 {
	if m.Process == nil {
		return 0
	}
	least, most := math.MaxInt, 0
	for _, s := range m.Process.Samples {
		if s.FDs >= 0 {
			least, most = min(least, s.FDs), max(most, s.FDs)
		}
	}
	return float64(max(0, most-least))
}

// newConnections is how many sockets were connected and accepted a second.
type newConnections struct{ out, in float64 }

func (c newConnections) rate() float64 { return max(c.out, c.in) }

func countConnections(s *model.Syscalls) newConnections {
	w := s.Window.Seconds()
	// A non-blocking connect fails with EINPROGRESS and is one all the same; an
	// accept that fails found nobody.
	accept, accept4 := s.Call("accept"), s.Call("accept4")
	return newConnections{out: div(float64(s.Call("connect").Count), w), in: div(float64(succeeded(accept)+succeeded(accept4)), w)}
}

func succeeded(c model.Syscall) int64 {
	var failed int64
	for _, n := range c.Errors {
		failed += n
	}
	return max(0, c.Count-failed)
}

// connects reports whether a sample is of making or ending a connection.
func connects(frames []model.Frame) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool {
		return strings.HasPrefix(f.Func, "net.(*Dialer).Dial") || strings.HasPrefix(f.Func, "net.(*sysDialer)") ||
			strings.HasPrefix(f.Func, "net/http.(*Transport).dialConn") || strings.HasPrefix(f.Func, "net.(*TCPListener).accept") ||
			strings.HasPrefix(f.Func, "net.(*UnixListener).accept") || strings.HasPrefix(f.Func, "net.(*conn).Close") ||
			strings.HasPrefix(f.Func, "crypto/tls.(*Conn).handshakeContext") || strings.HasPrefix(f.Func, "crypto/tls.(*Conn).clientHandshake") ||
			strings.HasPrefix(f.Func, "crypto/tls.(*Conn).serverHandshake")
	})
}

func churnConnections(p *diagnosis.Pass, s *cpuSpent, c newConnections, perOp float64, name string, sites []cpuPlace, share float64) diagnosis.Finding {
	verb, fix := "opens", churnClient
	if c.in > c.out {
		verb, fix = "accepts", churnServer
	}
	most := s.without(p.Model, connects)
	words := fmt.Sprintf("The program %s %s connections a second", verb, num(c.rate()))
	if perOp > 0 {
		words += fmt.Sprintf(", %s for each of the %s", num(perOp), name)
	}
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s; making and ending them takes %s of the CPU in use.", words, pct(share)),
		Where:   topPlaces(sites, newConnNamed),
		Stacks:  topStacks(sites, newConnNamed),
		Evidence: []fact.Fact{
			{Name: "connections opened", Value: c.out, Unit: fact.PerSec, Source: "system calls: connect"},
			{Name: "connections accepted", Value: c.in, Unit: fact.PerSec, Source: "system calls: accept4 that succeeded"},
			{Name: "CPU in making and ending connections", Value: share, Unit: fact.Ratio, Source: s.from()},
		},
		Cost: diagnosis.Cost{Value: share * s.Cores(), Unit: fact.Cores, Share: share, What: "CPU in making and ending connections"},
		Bound: diagnosis.Bound{
			Value: most * s.Cores(), Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: most,
			Method: fmt.Sprintf(withoutMethod, "making and ending connections") + "; the round trips of their beginning are saved besides, which are latency",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the kernel counts the connections; their price is from samples"},
		RuledOut:   []string{"a pool that fills, or clients that stay: so many are not open at once"},
		Remedy:     fix,
		Experiment: changed(diagnosis.CPUPerOp, diagnosis.Syscalls, "System calls per operation are a count and show in one run whether connections are kept; the client must be the same in both arms."),
	}
	if len(f.Where) == 0 {
		f.Where = awaitingConnections(p)
	}
	if perOp == 0 {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "how many operations there were is not known: each may have needed its connection")
	}
	return f
}

// awaitingConnections is who waits for connections that net/http makes in
// goroutines of its own, where no sample names who wanted them.
func awaitingConnections(p *diagnosis.Pass) []diagnosis.Place {
	if p.Model.Sched == nil {
		return nil
	}
	waited := map[diagnosis.Place]time.Duration{}
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		wants := func(f model.Frame) bool { return strings.HasPrefix(f.Func, "net/http.(*Transport).getConn") }
		if !slices.ContainsFunc(p.Model.Stacks.Frames(w.Stack), wants) {
			continue
		}
		if place, ok := p.UserPlace(w.Stack); ok {
			waited[place] += w.Total
		}
	}
	places := slices.SortedFunc(maps.Keys(waited), func(a, b diagnosis.Place) int {
		return cmp.Or(cmp.Compare(waited[b], waited[a]), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Line, b.Line))
	})
	return places[:min(newConnNamed, len(places))]
}

var churnClient = diagnosis.Remedy{
	Text: "Use one client for all requests: an http.Transport keeps two idle connections for each host unless MaxIdleConnsPerHost says more, none for a body that was not read to its end and closed, and none of another Transport's.",
	Code: "transport := http.DefaultTransport.(*http.Transport).Clone()\ntransport.MaxIdleConnsPerHost = 100 // as many as are in use at a time\nclient := &http.Client{Transport: transport} // one for the program",
}

var churnServer = diagnosis.Remedy{
	Text: "The clients decide, unless the server ends connections: look for SetKeepAlivesEnabled(false), \"Connection: close\" in answers, an IdleTimeout shorter than the clients' pauses, or a proxy in between that keeps none.",
}
