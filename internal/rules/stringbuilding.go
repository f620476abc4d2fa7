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

//go:embed stringbuilding.md
var stringbuildingPage string

var stringbuilding = &diagnosis.Rule{
	Name:     "stringbuilding",
	Title:    "Strings are built piece by piece or copied to be converted",
	Doc:      stringbuildingPage,
	Needs:    []model.Source{model.Heap},       // and CPU samples of either kind, which Check looks for
	Explains: []string{"allocchurn", "gccost"}, // only where it is most of their cost
	Check:    checkStringbuilding,
}

const (
	// stringObjects is the share of all objects that a function must make by
	// concatenation or conversion. The names that a DNS server turned round by
	// += were 10.7 % of its objects.
	stringObjects = 0.03
	// stringCPU is what that must cost, in making and collecting the strings and
	// in copying them. Most programs make a string here and there: below a
	// twentieth of the CPU the change is not worth the reading.
	stringCPU = 0.05
	// stringNamed is how many functions a finding names.
	stringNamed = 3
)

// stringWork are the runtime's functions that make a new string or a copy of
// one, with what the program wrote to get there.
var stringWork = []struct{ prefix, what string }{
	{"runtime.concatstring", "concatenation"},
	{"runtime.concatbyte", "concatenation"},
	{"runtime.slicebytetostring", "string(bytes)"},
	{"runtime.stringtoslicebyte", "[]byte(string)"},
	{"runtime.stringtoslicerune", "[]rune(string)"},
	{"runtime.slicerunetostring", "string(runes)"},
	{"runtime.intstring", "string(rune)"},
}

// stringKind is which of them a stack is in right below the program's own
// code, "" when in none: what the library makes of strings is its own business.
func stringKind(frames []model.Frame) string {
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return !strings.HasPrefix(f.Func, "runtime.") })
	if i < 0 || model.IsStd(frames[i].Func) {
		return ""
	}
	for _, f := range frames[:i] {
		for _, w := range stringWork {
			if strings.HasPrefix(f.Func, w.prefix) {
				return w.what
			}
		}
	}
	return ""
}

// A stringSite is a function that builds or converts strings.
type stringSite struct {
	allocSite          // shares are of all objects and bytes of the profile
	kinds     []string // by objects, most first
	cpu       float64  // the share in doing it, allocator left out
}

func checkStringbuilding(p *diagnosis.Pass) {
	a := measureAllocation(p)
	sites := stringSites(p)
	share := 0.0
	for i := range sites {
		share += sites[i].cost(&a)
	}
	share = min(1, share)
	switch {
	case a.cores == 0 || !a.measured:
	case len(sites) == 0:
		p.Fine(fmt.Sprintf("strings: no function makes %s of the objects by concatenation or conversion", pct(stringObjects)))
	case share < stringCPU:
		p.Fine(fmt.Sprintf("strings: what functions make by concatenation and conversion takes %s of the CPU", pct(share)))
	default:
		p.Report(stringFinding(p, &a, sites, share))
	}
}

func (s *stringSite) cost(a *allocation) float64 { return a.share(s.allocSite) + s.cpu }

// stringSites are the functions with enough of such objects that are not kept,
// most objects first; lines are those with most of them.
func stringSites(p *diagnosis.Pass) (sites []stringSite) {
	objects, bytes, live := p.Model.Heap.Column("alloc_objects"), p.Model.Heap.Column("alloc_space"), p.Model.Heap.Column("inuse_space")
	lines := collectSites(p, p.Model.Heap.Samples, func(s *model.Sample) (o, b, l float64) {
		return s.Value(objects), s.Value(bytes), s.Value(live)
	})
	strs := stringLines(p)
	byFunction := map[string]int{}
	for _, l := range lines {
		kinds, part := strs[l.place].kinds, strs[l.place].share
		if len(kinds) == 0 || l.kept >= churnKept {
			continue
		}
		l.objects, l.bytes = l.objects*part, l.bytes*part
		i, ok := byFunction[l.place.Function]
		if !ok {
			i = len(sites)
			byFunction[l.place.Function] = i
			sites = append(sites, stringSite{allocSite: allocSite{place: l.place}})
		}
		sites[i].add(l, kinds)
	}
	sites = slices.DeleteFunc(sites, func(s stringSite) bool { return s.objects < stringObjects })
	copying(p.Model, sites)
	slices.SortStableFunc(sites, func(a, b stringSite) int { return cmp.Compare(b.objects, a.objects) })
	return sites
}

func (s *stringSite) add(l allocSite, kinds []string) {
	s.objects, s.bytes = s.objects+l.objects, s.bytes+l.bytes
	s.stacks = append(s.stacks, l.stacks...)
	for _, k := range kinds {
		if !slices.Contains(s.kinds, k) {
			s.kinds = append(s.kinds, k)
		}
	}
}

// A stringLine is what of a line's objects are strings.
type stringLine struct {
	kinds []string
	share float64
}

// stringLines says what the program's lines allocate for. A profile of the heap
// leaves out the runtime's functions between a line and the object, so that
// only CPU samples in the allocator tell a string from any other object.
func stringLines(p *diagnosis.Pass) map[diagnosis.Place]stringLine {
	s, ok := spentCPU(p)
	if !ok {
		return nil
	}
	nanos := s.profile.Column("cpu")
	all, kinds := map[diagnosis.Place]float64{}, map[diagnosis.Place]map[string]float64{}
	for i := range s.profile.Samples {
		sample := &s.profile.Samples[i]
		frames := p.Model.Stacks.Frames(sample.Stack)
		place, ok := diagnosis.UserPlace(frames)
		if !ok || !slices.ContainsFunc(frames, func(f model.Frame) bool { return isMalloc(f.Func) }) {
			continue
		}
		all[place] += sample.Value(nanos)
		if kind := stringKind(frames); kind != "" {
			if kinds[place] == nil {
				kinds[place] = map[string]float64{}
			}
			kinds[place][kind] += sample.Value(nanos)
		}
	}
	out := map[diagnosis.Place]stringLine{}
	for place, by := range kinds {
		l := stringLine{kinds: largest(by)}
		for _, t := range by {
			l.share += div(t, all[place])
		}
		l.share = min(1, l.share)
		out[place] = l
	}
	return out
}

// copying adds the CPU in that work itself, outside the allocator.
func copying(m *model.Model, sites []stringSite) {
	s, ok := spentCPU(&diagnosis.Pass{Meter: fact.Meter{Model: m}})
	if !ok {
		return
	}
	for _, place := range s.places(m, func(frames []model.Frame) bool {
		return stringKind(frames) != "" && !slices.ContainsFunc(frames, func(f model.Frame) bool { return isMalloc(f.Func) })
	}) {
		for i := range sites {
			if sites[i].place.Function == place.Function {
				sites[i].cpu += place.share
			}
		}
	}
}

func stringFinding(p *diagnosis.Pass, a *allocation, sites []stringSite, share float64) diagnosis.Finding {
	objects, top := 0.0, &sites[0]
	for i := range sites {
		objects += sites[i].objects
	}
	objects = min(1, objects)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s of all objects are strings that %s makes by %s%s: %s of the CPU in use.",
			pct(objects), short(top.place.Function), strings.Join(top.kinds, " and "), others(len(sites)-1), pct(share)),
		Evidence: []fact.Fact{
			{Name: "share of objects", Value: objects, Unit: fact.Ratio, Source: "allocs profile; that they are strings from CPU samples in the allocator"},
			{Name: "CPU in the allocator", Value: a.malloc, Unit: fact.Ratio, Source: a.priceFrom()},
			{Name: "CPU in the garbage collector", Value: a.collect, Unit: fact.Ratio, Source: a.priceFrom()},
			{Name: "CPU in use", Value: a.cores, Unit: fact.Cores, Source: a.priceFrom()},
		},
		Cost: diagnosis.Cost{Value: share * a.cores, Unit: fact.Cores, Share: share, What: "CPU in making, copying and collecting these strings"},
		Bound: diagnosis.Bound{
			Value: share * a.cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method: "Amdahl, as if none of these strings were made: their share of the objects × the allocator's share of the CPU, their share of the bytes × the collector's, and the copying that the CPU profile shows under these functions",
		},
		Confidence: diagnosis.High,
		Reasons:    []string{"two profiles agree on the lines: that of allocations counts their objects, and samples of CPU time show what the runtime was asked for there"},
		RuledOut: []string{
			"strings that are kept: lines with half of their bytes still in use are not counted",
			"conversions that the compiler does without a copy, as in m[string(b)]: they leave no object",
			"strings that library functions make: only those made by the program's own lines are counted",
		},
		Remedy: stringRemedy(top),
		Experiment: &diagnosis.Experiment{
			Primary: diagnosis.AllocsOp, Else: diagnosis.CPUPerOp, Promised: promised(diagnosis.AllocsOp, fact.Amdahl(objects), "all objects of these functions"),
			Note: "A benchmark of the function with `go test -bench NAME -benchmem` counts the same.",
		},
	}
	for i := range sites[:min(stringNamed, len(sites))] {
		s := &sites[i]
		f.Where = append(f.Where, s.place)
		f.Stacks = append(f.Stacks, s.stacks...)
		f.Evidence = append(f.Evidence, fact.Fact{Name: "objects made by " + short(s.place.Function), Value: s.objects, Unit: fact.Ratio, Source: "allocs profile"})
	}
	f.Groups = groupsOfStacks(p.Model, f.Stacks)
	if share < boxedMost*(a.malloc+a.collect) {
		f.Explains = []string{}
	}
	return f
}

// others says that a sentence about the first is also about more.
func others(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", with one other function"
	}
	return fmt.Sprintf(", with %d other functions", n)
}

func stringRemedy(s *stringSite) diagnosis.Remedy {
	if s.kinds[0] == "concatenation" {
		return diagnosis.Remedy{
			Text: "Build the string once: work out its length, append the pieces to one []byte of that size (strings.Builder with Grow does the same), and convert at the end. s += piece in a loop copies all that is there for each piece. Best is no new string at all: compare and look up the pieces where they are, or work in place on a buffer that the caller keeps.",
			Code: "buf = buf[:0] // kept by the caller\nfor i := len(labels) - 1; i >= 0; i-- {\n\tbuf = append(append(buf, labels[i]...), '.')\n}\nreturn string(buf) // the only object",
		}
	}
	return diagnosis.Remedy{
		Text: "Stay with one of the two: take []byte where the data comes as bytes, and use the bytes package, strconv.Append… and io.WriteString, so that nothing is copied to change its type. The compiler copies nothing for m[string(b)], for comparisons, for range []byte(s) and in a switch; a conversion that is stored or passed on is a copy each time.",
		Code: "v, ok := index[string(key)]       // no copy: the compiler sees a lookup\nw.Write(strconv.AppendInt(buf[:0], n, 10)) // in the place of []byte(strconv.Itoa(n))",
	}
}
