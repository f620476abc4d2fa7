package rules

import (
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// This is serialcalls' second view, of a program without a trace: a wall-clock profile says for
// how long requests stand where, and not what they do one after the other.

// requestSamples is how many samples of requests tell where these spend their time: of a
// hundred the share of half is known within a tenth.
const requestSamples = 100

// servers are the functions from which servers call the program for a request.
var servers = []string{
	"net/http.serverHandler.ServeHTTP", "net/http.initALPNRequest.ServeHTTP", "net/rpc.(*service).call",
	"google.golang.org/grpc.(*Server).processUnaryRPC", "google.golang.org/grpc.(*Server).processStreamingRPC",
	"github.com/valyala/fasthttp.(*Server).serveConn", "github.com/miekg/dns.(*Server).serveDNS",
}

// clientWaits are the functions in which clients wait for an answer that another goroutine
// reads for them.
var clientWaits = []string{
	"net/http.(*persistConn).roundTrip", "net/http.(*http2ClientConn).RoundTrip", "net/http.(*http2ClientConn).roundTrip",
	"golang.org/x/net/http2.(*ClientConn).RoundTrip", "golang.org/x/net/http2.(*ClientConn).roundTrip",
	"google.golang.org/grpc/internal/transport.(*recvBufferReader).", "net/rpc.(*Client).Call",
}

// peerWaits are the functions in which a request waits for who asks, not for an answer.
var peerWaits = []string{"net/http.(*body).Read", "net/http.(*expectContinueReader).Read", "net/http.(*response).", "net/http.(*http2requestBody).Read"}

// inRequest reports whether a stack is of the program's work for a request.
func inRequest(p *diagnosis.Pass) func([]model.Frame) bool {
	own := code.ProgramPackages(p.Model)
	return func(frames []model.Frame) bool {
		i := slices.IndexFunc(frames, func(f model.Frame) bool { return slices.Contains(servers, f.Func) })
		return i > 0 && slices.ContainsFunc(frames[:i], func(f model.Frame) bool { return code.StartsWith(f.Func, own) })
	}
}

// waitsForAnswer reports whether a goroutine waits for the network, for what it asked another
// process.
func waitsForAnswer(frames []model.Frame) bool {
	if code.ContainsAny(frames, peerWaits) || slices.ContainsFunc(frames, func(f model.Frame) bool { return strings.Contains(f.Func, "websocket.") }) {
		return false
	}
	return code.ContainsAny(frames, clientWaits) || code.ContainsPrefix(frames, []string{"internal/poll.runtime_pollWait"})
}

// inMain reports whether a stack is of the main goroutine.
func inMain(frames []model.Frame) bool {
	return slices.ContainsFunc(frames[max(0, len(frames)-2):], func(f model.Frame) bool { return slices.Contains(code.MainGroups, f.Func) })
}

// A waiter is what waits for answers, and what is said of it.
type waiter struct {
	in                              func([]model.Frame) bool
	time, title, said, fine, unseen string
}

// waiters returns them: requests, and the main goroutine of a program that asks others for all that
// it does, like an import.
func waiters(p *diagnosis.Pass) []waiter {
	return []waiter{{
		in: inRequest(p), time: "time of requests in the program",
		title: "Requests wait for answers most of the time", said: "Requests wait for answers for %s of their time, most of it in %s.",
		fine: "requests: they wait for answers for %s of their time", unseen: "how many calls a request makes",
	}, {
		in: inMain, time: "time of the main goroutine",
		title: "The main goroutine waits for answers most of the time", said: "The main goroutine waits for answers for %s of its time, most of it in %s.",
		fine: "main goroutine: it waits for answers for %s of its time", unseen: "how many calls the main goroutine makes",
	}}
}

// waits returns which samples are of those that wait for an answer.
func (a *waiter) waits(p *diagnosis.Pass) fact.Where {
	return func(s *model.Sample) bool {
		frames := p.Model.Stacks.Frames(s.Stack)
		return s.Labels["state"] != model.StateRunnable && a.in(frames) && waitsForAnswer(frames)
	}
}

// mainAsks reports whether the program writes as often as one does that asks, and hardly computes:
// who waits for work writes little.
func mainAsks(p *diagnosis.Pass) bool {
	cores, of, known := diagnosis.Busy(p.Model)
	return known && cores < diagnosis.LoadedShare*of && p.Syscalls("writes", "good", directions[0].names...).Value >= aloneCalls
}

// checkSampledCalls reports requests that wait for answers for most of their time, or a main goroutine
// that does where there are none.
func checkSampledCalls(p *diagnosis.Pass) {
	for i, a := range waiters(p) {
		all := p.Samples(a.time, "wall", p.Frames(a.in))
		if all.Origin.N < requestSamples || i > 0 && !mainAsks(p) {
			continue
		}
		waited := p.Samples("waiting for answers in it", "wall", a.waits(p))
		share := fact.Fraction.Of("part of it", fact.Ratio, waited, all)
		if share.Value < serialCallsPart {
			p.Fine(fact.Sentence(a.fine, share))
			return
		}
		p.Unchecked(a.unseen, "a wall-clock profile says where they stand, and not how often", p.HowToGet(model.Trace))
		p.Report(a.finding(p, all, waited, share))
		return
	}
}

// stacks returns where they wait for answers, for the longest time first.
func (a *waiter) stacks(p *diagnosis.Pass) []model.Stack {
	by, column, waits := map[model.Stack]float64{}, p.Model.Wall.Column("wall"), a.waits(p)
	for i := range p.Model.Wall.Samples {
		if s := &p.Model.Wall.Samples[i]; waits(s) {
			by[s.Stack] += s.Value(column)
		}
	}
	return statistics.Largest(by)
}

// atMost is what a share of some samples may be of all that they stand for.
var atMost = &fact.Formula{Name: "at most", Words: "{0}, and what chance may have kept from the {1}", Value: func(x []float64) float64 { return fact.LargestShare(x[0], int64(x[1])) }}

// sampledNamed is how many stacks such a finding is about at most.
const sampledNamed = 8

// finding makes a remark: what they ask for may be what they are for.
func (a *waiter) finding(p *diagnosis.Pass, all, waited, share fact.Fact) diagnosis.Finding {
	stacks, waits := a.stacks(p), a.waits(p)
	call := code.UserPlace(p, stacks[0])
	here := p.Samples("of that in "+code.Short(call.Function), "wall", func(s *model.Sample) bool {
		at, ok := p.UserPlace(s.Stack)
		return ok && at.Function == call.Function && waits(s)
	})
	most := atMost.Of("part of the latency", fact.Ratio, share, p.SampleCount("samples", "wall", p.Frames(a.in)))
	cores, of, known := diagnosis.Busy(p.Model)
	f := diagnosis.Finding{
		Title:      a.title,
		Remark:     true,
		Waits:      known && cores < diagnosis.LoadedShare*of,
		Where:      code.Places(append(leadingTo(p, stacks[0]), call)...),
		Stacks:     stacks[:min(len(stacks), sampledNamed)],
		Evidence:   []fact.Fact{all, waited, share, here},
		Cost:       diagnosis.CostOf(waited, share.Value),
		Bound:      diagnosis.Limit(most, diagnosis.Latency, most.Value, "if all answers were there at once"),
		Confidence: diagnosis.Low,
		Reasons: []string{
			"one kind of evidence, the wall-clock profile: looks at all goroutines, many times a second",
			a.unseen + " is not in it, nor whether each needs the answer of the one before",
		},
		RuledOut: []string{
			"waiting for who asks: only what the program's own functions asked for counts",
		},
		Remedy:     seriesRemedy,
		Experiment: codeChange(diagnosis.P50, "", ""),
	}
	f.Say(a.said, share, code.Name(call.Function))
	return f
}
