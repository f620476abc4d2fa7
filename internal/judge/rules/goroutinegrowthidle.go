package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// clientReader is the goroutine of net/http's client that reads a connection, one for
	// each; a writer stands beside it.
	clientReader = "net/http.(*persistConn).readLoop"
	// clientAsking is the frame of whoever waits for an answer on one.
	clientAsking = "net/http.(*persistConn).roundTrip"
	// idleAsked is the part of the connections for which somebody may wait for an answer
	// before they are in use: as many as connections where load rises, none where clients
	// are made and left.
	idleAsked = 0.5
)

// readsClient reports whether a goroutine reads a connection of net/http's client. It waits
// for the network where the connection is idle or an answer is to come, and in a select
// until the body of one is read.
func readsClient(m *model.Model, s model.Stack) bool {
	return code.ContainsAny(m.Stacks.Frames(s), []string{clientReader})
}

// idleConnections returns how many connections of net/http's client became more between both
// ends while nobody waits for an answer on them.
func idleConnections(p *diagnosis.Pass, s *growing) (idle, asked fact.Fact, ok bool) {
	const (
		more    = "more connections of HTTP clients"
		waiting = "requests that wait for an answer at the end"
	)
	m := p.Model
	switch {
	case len(s.readers) > 0:
		idle = moreAt(p, more, s.readers...)
		asked = p.Samples(waiting, "goroutine", p.Frames(func(frames []model.Frame) bool { return code.ContainsAny(frames, []string{clientAsking}) }))
	case code.Group(m, clientReader) != nil && (m.Goroutines.Start == nil || m.Goroutines.End == nil):
		of := []string{clientReader}
		idle = fact.Difference.Of(more, fact.Count, p.Goroutines("readers started", of, "created"), p.Goroutines("readers ended", of, "ended"))
		var open int64
		for i := range m.Sched.Waits {
			if w := &m.Sched.Waits[i]; code.ContainsAny(m.Stacks.Frames(w.Stack), []string{clientAsking}) {
				open += w.Open
			}
		}
		asked = p.Statistic(fact.Timeline, "waits without an end", waiting, float64(open), fact.Count)
	}
	return idle, asked, idle.Value >= growthLeast && asked.Value < idleAsked*idle.Value
}

// idleFinding is about HTTP clients whose idle connections nobody closes.
func idleFinding(p *diagnosis.Pass, g *goroutineTrend, s *growing, idle, asked fact.Fact) diagnosis.Finding {
	f := growthFinding(p, *g, *s)
	f.Where, f.Explains = awaitingConnections(p), nil // that of the rule: the descriptors of the connections, too
	const format = "%s more connections of HTTP clients are open than at the start, and the requests that wait for an answer are %s: " +
		"the connections are idle and kept, with two goroutines each. "
	if g.over.Value == 0 {
		f.Say(format+"In which time is not known.", idle.Number(), asked.Number())
	} else {
		f.Say(format+"Goroutines rose from %s to %s, by %s a second.", idle.Number(), asked.Number(), g.start, g.end, g.perSecond.Number())
	}
	f.Rest(idle, asked)
	f.Reasons = append(f.Reasons, "that each has a Transport of its own is inferred: one that asks ever more hosts looks the same, "+
		"until its IdleConnTimeout, 90 s by default, has passed")
	if g.over.Value < descriptorsLong.Seconds() {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "in so short a time a client that fills its pool looks the same: record a minute")
	}
	f.RuledOut[0] = fact.Sentence("connections that are in use: the requests that wait for an answer are %s", asked)
	f.Remedy = diagnosis.Remedy{
		Text: "Use one http.Client, and one Transport, for the program instead of one for each request or tenant: each " +
			"Transport keeps idle connections of its own, and one without an IdleConnTimeout keeps them for ever. " +
			"Where each must have its own, keep it for as long as it is used and call CloseIdleConnections then. " +
			"If it is one that asks ever more hosts, MaxIdleConns and IdleConnTimeout bound them.",
		Code: churnClient.Code,
	}
	return f
}
