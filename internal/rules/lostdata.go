package rules

import (
	_ "embed"
	"fmt"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed lostdata.md
var lostdataPage string

// lostdata speaks about the recording, not the program: it makes no finding.
// The engine lowers the confidence of what rests on the damaged part.
var lostdata = &diagnosis.Rule{
	Name:    "lostdata",
	Title:   "Part of the trace is lost",
	Doc:     lostdataPage,
	Needs:   []model.Source{model.Trace},
	Untimed: true,
	Check:   checkLostdata,
}

func checkLostdata(p *diagnosis.Pass) {
	c := &p.Model.Run.Coverage
	lost := diagnosis.LostPart(p.Model)
	if lost < diagnosis.LostShare {
		return
	}
	why := fmt.Sprintf("%s is missing: %s of %s could not be read, about %s events, in %s of %s generations",
		pct(lost), size(float64(c.LostBytes)), size(float64(c.Bytes)), num(c.LostEvents), num(c.Damaged), num(c.Generations))
	if c.Unknown > 0 {
		why += fmt.Sprintf("; the state of %s of goroutine time is unknown", dur(c.Unknown))
	}
	p.Unchecked("the lost part of the trace", why, "gowhy record -d 10s -o whole.gowhy -- COMMAND")
}
