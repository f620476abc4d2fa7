package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed serialwait.md
var serialwaitPage string

var serialwait = &diagnosis.Rule{
	Name:     "serialwait",
	Title:    "One goroutine limits the throughput while it waits for answers",
	Doc:      serialwaitPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"serialcalls", "idleprocs", "funnelchannel", "idlespin", "futexstorm"},
	Check:    checkSerialwait,
}

const (
	// serialShare is the part of its time that the stage waits for answers,
	// while work stands before it: at half, twice the throughput is behind it. A
	// consumer that commits each message is at 84 to 99%, its start included;
	// one that does not wait for commits has nobody standing before it for long, or is
	// at work.
	serialShare = 0.5
	// serialTrips is the least number of waits that this is taken from.
	serialTrips = 50
	// serialBlocked is the same of waits to write: each says that the kernel's buffers are full, and that
	// whoever reads at the other end does not.
	serialBlocked = 20
	// serialStay is the part of their time that those behind the stage wait
	// to be given more, when they have any: with more to do they would be the limit.
	serialStay = 0.5
)

func checkSerialwait(p *diagnosis.Pass) {
	pressed := 0
	for _, s := range queueing.Stages(p) {
		// As many takers as givers are still few.
		givers := p.Goroutines("goroutines before it", s.Queue.Groups, "peak")
		if s.Count.Value > max(givers.Value, float64(p.Procs())) {
			continue
		}
		pressed++
		r := queueing.Trips(p, &s)
		least := serialTrips
		if waitsToWrite(p.Model, &r) {
			least = serialBlocked
		}
		share := fact.Fraction.Of("time of the stage in waits for answers", fact.Ratio, r.Total, s.Time)
		throughput := gainWithoutWait(p, &s, r.Total)
		switch {
		case share.Value < serialShare, r.Count.Value < float64(least), throughput.Value < worthwhile:
		case len(s.Feeds) > 0 && s.FeedStay.Value < serialStay:
		case len(s.Feeds)+len(s.Starts) == 0 && !takesFromOutside(p.Model, &s):
		default:
			p.Report(serialFinding(p, &s, &r, share, throughput))
			return
		}
	}
	if pressed == 0 {
		p.Fine("stages: no small group of goroutines always has work queued for it")
	}
}

// waitsToWrite reports whether most of the waits are for the other end to read what is written.
func waitsToWrite(m *model.Model, r *queueing.RoundTrips) bool {
	return len(r.Stacks) > 0 && code.ContainsFunc(m.Stacks.Frames(r.Stacks[0]), func(f string) bool {
		return strings.HasPrefix(f, "internal/poll.(*FD).Write")
	})
}

// takesFromOutside reports whether those who stand before the stage, or before them, bring
// what they offer from outside, or are several. A single goroutine that makes
// up the next number of a series is no demand.
func takesFromOutside(m *model.Model, s *queueing.Stage) bool {
	names := slices.Clone(s.Queue.Groups)
	for i := range s.Before {
		names = append(names, s.Before[i].Groups...)
	}
	for _, g := range code.Groups(m, names) {
		if g.Peak > 1 || g.Blocked["network"] > 0 || g.Syscall+g.SyscallBlocked > 0 {
			return true
		}
	}
	return false
}

// gainWithoutWait returns by how much at most throughput can grow when the stage no longer
// waits for the given time: the bound of a closed system whose next serial
// resource is the busiest single goroutine before or behind it.
func gainWithoutWait(p *diagnosis.Pass, s *queueing.Stage, wait fact.Fact) fact.Fact {
	if !slices.ContainsFunc(s.Teams, func(c queueing.Team) bool { return c.Function != "" }) {
		wait = queueing.WithEnds(p, wait, s.Time, s.Names())
	}
	operands := []fact.Fact{cpu.UsableCores(p), cpu.BusyWithout(p), s.Time, wait}
	if s.Next.Value == 0 {
		return fact.Bottleneck.Of("throughput", fact.Factor, operands...)
	}
	return besideNext.Of("throughput", fact.Factor, append(operands, s.Next)...)
}

// besideNext is [fact.Bottleneck] beside a resource that stays serial.
var besideNext = &fact.Formula{Name: fact.Bottleneck.Name, Value: fact.Bottleneck.Value,
	Words: "asymptotic bound of a closed system: min({0} ÷ {1}, {2} ÷ ({2} − {3}), 1 ÷ {4}); " +
		"less when requests arrive slower than that"}

func serialFinding(p *diagnosis.Pass, s *queueing.Stage, r *queueing.RoundTrips, share, throughput fact.Fact) diagnosis.Finding {
	wait, asks := code.UserPlace(p, r.Stacks...), code.ProgramPlace(p, r.Stacks...)
	if asks == (diagnosis.Place{}) {
		asks, _ = p.GroupPlace(s.Teams[0].Group)
	}
	mean := fact.Quotient.Of("one answer, mean", fact.Seconds, r.Total, r.Count)
	pace := fact.Quotient.Of("answers", fact.PerSec, r.Count, p.WindowLength())
	f := diagnosis.Finding{
		Where:    code.Places(asks, wait, s.Queue.Place(p)),
		Evidence: []fact.Fact{share, mean, pace, s.Count, s.Length, cpu.BusyPs(p)},
		Cost: diagnosis.CostOf(fact.Quotient.Of("goroutines of the stage waiting for an answer, on average", fact.Count, r.Total, p.WindowLength()),
			share.Value),
		Bound:      queueing.TurnsLimit(throughput, queueing.TurnsOfEach(p, r.Count, s.Names()), "if the stage did not wait for each answer, and the other side served several requests at a time"),
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"one kind of evidence, the trace: who waits, for what, and who stands before it",
			"the trace does not show the request: whether the stage could go on without the answer is yours to judge",
		},
		RuledOut: []string{
			fact.Sentence("no work: somebody stood before the stage with work in hand, %s on average", s.Length),
			cpu.FullMachine(p),
			"waiting for input: only waits in the network and for goroutines that wait there are counted, " +
				"those for who brings work are not",
		},
		Groups: append(s.Names(), s.Queue.Groups...),
		Stacks: append(r.Stacks, s.Queue.Stacks...),
		Remedy: diagnosis.Remedy{
			Text: "Do not wait for the answer to each piece of work. Acknowledge or write many with one request (by count and by time), " +
				"or send the next request before the last is answered, or let the library do it in the background " +
				"(kafka-go: FetchMessage, then CommitMessages once for each batch that is done). An acknowledgement that comes " +
				"before the work is done loses the work in a crash, however it is sent: ReadMessage with CommitInterval " +
				"loses all of an interval. One that comes after it lets the last work come again, " +
				"so that its effect must bear being repeated. Where each answer is needed, run several of this stage: " +
				"one per partition or key keeps the order. More goroutines behind it change nothing.",
			Code: "for batch := range batches(messages, 500, 100*time.Millisecond) {\n\tprocess(batch)\n\tcommit(batch[len(batch)-1]) // one round trip for all of them\n}",
		},
		Experiment: codeChange(diagnosis.ThroughputMetric(p.Model), "", "Offer more than the program can take, or throughput stays what is offered. "+
			"A test without code: two processes on the same load; where the stage is the limit they take nearly twice as much, "+
			"and more goroutines behind it take no more."),
	}
	if len(s.Feeds) > 0 {
		f.Rest(s.FeedStay)
	}
	for i := range s.Before {
		f.Groups, f.Stacks = append(f.Groups, s.Before[i].Groups...), append(f.Stacks, s.Before[i].Stacks...)
	}
	f.Groups = append(f.Groups, r.Via...)
	always := "while work stands before it and"
	if !s.Pressed {
		short := s.StarvedShare(p)
		f.RuledOut[0] = fact.Sentence("no work: the stage waited for it %s of its time, and somebody stood before it for a part of the window (%s on average)", short, s.Length)
		f.Rest(short)
		always = "hardly ever for work, while"
	}
	if waitsToWrite(p.Model, r) {
		f.Title, f.Remedy = "One goroutine limits the throughput while it waits for a reader", blockedRemedy
		f.RuledOut[2] = "waiting for input: only waits in the network are counted, and most are for room to write"
		f.Say("%s waits %s of its time for room to write, %s each, "+always+" %s of %s Ps are idle: "+
			"the other end does not read as fast, and %s of these waits a second are the program's pace.",
			code.Name(asks.Function), share, mean, cpu.IdlePs(p).Number(), cpu.Procs(p), pace.Number())
		return f
	}
	f.Say("%s waits for answers %s of its time, %s each, "+always+" %s of %s Ps are idle: "+
		"%s answers a second is its pace, and so the program's.",
		code.Name(asks.Function), share, mean, cpu.IdlePs(p).Number(), cpu.Procs(p), pace.Number())
	return f
}

// blockedRemedy is for a stage that writes to somebody who does not read.
var blockedRemedy = diagnosis.Remedy{
	Text: "Give each connection a goroutine that writes to it and a channel before it, " +
		"so that one slow reader holds up nobody else; when that channel is full, leave out what the reader misses " +
		"or close its connection, and let a write wait no longer than is borne (SetWriteDeadline). " +
		"Where all readers are as slow, write less: large buffers only delay the wait.",
	Code: "go func() { // one for each connection\n\tfor m := range c.out {\n\t\tc.conn.SetWriteDeadline(time.Now().Add(time.Second))\n" +
		"\t\tif _, err := c.conn.Write(m); err != nil {\n\t\t\treturn\n\t\t}\n\t}\n}()",
}
