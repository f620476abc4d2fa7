package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed lostdata.md
var lostdataPage string

// lostdata speaks about the recording, not the program: it makes no finding.
// The engine lowers the confidence of what rests on the damaged part.
var lostdata = &diagnosis.Rule{
	Name:       "lostdata",
	Title:      "Part of the trace is lost",
	Doc:        lostdataPage,
	Needs:      []model.Source{model.Trace},
	Disturbing: true,
	Check:      checkLostdata,
}

func checkLostdata(p *diagnosis.Pass) {
	c := &p.Model.Run.Coverage
	lost := diagnosis.LostPart(p.Model)
	if lost < diagnosis.LostShare {
		return
	}
	count := func(what string, n int64, u fact.Unit) fact.Fact {
		return p.Statistic(fact.Generations, what, what, float64(n), u)
	}
	why := fact.Sentence("%s is missing: %s of %s could not be read, about %s events, in %s of %s generations",
		p.Statistic(fact.Generations, "lost part", "lost part", lost, fact.Ratio), count("lost bytes", c.LostBytes, fact.Bytes), count("bytes", c.Bytes, fact.Bytes),
		count("lost events", c.LostEvents, fact.Count), count("damaged generations", int64(c.Damaged), fact.Count), count("generations", int64(c.Generations), fact.Count))
	if c.Unknown > 0 {
		why += fact.Sentence("; the state of %s of goroutine time is unknown",
			p.Statistic(fact.Generations, "unknown time", "goroutine time of unknown state", c.Unknown.Seconds(), fact.Seconds))
	}
	p.Unchecked("the lost part of the trace", why, p.RecordAgain(10, "whole.gowhy"))
}
