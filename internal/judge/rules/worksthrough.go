package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// worksThrough reports whether the program is a command that works through something and ends: it ended by itself, had
// neither handlers nor the agent, and nobody in it was seen to wait for a connection or to sleep. What it has read and made
// may be in memory until then. Who waits for a timer's channel is not told from who waits for another.
func worksThrough(p *diagnosis.Pass) bool {
	if run := &p.Model.Run; !run.Ended || !run.Untold || p.Model.Wall == nil {
		return false
	}
	return !slices.ContainsFunc(p.Model.Wall.Samples, func(s model.Sample) bool {
		return slices.ContainsFunc(p.Model.Stacks.Frames(s.Stack), func(f model.Frame) bool {
			return f.Func == "time.Sleep" || f.Func == "internal/poll.(*FD).Accept"
		})
	})
}

// ofCommand makes a finding a remark where the program works through something and ends, and that may be why: the reason
// says how. Of some thirty published tools four were called a problem for that: three for the source, the configuration or
// the records that they had in memory, one of these also for the files that it read, and one for the templates that it parsed.
func ofCommand(p *diagnosis.Pass, f diagnosis.Finding, reason string) diagnosis.Finding {
	if worksThrough(p) {
		f.Remark = true
		f.Reasons = append(f.Reasons, "the program worked through something and ended by itself: "+reason)
	}
	return f
}

// keptToTheEnd is how a heap grows in a program that ends.
const keptToTheEnd = "what it has read and made may have to be in memory until then, and its peak is what counts"
