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
	own := code.OwnPackages(p.Model)
	return func(frames []model.Frame) bool {
		i := slices.IndexFunc(frames, func(f model.Frame) bool { return slices.Contains(servers, f.Func) })
		return i > 0 && slices.ContainsFunc(frames[:i], func(f model.Frame) bool { return code.StartsWith(f.Func, own) })
	}
}

// waitsForAnswer reports whether a goroutine waits for the network, for what it asked another
// process.
func waitsForAnswer(frames []model.Frame) bool {
	if code.ThroughOne(frames, peerWaits) || slices.ContainsFunc(frames, func(f model.Frame) bool { return strings.Contains(f.Func, "websocket.") }) {
		return false
	}
	return code.ThroughOne(frames, clientWaits) || code.Through(frames, []string{"internal/poll.runtime_pollWait"})
}

// awaits returns which samples are of requests that wait for an answer.
func awaits(p *diagnosis.Pass) fact.Where {
	request := inRequest(p)
	return func(s *model.Sample) bool {
		frames := p.Model.Stacks.Frames(s.Stack)
		return s.Labels["state"] != model.StateRunnable && request(frames) && waitsForAnswer(frames)
	}
}

// checkSampledCalls reports requests that wait for answers for most of their time.
func checkSampledCalls(p *diagnosis.Pass) {
	all, waiting := p.Samples("time of requests in the program", "wall", p.Frames(inRequest(p))), awaits(p)
	if all.Origin.N < requestSamples {
		return
	}
	waited := p.Samples("time in which they wait for answers", "wall", waiting)
	share := fact.Fraction.Of("part of their time", fact.Ratio, waited, all)
	if share.Value < serialCallsPart {
		p.Fine(fact.Sentence("requests: they wait for answers for %s of their time", share))
		return
	}
	p.Unchecked("how many calls a request makes", "a wall-clock profile says where they stand, and not how often", p.HowToGet(model.Trace))
	by, column := map[model.Stack]float64{}, p.Model.Wall.Column("wall")
	for i := range p.Model.Wall.Samples {
		if s := &p.Model.Wall.Samples[i]; waiting(s) {
			by[s.Stack] += s.Value(column)
		}
	}
	p.Report(sampledFinding(p, statistics.Largest(by), all, waited, share))
}

// atMost is what a share of some samples may be of all that they stand for.
var atMost = &fact.Formula{Name: "at most", Words: "{0}, and what chance may have kept from the {1}", Value: func(x []float64) float64 { return fact.AtMost(x[0], int64(x[1])) }}

// sampledFinding makes a remark: what requests ask for may be what they are for.
func sampledFinding(p *diagnosis.Pass, stacks []model.Stack, all, waited, share fact.Fact) diagnosis.Finding {
	call := code.UserPlace(p, stacks[0])
	waiting := awaits(p)
	here := p.Samples("of it in "+code.Short(call.Function), "wall", func(s *model.Sample) bool {
		at, ok := p.UserPlace(s.Stack)
		return ok && at.Function == call.Function && waiting(s)
	})
	most := atMost.Of("part of the latency", fact.Ratio, share, p.SampleCount("samples of requests", "wall", p.Frames(inRequest(p))))
	cores, of, known := diagnosis.Busy(p.Model)
	f := diagnosis.Finding{
		Title:      "Requests wait for answers for most of their time",
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
			"how many calls one request makes is not in it; a trace has them one by one",
		},
		RuledOut: []string{
			"waiting for the next request, or for the rest of one: only what the program's own functions asked for counts",
		},
		Remedy:     seriesRemedy,
		Experiment: changed(diagnosis.P50, "", ""),
	}
	f.Say("Requests wait for answers for %s of their time, most of it in %s.", share, code.Name(call.Function))
	return f
}

// sampledNamed is how many stacks such a finding is about at most.
const sampledNamed = 8
