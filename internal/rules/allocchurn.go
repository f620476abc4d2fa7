package rules

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed allocchurn.md
var allocchurnPage string

var allocchurn = &diagnosis.Rule{
	Name:  "allocchurn",
	Title: "Short-lived memory costs much of the CPU",
	Doc:   allocchurnPage,
	// No Needs: a CPU profile alone will do, and so will a trace with an allocs
	// profile. Check sorts that out.
	Explains: []string{"gccost", "tinyheap", "gcassist", "slowstop"}, // the last only where stops are short and many; see gcSymptoms
	Check:    checkAllocchurn,
}

const (
	// churnCPU is the share of CPU in allocating and collecting from which
	// it is worth an engineer's day: a peer's default for the same question.
	// The lab's file pool is at a few percent when it keeps its buffers.
	churnCPU = 0.15
	// churnSite is the share of the cost that makes a call site worth naming.
	churnSite = 0.05
	// churnKept is the share of a site's bytes still in use from which it
	// fills a cache rather than churns.
	churnKept = 0.5
	// churnSeen is the share of CPU that a CPU profile must show in allocating
	// and collecting before first use of pages is added, which it cannot show.
	churnSeen = 0.05
	// allocPace is how many bytes a core allocates in a second when it does
	// nothing else. Two measurements (2-core machine, Go 1.26) meet there:
	// 64-byte objects at 2.0 to 3.1 GB/s, and first use of fresh pages at 1.7
	// to 2.1 GB/s. Large objects whose pages are still mapped are cheaper, so
	// that a cost derived from it is an upper one.
	allocPace = 2 << 30
	// largeObject is the size from which the runtime gives an object pages of its own.
	largeObject = 32 << 10
	// largeTime is the share of the allocator's time from which large objects
	// are most of the bytes: a page of one costs it far less than a page of small ones.
	largeTime = 0.25
	// allocSamples is how many samples in the allocator show where it is
	// called from, when there are too few in all to show what it costs.
	allocSamples = 10
	// churnCores is the least that the cost must be, in cores. Of three sleepers
	// the recording's own garbage is most; a consumer of 14,000 messages a second
	// that is well allocates contexts for 0.024 cores. The least of those that are
	// ill, a name server that decodes whole records, is at 0.1.
	churnCores = 0.05
	// churnNamed is how many sites a finding names.
	churnNamed = 3
)

func checkAllocchurn(p *diagnosis.Pass) {
	a := measureAllocation(p)
	cost := a.malloc + a.collect
	if a.cores == 0 {
		if p.Model.Has(model.Heap) {
			p.Unchecked("what allocation costs", "a heap profile tells where memory is allocated, not what that costs", diagnosis.HowToGet(model.CPU))
		}
		return
	}
	if cost+a.touch < churnCPU || cost < churnSeen || (cost+a.touch)*a.cores < churnCores {
		if a.measured {
			p.Fine(fmt.Sprintf("allocation and garbage collection take %s of the CPU", pct(cost)))
		}
		return
	}
	if a.sitesFrom == "" {
		p.Unchecked("which code allocates",
			fmt.Sprintf("allocating and collecting take up to %s of the CPU in use, and neither a CPU nor an allocs profile says for whom", pct(cost)),
			diagnosis.HowToGet(model.Heap))
		return
	}
	named := slices.DeleteFunc(slices.Clone(a.sites), func(s allocSite) bool {
		return a.share(s) < churnSite*(cost+a.touch) || s.kept >= churnKept
	})
	slices.SortStableFunc(named, func(x, y allocSite) int { return cmp.Compare(a.share(y), a.share(x)) })
	if len(named) == 0 {
		return // spread over a hundred places, or kept: no site to change
	}
	p.Report(allocFinding(p, a, named[:min(len(named), churnNamed)]))
}

func column(p *model.Profile, name string) int {
	return slices.IndexFunc(p.Types, func(t model.ValueType) bool { return t.Name == name })
}

func at(s *model.Sample, column int) float64 {
	if column < 0 || column >= len(s.Values) {
		return 0
	}
	return float64(s.Values[column])
}

func allocFinding(p *diagnosis.Pass, a allocation, named []allocSite) diagnosis.Finding {
	cost, top := a.malloc+a.collect, named[0]
	source, upTo := a.costFrom, ""
	method := "Amdahl: 0 to each named site's share of the objects × the allocator's share of the CPU, plus its share of the bytes × the collector's"
	pages := ""
	if a.touch > 0 {
		method += fmt.Sprintf(". First use of fresh pages, which the profile books on whatever writes to them first, is added as what the bytes cost at %s a second and core, or all that the profile shows where that can happen, if it is less", size(allocPace))
		pages = ", page faults of fresh memory up to " + pct(a.touch) + " more"
	}
	if !a.measured {
		source, upTo = "trace: heap growth and collector", "up to "
		method = fmt.Sprintf("Amdahl: 0 to each named site's share of the bytes × the CPU in allocating and collecting. The allocator's part of it is derived, not measured: bytes allocated ÷ the %s a second that a core allocates in 64-byte objects, and in which it uses fresh pages for the first time; large ones in pages still mapped cost less", size(allocPace))
	}
	share := 0.0
	f := diagnosis.Finding{
		Evidence: []fact.Fact{
			{Name: "CPU in the allocator", Value: a.malloc, Unit: fact.Ratio, Source: source},
			{Name: "CPU in the garbage collector", Value: a.collect, Unit: fact.Ratio, Source: source},
			{Name: "CPU in use", Value: a.cores, Unit: fact.Cores, Source: source},
		},
		Cost: diagnosis.Cost{
			Value: cost * a.cores, Unit: fact.Cores, Share: min(1, cost), What: "CPU in allocating and collecting",
		},
		RuledOut: []string{
			"memory that is kept: sites with half of their bytes still in use are not counted",
			"many small sites: each one named causes at least " + pct(churnSite) + " of the cost",
		},
		Remedy: diagnosis.Remedy{
			Text: "Let " + short(top.place.Function) + " reuse what it allocates: a buffer owned by the worker and reset for each item, a slice made with its final capacity, a value instead of a pointer, no string built only to be looked up. " + askCompiler + " Try the knob to see what collecting alone costs: it trades memory for CPU.",
			Code: "buf := make([]byte, size) // once per worker, outside the loop\nfor task := range tasks {\n\tn := fill(buf, task)\n\tuse(buf[:n])\n}",
			Knob: "GOGC=400",
		},
	}
	if a.touch > 0 {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "CPU in page faults of fresh memory, at most", Value: a.touch, Unit: fact.Ratio, Source: "trace: heap growth"})
	}
	for _, s := range named {
		share += a.share(s)
		f.Where = append(f.Where, s.place)
		f.Stacks = append(f.Stacks, s.stacks...)
		f.Groups = append(f.Groups, groupsAllocating(p.Model, s)...)
		f.Evidence = append(f.Evidence, siteFacts(s, a.sitesFrom)...)
	}
	slices.Sort(f.Groups)
	f.Groups = slices.Compact(f.Groups)
	f.Explains = gcSymptoms(p)
	if said := escapeWords(p.Model, f.Where); said != "" {
		f.Remedy.Text = strings.Replace(f.Remedy.Text, askCompiler, said, 1)
	}
	f.Evidence = append(f.Evidence, garbageFacts(p.Model)...)
	share = min(share, cost+a.touch, 1)
	f.Summary = fmt.Sprintf("Allocating and collecting take %s%s of the CPU in use%s; one line of %s causes %s of that.",
		upTo, pct(cost), pages, short(top.place.Function), pct(div(a.share(top), cost+a.touch)))
	f.Bound = diagnosis.Bound{Value: share * a.cores, Unit: fact.Cores, Share: share, Goal: diagnosis.CPUGoal, Method: method}
	f.Experiment = a.experiment(named)
	f.Confidence, f.Reasons = a.confidence()
	return f
}

// askCompiler stands where the compiler's own words are not at hand.
const askCompiler = "`go build -gcflags=-m` says why something escapes to the heap."

// garbageFacts is what the runtime counted: exact, and by operation the figure
// that hardly varies from run to run.
func garbageFacts(m *model.Model) (out []fact.Fact) {
	objects, over, ok := m.Metrics.Delta(metricAllocObjects)
	bytes, _, also := m.Metrics.Delta(metricAllocBytes)
	if !ok || !also {
		return nil
	}
	out = append(out,
		fact.Fact{Name: "objects allocated", Value: objects / over.Seconds(), Unit: fact.PerSec, Source: "metrics: " + metricAllocObjects},
		fact.Fact{Name: "bytes allocated a second", Value: bytes / over.Seconds(), Unit: fact.Bytes, Source: "metrics: " + metricAllocBytes})
	if ops := m.Operations(); ops != nil && ops.Count > 0 && m.Run.Duration > 0 {
		perSecond := ops.Count / m.Run.Duration.Seconds()
		out = append(out, fact.Fact{Name: "objects allocated for each of the " + ops.Name, Value: objects / over.Seconds() / perSecond, Unit: fact.Count, Source: "metrics ÷ " + ops.From})
	}
	return out
}

// groupsAllocating is the groups whose goroutines come by a site; none without
// a trace to know groups from.
func groupsAllocating(m *model.Model, s allocSite) (names []string) {
	if m.Sched == nil {
		return nil
	}
	for _, stack := range s.stacks {
		if name := root(m, stack); group(m, name) != nil {
			names = append(names, name)
		}
	}
	return names
}

func siteFacts(s allocSite, source string) []fact.Fact {
	at := fmt.Sprintf("%s:%d", short(s.place.Function), s.place.Line)
	if source != "allocs profile" {
		return []fact.Fact{{Name: "allocating time under " + at, Value: s.objects, Unit: fact.Ratio, Source: source}}
	}
	return []fact.Fact{
		{Name: "objects allocated by " + at, Value: s.objects, Unit: fact.Ratio, Source: source},
		{Name: "bytes allocated by " + at, Value: s.bytes, Unit: fact.Ratio, Source: source},
	}
}
