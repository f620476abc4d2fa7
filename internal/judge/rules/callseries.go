package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Calls that somebody waits for one after the other, in whatever evidence they are seen.

const (
	// serialCallsPart is the part of its time that an operation waits for them: at half, it
	// is nearly twice as fast when they go together.
	serialCallsPart = 0.5
	// serialCallsDone is the fewest operations that show what one does.
	serialCallsDone = 20
)

// seriesRemedy shortens a row of calls of one operation.
var seriesRemedy = diagnosis.Remedy{
	Text: "Ask for all of them with one request (a query with IN, a pipeline, a batch), or start those that do not " +
		"need each other's answers side by side, with a bound on how many, and keep what every operation wants.",
	Code: "g, ctx := errgroup.WithContext(ctx)\ng.SetLimit(8)\nfor i, id := range ids {\n\tg.Go(func() (err error) { out[i], err = get(ctx, id); return err })\n}\nerr := g.Wait()",
}

// leadingTo returns the program's lines that lead to the innermost of its functions on a stack,
// the nearest first: the loop is in one of them.
func leadingTo(p *diagnosis.Pass, s model.Stack) (places []diagnosis.Place) {
	frames, own := p.Model.Stacks.Frames(s), code.OwnPackages(p.Model)
	inner, _ := diagnosis.UserPlace(frames)
	for _, f := range frames {
		if f.Func != inner.Function && code.StartsWith(f.Func, own) && len(places) < growthNamed-1 {
			places = append(places, diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line})
		}
	}
	return places
}
