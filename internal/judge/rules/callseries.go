package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Calls that somebody waits for one after the other, in whatever evidence they are seen.

const (
	// serialCallsPart is the part of its time that an operation waits for them: at half, it
	// is nearly twice as fast when they go together.
	serialCallsPart = 0.5
	// serialCallsDone is the fewest operations that show what one does.
	serialCallsDone = 20
	// serialCallsWait is the shortest mean wait that is worth going side by side: to start a
	// goroutine and to wait for it takes some µs, and more on a busy machine.
	serialCallsWait = 50e-6
)

// sideBySide is what an operation saves whose k calls take the time of one.
var sideBySide = &fact.Formula{Name: "side by side", Words: "{0} × (1 − 1 ÷ {1})", Value: func(x []float64) float64 { return x[0] * (1 - 1/max(1, x[1])) }}

// seriesRemedy shortens a row of calls of one operation.
var seriesRemedy = diagnosis.Remedy{
	Text: "Ask for all of them with one request (a query with IN, a pipeline, a batch), or start those that do not " +
		"need each other's answers side by side, with a bound on how many, and keep what every operation wants.",
	Code: "g, ctx := errgroup.WithContext(ctx)\ng.SetLimit(8)\nfor i, id := range ids {\n\tg.Go(func() (err error) { out[i], err = get(ctx, id); return err })\n}\nerr := g.Wait()",
}

// leadingTo returns the program's lines that lead to the innermost of its functions on a stack,
// the nearest first: the loop is in one of them.
func leadingTo(p *diagnosis.Pass, s model.Stack) (places []diagnosis.Place) {
	frames, own := p.Model.Stacks.Frames(s), code.ProgramPackages(p.Model)
	inner, _ := diagnosis.UserPlace(frames)
	for _, f := range frames {
		if f.Func != inner.Function && code.StartsWith(f.Func, own) && len(places) < growthNamed-1 {
			places = append(places, diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line})
		}
	}
	return places
}
