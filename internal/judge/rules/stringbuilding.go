package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed stringbuilding.md
var stringbuildingPage string

var stringbuilding = &diagnosis.Rule{
	Name:     "stringbuilding",
	Title:    "Strings are built piece by piece or copied to be converted",
	Doc:      stringbuildingPage,
	Needs:    []model.Source{model.Heap},                      // and CPU samples of either kind, which Check looks for
	Explains: []string{"allocchurn", "gccost", "hotfunction"}, // the first two only where it is most of their cost
	Check:    checkStringbuilding,
}

const (
	// stringObjects is the share of all objects that a function must make by
	// concatenation or conversion. The names that a DNS server turned round by
	// += were 10.7% of its objects.
	stringObjects = 0.03
	// stringCPU is what that must cost, in making and collecting the strings and in copying
	// them. Commands and servers that are well are at 0.07 or less, a name server of the lab
	// that has the problem at 0.10 and three programs of the field at 0.29 and more. A
	// benchmark does one thing over and over, and three that are well are at 0.07 to 0.09:
	// the limit is twelve hundredths of them.
	stringCPU       = 0.08
	stringBenchmark = 0.12
	// stringNamed is how many functions a finding names.
	stringNamed = 3
)

// stringLeast returns the share that is a problem of this program.
func stringLeast(p *diagnosis.Pass) float64 {
	if cpu.Benchmarks(p) {
		return stringBenchmark
	}
	return stringCPU
}

// stringRepairs is what repairs saved, by the cost: in two pairs of the field 1.36 and 1.46
// times as much, for what goes over the strings goes along.
var stringRepairs = cpu.Repairs{Least: 0.5, Most: 2}

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

// stringKind returns which of them a stack is in right below the program's own
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
	place          diagnosis.Place // of the line with most objects
	lines          []memory.Site
	kinds          []string  // by objects, most first
	objects, bytes fact.Fact // shares of all of the profile
}

func checkStringbuilding(p *diagnosis.Pass) {
	a := memory.AllocationOf(p)
	s, ok := cpu.RequireUse(p)
	if !ok || !a.Measured {
		return
	}
	sites := stringSites(p, &a, &s)
	if len(sites) == 0 {
		p.Fine(fact.Sentence("strings: no function makes %s of the objects by concatenation or conversion", fact.Name(fact.Ratio.Format(stringObjects))))
		return
	}
	var objects, bytes []fact.Fact
	for _, site := range sites {
		objects, bytes = append(objects, site.objects), append(bytes, site.bytes)
	}
	all := fact.Sum.Of("objects that are such strings", fact.Ratio, objects...)
	made := a.Price("CPU in making and collecting these strings", all, fact.Sum.Of("bytes in such strings", fact.Ratio, bytes...))
	share := memory.AddedShares.Of("CPU in making, copying and collecting these strings", fact.Ratio, made, s.ShareIn("CPU in copying them", copies(sites)))
	if share.Value < stringLeast(p) {
		p.Fine(fact.Sentence("strings: what functions make by concatenation and conversion takes %s of the CPU", share))
		return
	}
	p.Report(stringFinding(p, &a, sites, all, share))
}

// stringSites returns the functions with enough of such objects that are not kept,
// most objects first.
func stringSites(p *diagnosis.Pass, a *memory.Allocation, s *cpu.Use) (sites []stringSite) {
	strs, byFunction := stringLines(p, s), map[string]int{}
	for _, l := range a.Sites {
		if strs[l.Place] == nil || l.LiveShare >= churnKept {
			continue
		}
		i, ok := byFunction[l.Place.Function]
		if !ok {
			i = len(sites)
			byFunction[l.Place.Function] = i
			sites = append(sites, stringSite{place: l.Place})
		}
		site := &sites[i]
		site.lines = append(site.lines, l)
		for _, k := range statistics.Largest(strs[l.Place]) {
			if !slices.Contains(site.kinds, k) {
				site.kinds = append(site.kinds, k)
			}
		}
	}
	for i := range sites {
		sites[i].count(p, a, s)
	}
	sites = slices.DeleteFunc(sites, func(s stringSite) bool { return s.objects.Value < stringObjects })
	slices.SortStableFunc(sites, func(a, b stringSite) int { return cmp.Compare(b.objects.Value, a.objects.Value) })
	return sites
}

// count adds up what of the objects and bytes of the function's lines is strings:
// as much as of the time in the allocator there.
func (site *stringSite) count(p *diagnosis.Pass, a *memory.Allocation, s *cpu.Use) {
	var objects, bytes []fact.Fact
	for _, l := range site.lines {
		here := func(frames []model.Frame) bool {
			place, _ := diagnosis.UserPlace(frames)
			return place == l.Place && cpu.Allocates(frames)
		}
		strs := func(frames []model.Frame) bool { return here(frames) && stringKind(frames) != "" }
		part := fact.Fraction.Of("part of it for strings", fact.Ratio,
			p.Samples("time in making strings at "+l.Line(), s.Tree, p.Frames(strs)), p.Samples("allocating time at "+l.Line(), s.Tree, p.Frames(here)))
		o, b := a.Counts(p, "at "+l.Line(), l)
		objects = append(objects, fact.Product.Of("strings made at "+l.Line(), fact.Ratio, o, part))
		bytes = append(bytes, fact.Product.Of("bytes of strings made at "+l.Line(), fact.Ratio, b, part))
	}
	site.objects = fact.Sum.Of("strings made by "+code.Short(site.place.Function), fact.Ratio, objects...)
	site.bytes = fact.Sum.Of("bytes of strings made by "+code.Short(site.place.Function), fact.Ratio, bytes...)
}

// stringLines says what the program's lines allocate strings for, by the time that
// it takes. A profile of the heap leaves out the runtime's functions between a line
// and the object, so that only CPU samples in the allocator tell a string from any
// other object.
func stringLines(p *diagnosis.Pass, s *cpu.Use) map[diagnosis.Place]map[string]float64 {
	nanos, out := s.Profile.Column("cpu"), map[diagnosis.Place]map[string]float64{}
	for i := range s.Profile.Samples {
		sample := &s.Profile.Samples[i]
		frames := p.Model.Stacks.Frames(sample.Stack)
		if kind := stringKind(frames); kind != "" && cpu.Allocates(frames) {
			place, _ := diagnosis.UserPlace(frames)
			if out[place] == nil {
				out[place] = map[string]float64{}
			}
			out[place][kind] += sample.Value(nanos)
		}
	}
	return out
}

// copies matches that work itself in some functions, outside the allocator.
func copies(sites []stringSite) func([]model.Frame) bool {
	return func(frames []model.Frame) bool {
		place, _ := diagnosis.UserPlace(frames)
		return stringKind(frames) != "" && !cpu.Allocates(frames) &&
			slices.ContainsFunc(sites, func(s stringSite) bool { return s.place.Function == place.Function })
	}
}

func stringFinding(p *diagnosis.Pass, a *memory.Allocation, sites []stringSite, objects, share fact.Fact) diagnosis.Finding {
	top := &sites[0]
	f := diagnosis.Finding{
		Evidence:   append([]fact.Fact{objects}, a.Facts()...),
		Cost:       a.CostOf(share),
		Bound:      cpu.EstimateOf(share, a.Cores, stringRepairs, ""),
		Confidence: diagnosis.High,
		Reasons: []string{"two profiles agree on the lines: that of allocations counts their objects, " +
			"and CPU samples show what the runtime does there"},
		RuledOut: []string{
			"strings that are kept: lines with half of their bytes still in use are not counted",
			"conversions that the compiler does without a copy, as in m[string(b)]: they leave no object",
			"strings that library functions make: only those made by the program's own lines are counted",
		},
		Remedy:     stringRemedy(top),
		Experiment: codeChange(diagnosis.AllocsOp, diagnosis.CPUPerOp, "A benchmark of the function with `go test -bench NAME -benchmem` counts the same."),
	}
	if use, ok := cpu.UseOf(p); ok {
		f.Bound = use.ExtendBound(f.Bound, top.place.Function)
	}
	f.Say("%s of all objects are strings that %s makes by %s%s: %s of the CPU in use.",
		objects, code.Name(top.place.Function), fact.Name(strings.Join(top.kinds, " and ")), others(len(sites)-1), share)
	if !avoidable(sites) {
		f.Remark = true
		f.Reasons = append(f.Reasons, "a string made of bytes once may be what the program is for: nothing tells that it is not wanted")
	}
	for i, s := range sites {
		for _, l := range s.lines {
			f.Stacks = append(f.Stacks, l.Stacks...)
		}
		if i < stringNamed {
			f.Where = append(f.Where, s.place)
			f.Rest(s.objects)
		}
	}
	most, _ := memory.LargestParts(p, f.Stacks)
	f.Experiment.Promised = metricPromise(diagnosis.AllocsOp, fact.Amdahl(most.Value), "all objects of these functions")
	f.Groups = code.GroupsOfStacks(p.Model, f.Stacks)
	if share.Value < boxedMost*a.Cost().Value {
		f.Explains = []string{"hotfunction"}
	}
	return f
}

// avoidable reports whether such strings are made otherwise than from bytes: put together piece by
// piece, or changed to bytes or runes to be looked at. Text made of bytes alone is in programs that are
// well, three of the field, and in none that has the problem.
func avoidable(sites []stringSite) bool {
	return slices.ContainsFunc(sites, func(s stringSite) bool {
		return slices.ContainsFunc(s.kinds, func(kind string) bool { return kind != "string(bytes)" })
	})
}

// others says that a sentence about the first is also about more.
func others(n int) fact.Name {
	switch n {
	case 0:
		return ""
	case 1:
		return ", with one other function"
	}
	return fact.Name(", with " + fact.Count.Format(float64(n)) + " other functions")
}

func stringRemedy(s *stringSite) diagnosis.Remedy {
	if s.kinds[0] == "concatenation" {
		return diagnosis.Remedy{
			Text: "Build the string once: work out its length, append the pieces to one []byte of that size (strings.Builder with Grow " +
				"does the same), and convert at the end. s += piece in a loop copies all that is there for each piece. " +
				"Best is no new string at all: compare and look up the pieces where they are, " +
				"or work in place on a buffer that the caller keeps.",
			Code: "buf = buf[:0] // kept by the caller\nfor i := len(labels) - 1; i >= 0; i-- {\n" +
				"\tbuf = append(append(buf, labels[i]...), '.')\n}\nreturn string(buf) // the only object",
		}
	}
	return diagnosis.Remedy{
		Text: "Stay with one of the two: take []byte where the data comes as bytes, and use the bytes package, " +
			"strconv.Append… and io.WriteString, so that nothing is copied to change its type. " +
			"The compiler copies nothing for m[string(b)], for comparisons, for range []byte(s) and in a switch; " +
			"a conversion that is stored or passed on is a copy each time.",
		Code: "v, ok := index[string(key)]       // no copy: the compiler sees a lookup\n" +
			"w.Write(strconv.AppendInt(buf[:0], n, 10)) // in the place of []byte(strconv.Itoa(n))",
	}
}
