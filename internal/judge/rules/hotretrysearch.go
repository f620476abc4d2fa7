package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
)

const (
	// searchCost is the part of the CPU that asking for what is not there must take inside the kernel alone: a tenth is
	// worth a change, and what the program does around a call (a path is joined, an error is made) is as much again. A search
	// in 36 directories for each answer was at 0.16. Of 138 recordings of other programs two have more than 5,000 such calls a second.
	searchCost = 0.1
	// searchFails is the part of the calls that must find nothing: where half find something, they are no search.
	searchFails = 0.5
)

// lookups are the calls that look for something by its name, and absences how they say that it is not there.
var (
	lookups  = []string{"open", "openat", "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat"}
	absences = []string{"ENOENT", "ENOTDIR"}
)

// searchFinding is about files that are looked for where they are not; ok is false where that costs little.
func searchFinding(p *diagnosis.Pass, r *retry) (f diagnosis.Finding, ok bool) {
	match := cpu.MatchCalls(r.call)
	use := cpu.CallUseOf(p, "CPU in looking", match)
	vain := fact.Rest.Of(r.call+": share that finds nothing", fact.Ratio, r.success)
	share := fact.Product.Of("part of the CPU in calls that find nothing", fact.Ratio, use.Share, vain)
	if !use.Enough || share.Value < searchCost {
		return f, false
	}
	cores := fact.Product.Of("CPU in calls that find nothing", fact.Cores, use.Cores, vain)
	how, confidence := cpu.CallCountMethod(p)
	f = diagnosis.Finding{
		Title:      "Files are looked for where they are not",
		Where:      cpu.KernelSites(p, match),
		Evidence:   []fact.Fact{r.rate, vain, share},
		Cost:       diagnosis.CostOf(cores, share.Value),
		Bound:      diagnosis.Direction(cores, diagnosis.CPUGoal, share.Value, "inside the calls alone: to join a path and to make an error comes on top"),
		Confidence: confidence,
		Reasons:    []string{"the kernel reports errors; " + how},
		RuledOut: []string{
			"calls that never find anything, which are tried again: " + fact.Sentence("%s of these find something", r.success),
			"a search at the start or a rare one: " + fact.Sentence("it goes on at %s calls a second", r.rate.Number()),
		},
		Remedy: diagnosis.Remedy{
			Text: "Keep what was found and what was not, for as long as that may be old: a map from the name to its path, " +
				"with an entry for what is nowhere. Where the same directories are searched, read each once " +
				"(os.ReadDir) and look in memory, or keep an index of their files that a change renews " +
				"(inotify, or every minute). Put the place where most are found first.",
		},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The number of failed calls is a count: in `gowhy ledger --by "+
			"syscall after.gowhy` of a new recording it must be a few for each operation. A file that comes later must be found."),
		Explains: []string{},
	}
	f.Say("%s %s times a second finds nothing (%s), %s of all these calls, and that takes %s of the CPU.",
		fact.Name(sentence(attempts[r.call])), r.rate.Number(), fact.Name(r.errno), vain, share)
	return f, true
}
