package diagnosis

import (
	"cmp"
	"slices"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// grownLive is by how much, as a part of what was alive, the live heap must differ at
	// both ends of the lines to be said to grow: it moves by a tenth in most programs. Of
	// that a quarter must be in the second half of the time: what a program loads as it
	// starts is in the first.
	grownLive = 0.5
	grownLate = 0.25
	// muchAssist is the part of marking that goroutines which allocate do from which it is
	// worth a word: where the pace is kept they do next to none.
	muchAssist = 0.25
	// grownQueue is how many goroutines to a P are a queue worth a word: the processors of
	// a loaded program have one or two.
	grownQueue = 4
)

// gcLogAccount returns that of gctrace: how often, at what price, and what it found alive.
func gcLogAccount(p fact.Meter) *Account {
	a := p.Model.GCLogAccount()
	if a == nil {
		return nil
	}
	line := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Collector, "lines", name, v, u).From(model.GCTrace)
	}
	over := line("time since the first collection", a.Over.Seconds(), fact.Seconds)
	rate := fact.Quotient.Of("collections", fact.PerSec, line("collections after the first", float64(a.Collections), fact.Count), over)
	live := line("live heap", float64(a.Last.Live), fact.Bytes)
	text := fact.Sentence("%s in %s, %s", line("collections", float64(a.Collections+1), fact.Count).Things("collection"), over, rate)
	out := &Account{}
	if a.Costs && a.Procs > 0 {
		cpu := line("CPU in collecting", a.CPU().Seconds(), fact.Seconds)
		part := fact.Fraction.Of("collector's part of the Ps", fact.Ratio, cpu, line("what the Ps could do", a.Ps().Seconds(), fact.Seconds))
		text += fact.Sentence(", take %s of %s", part, line("Ps", float64(a.Procs), fact.Count).Things("P"))
		if assist := ratio(a.Assist.Seconds(), (a.Assist + a.Background).Seconds()); assist >= muchAssist {
			text += fact.Sentence(", %s of the marking in assists", line("assists' part of marking", assist, fact.Ratio))
		}
		for _, r := range []struct {
			name string
			of   float64
			note string
		}{
			{"marking by goroutines that allocate (assists)", a.Assist.Seconds(), ""},
			{"marking by the collector's workers", a.Background.Seconds(), ""},
			{"stopping the world", a.Stop.Seconds(), fact.Sentence("for %s at most", line("longest stop", a.LongestStop.Seconds(), fact.Seconds))},
		} {
			v := line(r.name, r.of, fact.Seconds)
			out.Rows = append(out.Rows, AccountRow{Name: r.name, Value: v, Share: ratio(v.Value, cpu.Value), Note: r.note})
		}
	}
	text += "; "
	first := line("live heap at first", float64(a.First.Live), fact.Bytes)
	switch grown := live.Value - first.Value; {
	case grown > 0 && grown >= grownLive*first.Value && live.Value-float64(a.Middle.Live) >= grownLate*grown:
		slope := fact.Quotient.Of("growth", fact.BytesPerSec, line("growth of the live heap", grown, fact.Bytes), over)
		text += fact.Sentence("the live heap grew from %s to %s, by %s", first, live, slope)
	default:
		text += fact.Sentence("%s alive", live)
	}
	if a.Last.Goal > 0 {
		text += fact.Sentence(", goal %s", line("goal", float64(a.Last.Goal), fact.Bytes))
	}
	out.Text = text + "."
	return out
}

// schedLogAccount returns that of schedtrace: how often all Ps were in use, and who waited for one.
func schedLogAccount(p fact.Meter) *Account {
	a := p.Model.SchedLogAccount()
	if a == nil || a.Procs == 0 {
		return nil
	}
	line := func(name string, v float64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Timeline, "lines", name, v, u).From(model.SchedTrace)
	}
	count := func(name string, n int) fact.Fact { return line(name, float64(n), fact.Count) }
	text := fact.Sentence("%s", count("Ps", a.Procs).Things("P"))
	if a.Told > 0 {
		text += fact.Sentence(", all busy in %s of %s", count("lines with all Ps busy", a.Full), count("lines that tell", a.Told).Things("line"))
	}
	queue := func(name string, v float64) fact.Fact { return line(name, v, fact.Count) }
	first, last := a.Queued[0].Value, a.Queued[len(a.Queued)-1].Value
	most := queue("most goroutines that waited for a P", a.Queued.Max())
	switch {
	case a.Queued.Min() >= most.Value:
		text += fact.Sentence("; %s ready and waiting for one", most.Things("goroutine"))
	case last >= grownQueue*float64(a.Procs) && last >= most.Value && a.Full > 0:
		text += fact.Sentence("; in %s those ready and waiting for one became %s from %s",
			line("time from the first line to the last", a.Over.Seconds(), fact.Seconds), queue("waiting at last", last), queue("waiting at first", first))
	default:
		text += fact.Sentence("; %s to %s goroutines ready and waiting for one, %s on average",
			queue("fewest that waited", a.Queued.Min()), most, queue("waiting on average", mean(a.Queued)))
	}
	text += "."
	if a.Uneven > 0 {
		text += fact.Sentence(" In %s one P had up to %s in its queue and another none: work comes in bursts and is spread late.",
			count("lines with uneven queues", a.Uneven).Things("line"), count("longest queue of a P", a.Longest))
	}
	if a.Beside > 0 && a.Told > 0 {
		text += fact.Sentence(" In %s Ps were idle beside as many ready goroutines: they had just come.", count("lines with idle Ps beside a queue", a.Beside).Things("line"))
	}
	if n := len(a.Threads); n > 1 && a.Threads[n-1].Value >= 2*a.Threads[0].Value {
		text += fact.Sentence(" Threads grew from %s to %s.", queue("threads at first", a.Threads[0].Value), queue("threads at last", a.Threads[n-1].Value))
	}
	out := &Account{Text: text}
	out.Rows = schedStates(p, line)
	if len(a.Threads) == 0 && a.Told == 0 {
		out.Text += " The lines were shortened, and do not say how many Ps were idle."
	}
	return out
}

func mean(s model.Series) (sum float64) {
	for _, v := range s {
		sum += v.Value / float64(len(s))
	}
	return sum
}

// schedStates counts what goroutines did in the last line of scheddetail, most first.
func schedStates(p fact.Meter, line func(string, float64, fact.Unit) fact.Fact) (rows []AccountRow) {
	last := p.Model.SchedLog[len(p.Model.SchedLog)-1]
	all := 0
	for state, n := range last.Goroutines {
		all += n
		rows = append(rows, AccountRow{Name: "goroutines: " + state, Value: line(state, float64(n), fact.Count)})
	}
	for i := range rows {
		rows[i].Share = ratio(rows[i].Value.Value, float64(all))
	}
	slices.SortFunc(rows, func(a, b AccountRow) int {
		return cmp.Or(cmp.Compare(b.Value.Value, a.Value.Value), cmp.Compare(a.Name, b.Name))
	})
	return rows[:min(len(rows), accountRows)]
}
