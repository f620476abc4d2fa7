package diagnosis

import (
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// samplesAccount returns that of CPU samples whose worth in time the evidence does not say,
// as perf's of cycles and folded stacks are: shares are of their number.
func samplesAccount(p fact.Meter) *Account {
	total := p.SampleCount("samples", "cpu", nil)
	rows := rowsBy(p, "cpu", total, byWork, p.SampleCount)
	if len(rows) == 0 {
		return nil
	}
	of := func(s *model.Sample) model.CPUPart { return model.CPUPartOf(p.Model.Stacks.Frames(s.Stack)) }
	type kind struct {
		name  string
		share fact.Fact
	}
	var kinds []kind
	for _, name := range p.Largest("cpu", func(s *model.Sample) string { return string(of(s)) }) {
		part := p.SampleCount("part", "cpu", func(s *model.Sample) bool { return string(of(s)) == name })
		kinds = append(kinds, kind{name, fact.Fraction.Of("share", fact.Ratio, part, total)})
	}
	var words []string
	for _, k := range kinds[:min(len(kinds), workKinds)] {
		if k.share.Value >= kindShare {
			words = append(words, fact.Sentence(k.name+" %s", k.share))
		}
	}
	text := fact.Sentence("%s samples: %s. How much time one stands for is not known.", total, fact.Name(strings.Join(words, ", ")))
	return &Account{Text: text, Rows: rows}
}
