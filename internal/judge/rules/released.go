package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// That a share of the CPU is large says nothing of whether it is necessary. A newer release of a
// module that changes the functions it goes into, and says that they are cheaper, does, and so does one in
// which they no longer come to what takes it.

// releasedCost is the share of the CPU that such functions must cost, as of all that has a reason.
const releasedCost = needlessCost

// A releaseWork is what the functions of a release take of the CPU, what that costs, and what there is to save.
type releaseWork struct {
	share fact.Fact
	cost  diagnosis.Cost
	bound diagnosis.Bound
}

// accuseReleased makes an accusation of a remark where a newer release does it with less, and returns
// that release, nil for none: measure says what the functions of a release take of what it speaks of.
func accuseReleased(p *diagnosis.Pass, f *diagnosis.Finding, measure func(what string, r *model.Release) releaseWork) *model.Release {
	for i := range p.Model.Releases {
		r := &p.Model.Releases[i]
		if r.About == model.AboutLeak {
			continue
		}
		of := r.Module + " " + r.Version
		m := measure("what is cheaper in "+of, r)
		through := slices.DeleteFunc(slices.Clone(f.Stacks), func(s model.Stack) bool { return !r.Of(p.Model.Stacks.Frames(s)) })
		if m.share.Value < releasedCost || len(through) == 0 {
			continue
		}
		f.Summary, f.Remark, f.Confidence = "", false, diagnosis.Medium
		f.Evidence = slices.Insert(f.Evidence, 0, m.share)
		f.Cost, f.Bound, f.Stacks = m.cost, m.bound, through
		f.Where = code.Places(append([]diagnosis.Place{code.ProgramPlace(p, through...)}, releasedPlaces(p, through, r)...)...)
		if r.Without == "" {
			sayCheaper(f, r, of, m.share)
		} else {
			sayDropped(f, r, of, m.share)
		}
		f.Remedy.Code = "go get " + r.Module + "@" + r.Version
		f.Experiment = &diagnosis.Experiment{Primary: diagnosis.CPUPerOp, Upgrade: []string{r.Module + "@" + r.Version},
			Note: "The trial says which other modules the newer one asks for. go.mod is not touched."}
		return r
	}
	return nil
}

// sayCheaper says of a finding what the list of changes of a release says.
func sayCheaper(f *diagnosis.Finding, r *model.Release, of string, share fact.Fact) {
	f.Title = "A newer release of the module does it with less"
	f.Reasons = []string{
		fact.Sentence("%s of %s says of %s: “%s”; it changes a function of these stacks", fact.Name(r.In), fact.Name(of), fact.Name(r.Since), fact.Name(r.Said)),
		"how much less it takes nobody measured here",
	}
	f.Remedy = diagnosis.Remedy{Text: fact.Sentence("Upgrade %s from %s to %s, and measure: its list of changes says that this is cheaper from %s on.",
		fact.Name(r.Module), fact.Name(r.Used), fact.Name(r.Version), fact.Name(r.Since))}
	f.Say("%s of the CPU in use goes through %s of %s %s, which is cheaper from %s on, as its list of changes says.",
		share, code.Name(r.Funcs[0]), fact.Name(r.Module), fact.Name(r.Used), fact.Name(r.Since))
}

// sayDropped says of a finding what a function of a release no longer comes to. Of 77 modules before and after
// a repair this names 17 before it, each for what was repaired, and one after it, which a later version changes
// once more; of 7 of 10 repaired versions functions on the stacks differ from the newest.
func sayDropped(f *diagnosis.Finding, r *model.Release, of string, share fact.Fact) {
	outer, inner := code.Name(r.Funcs[0]), code.Name(r.Without)
	f.Title = "A newer release of the module no longer does this"
	f.Reasons = []string{
		fact.Sentence("in the source of %s nothing that %s calls comes to %s any more", fact.Name(of), outer, inner),
		"what it does instead nobody measured here",
	}
	f.Remedy = diagnosis.Remedy{Text: fact.Sentence("Upgrade %s from %s to %s, and measure: its %s no longer comes to %s.",
		fact.Name(r.Module), fact.Name(r.Used), fact.Name(r.Version), outer, inner)}
	f.Say("%s of the CPU in use goes through %s of %s %s to %s, and in %s no longer.",
		share, outer, fact.Name(r.Module), fact.Name(r.Used), inner, fact.Name(r.Version))
}

// adviseRelease adds to a finding of what grows the newer release that says it leaks no longer there.
func adviseRelease(p *diagnosis.Pass, f *diagnosis.Finding) {
	for i := range p.Model.Releases {
		r := &p.Model.Releases[i]
		stacks := slices.Clone(f.Stacks)
		for _, g := range code.Groups(p.Model, f.Groups) {
			stacks = append(stacks, g.Creator)
		}
		if r.About != model.AboutLeak || !slices.ContainsFunc(stacks, func(s model.Stack) bool { return r.Of(p.Model.Stacks.Frames(s)) }) {
			continue
		}
		f.Reasons = append(f.Reasons, fact.Sentence("%s of %s %s says of %s: “%s”; it changes a function of these stacks",
			fact.Name(r.In), fact.Name(r.Module), fact.Name(r.Version), fact.Name(r.Since), fact.Name(r.Said)))
		f.Remedy.Text = fact.Sentence("Upgrade %s from %s to %s: its list of changes says that a leak is mended from %s on. Else: ",
			fact.Name(r.Module), fact.Name(r.Used), fact.Name(r.Version), fact.Name(r.Since)) + f.Remedy.Text
		f.Remedy.Code = "go get " + r.Module + "@" + r.Version
		if f.Experiment != nil {
			f.Experiment.Upgrade = []string{r.Module + "@" + r.Version}
		}
		return
	}
}

// releasedPlaces returns the lines in functions of a release on some stacks, the one nearest to the program of
// each.
func releasedPlaces(p *diagnosis.Pass, stacks []model.Stack, r *model.Release) (places []diagnosis.Place) {
	for _, s := range stacks {
		for _, frame := range slices.Backward(p.Model.Stacks.Frames(s)) {
			if r.IsIn(frame.Func) {
				if !slices.ContainsFunc(places, func(at diagnosis.Place) bool { return at.Function == frame.Func }) {
					places = append(places, code.PlaceOf(frame))
				}
				break
			}
		}
	}
	return places
}
