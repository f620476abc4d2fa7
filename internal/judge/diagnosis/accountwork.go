package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// workAccount lists what the CPU of a profile went into: the kinds of work, and the functions
// of the program with most of it.
func workAccount(p fact.Meter) *Account {
	if _, nanos := p.Model.CPU.Columns(); nanos < 0 {
		return samplesAccount(p)
	}
	return workIn(p, "cpu")
}

// kernelWorkAccount tells it from the kernel's samples, of a program without a profile.
func kernelWorkAccount(p fact.Meter) *Account {
	if p.Model.Has(model.CPU) {
		return nil
	}
	return workIn(p, "kernel")
}

// workIn splits what the samples of a tree account for.
func workIn(p fact.Meter, tree string) *Account {
	a := p.Model.CPUAccount()
	total := p.Samples("CPU time", tree, nil)
	rows := rowsOf(p, tree, total, byWork)
	if a == nil || a.Total <= 0 || a.Disagree || len(rows) == 0 {
		return nil
	}
	for i := range rows {
		if believed := a.Believed == model.KernelCPU; believed == (tree == "kernel") {
			rows[i].Share *= 1 - a.Share(model.NotSampled) // of all CPU time, as the parts beside them are
		}
		if rows[i].Where != nil {
			rows[i].Note = note(rows[i].Note, calledFrom(p, tree, rows[i].Name))
		}
	}
	parts := slices.Clone(a.Parts)
	slices.SortStableFunc(parts, func(x, y model.CPUEntry) int { return cmp.Compare(y.Time, x.Time) })
	var kinds []string
	for _, e := range parts {
		part := p.CPUPart("CPU in "+string(e.Part), e.Part)
		if part.Value < kindShare || len(kinds) == workKinds {
			break
		}
		kinds = append(kinds, fact.Sentence(string(e.Part)+" %s", part))
	}
	text := fact.Sentence("%s of CPU time", fact.Name(fact.Seconds.Format(a.Total.Seconds())))
	if a.Window > 0 {
		text += fact.Sentence(" in %s, which is %s", fact.Name(fact.Seconds.Format(a.Window.Seconds())), p.CPUInUse())
	}
	return &Account{Text: text + ": " + strings.Join(kinds, ", ") + ".", Rows: rows}
}

// workKinds is how many kinds of work a sentence lists.
const workKinds = 4

// byWork returns the function of the program that a sample is of; where none is on the stack
// the kind of the runtime's work, which has many functions for one purpose.
func byWork(frames []model.Frame) owner {
	if o := byFunction(frames); o.name != "" {
		if _, ok := model.UserFrame(frames); ok {
			return o
		}
	}
	switch part := model.CPUPartOf(frames); part {
	case model.Application, model.InCgo, model.OtherCPU:
		return byFunction(frames)
	default:
		return owner{name: "(" + string(part) + ")", with: "in " + leafOf(frames).Func}
	}
}

// calledFrom names the function of the program that calls another one most, where there
// is one that has most of it.
func calledFrom(p fact.Meter, tree, name string) string {
	ofName := p.Frames(func(frames []model.Frame) bool { f, ok := model.UserFrame(frames); return ok && f.Func == name })
	callerOf := func(s *model.Sample) string {
		frames := p.Model.Stacks.Frames(s.Stack)
		for i := range frames {
			if g, ok := model.UserFrame(frames[i:]); ok && g.Func != name {
				return g.Func
			}
		}
		return ""
	}
	if caller := mostOften(p, tree, ofName, callerOf); caller != "" {
		return "from " + caller
	}
	return ""
}
