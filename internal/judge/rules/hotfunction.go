package rules

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed hotfunction.md
var hotfunctionPage string

// hotfunction is silent about most hot functions: somewhere the CPU has to
// go, and in a healthy program it goes into the job. It speaks where the code
// does what never needs to be done twice, where it does more of a kind of work than
// programs that are well, and, as a remark, where the program is as slow as its own
// computing or a reader asks for CPU.
var hotfunction = &diagnosis.Rule{
	Name:  "hotfunction",
	Title: "Much of the CPU goes into one function",
	Doc:   hotfunctionPage,
	// No Needs: either kind of CPU samples will do.
	Explains: []string{"allocchurn", "gccost", "tinyheap", "growingslices"}, // only where it makes most of the garbage
	Check:    checkHotfunction,
}

const (
	// hotShare is the share of the CPU that a function of the program, with
	// the library code it calls, must take to be worth a look. Half of it made
	// twice as fast is 5%, which ten interleaved runs can hardly tell from noise.
	hotShare = 0.10
	// hotTwice is the share of CPU in doing again what could have been done
	// once, and hotSamples its fewest samples: ten are at least four, nineteen
	// times in twenty. The lab's look-alike, which compiles its patterns at
	// start, is at 0 once that is over.
	hotTwice   = minShare
	hotSamples = 10
	// hotBound is the CPU in use, in cores, from which a program is taken to be as slow
	// as its own computing: one goroutine that computes all the time is at 1. Where others
	// on the machine take the CPU, it holds a P all the time, and that counts.
	hotBound = 0.7
	// hotMost is the share of the CPU that a function must take of a program that others
	// wait for, or the clock: most of it.
	hotMost = 0.5
	// hotGrowing is the part of a function's CPU in slices and maps that grow from which
	// that is what there is to say of it: most.
	hotGrowing = 2.0 / 3
)

// A remake is work whose result could be kept, by the functions that do it.
type remake struct {
	functions []string // or beginnings of them
	what      string
	text      string
	code      string
}

// remakes are the standard library's and those of well-known others: each is
// documented to be made once and used by many. What is seen under a sync.Once
// or an init is.
var remakes = []remake{
	{[]string{"regexp.compile", "regexp.Compile", "regexp.MustCompile", "regexp/syntax.Parse"}, "compiling regular expressions",
		"Compile the expression once, in a variable of the package; regexp.MatchString and friends recompile it on every " +
			"call. A compiled expression may be used by all goroutines at once.",
		"var pattern = regexp.MustCompile(`…`) // at package level"},
	{[]string{"text/template.(*Template).Parse", "html/template.(*Template).Parse", "text/template/parse.Parse"}, "parsing templates",
		"Parse the template once and execute it for each request: a parsed template may be used by all goroutines at once.",
		"var page = template.Must(template.New(\"page\").Parse(text)) // at package level"},
	{[]string{"text/template.(*Template).Clone", "html/template.(*Template).Clone", "html/template.(*escaper).escape", "html/template.escapeTemplate"}, "cloning and escaping templates",
		"Clone the template and bind its functions once for each set of them, and keep the clones: a clone is copied whole, and " +
			"html/template works out the escaping of each new one when it is first executed.", ""},
	{[]string{"github.com/expr-lang/expr.Compile", "github.com/google/cel-go/cel.(*Env).Compile", "github.com/dop251/goja.Compile"}, "compiling expressions of a rule language",
		"Compile each expression once, when the rules are loaded, and run the compiled program for each input: " +
			"a compiled program may be used by all goroutines at once.", ""},
	{[]string{"time.LoadLocation"}, "loading time zones",
		"time.LoadLocation reads and parses a file for every call. Load the zones once and keep them.",
		"var berlin, _ = time.LoadLocation(\"Europe/Berlin\") // at package level"},
	{[]string{"crypto/x509.(*CertPool).AppendCertsFromPEM", "crypto/x509.SystemCertPool", "crypto/tls.X509KeyPair", "crypto/tls.LoadX509KeyPair"}, "parsing certificates of its own",
		"Parse keys and pools of certificates once and put them into one tls.Config, which may be shared; " +
			"a new http.Transport for each request also loses its connections.", ""},
}

func checkHotfunction(p *diagnosis.Pass) {
	s, ok := cpu.RequireUse(p)
	if !ok {
		return
	}
	var named []string
	for i := range remakes {
		r := &remakes[i]
		sites := s.Callers(p.Model, r.callers)
		if share := s.ShareAt("CPU in "+r.what, sites...); share.Value >= hotTwice && s.SamplesAt(sites).Value >= hotSamples {
			named = append(named, sites[0].Function)
			f := remakeFinding(p, &s, r, sites, share)
			if !slices.ContainsFunc(p.Model.Reasons, func(r model.Reason) bool { return r.Func == sites[0].Function }) {
				f = ofCommand(p, f, "each may be another one, made once, for its source was not seen to have the same one each time")
			}
			p.Report(f)
		}
	}
	if !cpu.Benchmarks(p) { // one operation is all that there is, and is mostly of one kind
		named = append(named, reportWork(p, &s, named)...)
	}
	switch {
	case p.Goal == diagnosis.CPUGoal, len(named) == 0 && cpuBound(p, &s):
		reportHot(p, &s, hotShare)
	case len(named) == 0 && s.InUse().Value >= leastCores:
		reportHot(p, &s, hotMost)
	}
}

// cpuBound reports whether the program is as slow as its own computing: it keeps a
// core busy, or it is benchmarks, which do nothing but what they measure.
func cpuBound(p *diagnosis.Pass, s *cpu.Use) bool {
	return cpu.Benchmarks(p) || s.InUse().Larger(cpu.ActivePs(p)).Value >= hotBound
}

// matches reports whether a stack does the work again, for the caller's own use.
func (r *remake) matches(frames []model.Frame) bool { return r.callers(frames) != nil }

// callers returns the frames behind the call that does the work again, nil when
// there is none: who calls it, and not what the library calls for it, is to be
// named. What is remade for the sake of something else that is, counts there.
func (r *remake) callers(frames []model.Frame) (behind []model.Frame) {
	for i, f := range frames {
		switch {
		case code.RunsOnce(f.Func):
			return nil
		case r.is(f):
			behind = frames[i+1:]
		case behind != nil && slices.ContainsFunc(remakes, func(other remake) bool { return other.is(f) }):
			return nil
		}
	}
	return behind
}

// is reports whether a frame is one of the functions that do the work.
func (r *remake) is(f model.Frame) bool { return code.StartsWith(f.Func, r.functions) }

func remakeFinding(p *diagnosis.Pass, s *cpu.Use, r *remake, sites []cpu.Line, share fact.Fact) diagnosis.Finding {
	f := diagnosis.Finding{
		Title:      "Work is repeated for every call that could be done once",
		Stacks:     cpu.Stacks(sites, cpu.MostNamed),
		Evidence:   []fact.Fact{share, s.InUse()},
		Cost:       s.Cost(share),
		Bound:      s.ExtendBound(s.Estimate(s.MaxSaving(r.what, r.matches), ""), sites[0].Function),
		Confidence: diagnosis.Medium,
		Reasons:    []string{s.Witness()},
		RuledOut:   []string{"the program's start: what runs in an init function or under a sync.Once is not counted"},
		Remedy:     diagnosis.Remedy{Text: r.text, Code: r.code},
		Explains:   []string{},
		Experiment: codeChange(diagnosis.CPUPerOp, "", "Allocations per operation are a count and show in one run whether it is made once."),
	}
	for _, site := range sites[:min(cpu.MostNamed, len(sites))] {
		f.Where = append(f.Where, code.WithProgram(p, site.Place, site.Stacks...)...)
	}
	f.Where = code.Places(f.Where...)
	f.Say("%s of the CPU in use goes into %s, most of it for %s.", share, fact.Name(r.what), code.Name(sites[0].Function))
	if s.Garbage(r.matches).Value >= hotGarbage {
		f.Explains = p.Rule.Explains
		f.Stacks = append(f.Stacks, memory.AllocatingStacks(p.Model, r.matches)...)
	}
	return f
}

// reportHot names the functions that ask for most of the CPU: a remark, for nothing
// says that any of it can be saved, and a known fix comes first. Where it is spread
// over many functions of libraries, the program's own lead there.
func reportHot(p *diagnosis.Pass, s *cpu.Use, least float64) {
	by, what := asker(askedBy), "and the library code it calls"
	hot, shares := hotFunctions(p, s, by, "CPU in ")
	if len(shares) == 0 {
		by, what = ledBy, "and all that it calls"
		hot, shares = hotFunctions(p, s, by, "CPU under ")
	}
	if least > hotShare && (len(shares) == 0 || shares[0].Value < least || s.SampleCount().Value < hotWorkSamples) {
		return
	}
	if len(shares) == 0 {
		p.Fine(fact.Sentence("CPU: no function asks for %s of it", fact.Name(fact.Ratio.Format(hotShare))))
		return
	}
	if speaks(p, growingslices) && s.ShareOf("growing slices and maps in it", hot[0].growing(p.Model)).Value >= hotGrowing*shares[0].Value {
		return // which says what to do about it
	}
	// Where it is called less, all that it calls is, too.
	most := s.MaxSaving(code.Short(hot[0].Function)+" and all that it calls", func(frames []model.Frame) bool {
		return slices.ContainsFunc(frames, func(f model.Frame) bool { return f.Func == hot[0].Function })
	})
	f := diagnosis.Finding{
		Evidence: append([]fact.Fact{s.InUse()}, shares...),
		Cost:     s.Cost(shares[0]),
		Bound: s.Limit(most, "made twice as fast, the function saves half of that; "+
			"whether it can be is not known, so that this ranks behind every fix"),
		Remark:     true,
		Confidence: diagnosis.Low,
		Reasons:    []string{fact.Sentence("the share is sure, from %s samples; that it is too much is not", s.SampleCount())},
		RuledOut:   []string{"the runtime's own work: collecting and scheduling are not counted"},
		Explains:   []string{},
		Remedy: diagnosis.Remedy{
			Text: cheaper(hot[0].Work) + "Look at its lines (`gowhy ledger FILE --by work`, `go tool pprof -list`) and at how " +
				"often it is called: the call that is not made is the cheapest. What can be decided before the loop " +
				"should be; what is computed twice should be kept. A loop within a loop over one list grows with the " +
				"square of its length: measure at two sizes.",
		},
		Experiment: &diagnosis.Experiment{
			Primary: diagnosis.CPUPerOp, Promised: metricPromise(diagnosis.CPUPerOp, fact.Amdahl(most.Value), "Amdahl: the function costs nothing"),
			Note: "`go test -bench NAME -count 10` of the function before and after tells what the change did to it; " +
				"only the whole program tells what that is worth.",
		},
	}
	if count := p.CountRounds(); count != "" {
		f.Remedy.Text += " `" + count + "` counts the rounds of its loops and says whether it is called with the same again, and with --vary how they grow."
	}
	f.Bound.Share = 0 // nobody knows whether any of it can be saved
	switch {
	case p.Goal == diagnosis.CPUGoal:
	case least == hotMost:
		f.Reasons = append(f.Reasons, fact.Sentence("shown as with --goal cpu: the program does little, %s, and most of it is this", s.InUse()))
	default:
		f.Reasons = append(f.Reasons, fact.Sentence("shown as with --goal cpu: CPU time limits a program that uses %s all the time", s.InUse()))
	}
	for _, h := range hot {
		f.Where = append(f.Where, code.WithProgram(p, h.Place, h.stacks...)...)
		f.Stacks = append(f.Stacks, h.stacks...)
	}
	f.Where = code.Places(f.Where...)
	kinds := ""
	list, _ := p.Model.Works()
	for _, e := range list {
		if e.Line.Func != hot[0].Function || len(f.Evidence) > len(shares)+cpu.MostNamed {
			continue
		}
		if part := s.ShareOf(string(e.Work)+" in "+code.Short(e.Line.Func), doing(p.Model, e)); part.Value >= minShare {
			f.Rest(part)
			kinds += ", " + fact.Sentence(string(e.Work)+" %s", part)
		}
	}
	f.Say("%s "+what+" take %s of the CPU in use%s. That may be legitimate work.",
		code.Name(hot[0].Function), shares[0], fact.Name(strings.Replace(kinds, ", ", ": ", 1)))
	r := accuseReleased(p, &f, func(what string, r *model.Release) releaseWork {
		if r.About == model.AboutMemory { // allocchurn judges by what memory costs
			return releaseWork{}
		}
		share := s.ShareIn("CPU in "+what, r.Of)
		return releaseWork{share, s.Cost(share), s.LimitWithout(what, r.Of, "the release does not say how much less it takes")}
	})
	if r != nil && s.Garbage(r.Of).Value >= hotGarbage {
		f.Explains = p.Rule.Explains
		f.Stacks = append(f.Stacks, memory.AllocatingStacks(p.Model, r.Of)...)
	}
	p.Report(f)
}

// A hotPlace is a function by all that it asks for.
type hotPlace struct {
	diagnosis.Place // the line that asks for most of it
	Work            model.Work
	share           float64
	stacks          []model.Stack
}

// growing matches its samples of slices and maps that grow.
func (h *hotPlace) growing(m *model.Model) fact.Where {
	return func(sample *model.Sample) bool {
		return slices.Contains(h.stacks, sample.Stack) && growsData(m.Stacks.Frames(sample.Stack))
	}
}

// asker is the line that a stack's work is for, and its kind.
type asker func(m *model.Model, frames []model.Frame) (diagnosis.Place, model.Work, bool)

// askedBy returns the line nearest to the leaf of the program and of its libraries.
func askedBy(_ *model.Model, frames []model.Frame) (diagnosis.Place, model.Work, bool) {
	w, line, ok := model.WorkOf(frames)
	return diagnosis.Place{Function: line.Func, File: line.File, Line: line.Line}, w, ok
}

// ledBy returns the program's own line.
func ledBy(m *model.Model, frames []model.Frame) (diagnosis.Place, model.Work, bool) {
	place, ok := code.ProgramFrame(m, frames)
	return place, "", ok && !model.OfRecording(frames)
}

// hotFunctions returns the functions that ask for hotShare of the CPU or more, the largest
// first, and their shares.
func hotFunctions(p *diagnosis.Pass, s *cpu.Use, of asker, name string) (hot []hotPlace, shares []fact.Fact) {
	type part struct {
		place diagnosis.Place
		work  model.Work
	}
	nanos := s.Profile.Column("cpu")
	sums, functions := map[part]float64{}, map[string]*hotPlace{}
	for i := range s.Profile.Samples {
		sample := &s.Profile.Samples[i]
		place, w, ok := of(p.Model, p.Model.Stacks.Frames(sample.Stack))
		if !ok {
			continue
		}
		h := functions[place.Function]
		if h == nil {
			h = &hotPlace{Place: place, Work: w}
			functions[place.Function] = h
		}
		v, k := sample.Value(nanos), part{place, w}
		h.share, h.stacks = h.share+v, append(h.stacks, sample.Stack)
		if sums[k] += v; sums[k] > sums[part{h.Place, h.Work}] {
			h.Place, h.Work = place, w
		}
	}
	for _, h := range functions {
		hot = append(hot, *h)
	}
	slices.SortFunc(hot, func(a, b hotPlace) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.Function, b.Function))
	})
	for _, h := range hot[:min(cpu.MostNamed, len(hot))] {
		share := s.ShareOf(name+code.Short(h.Function), func(sample *model.Sample) bool {
			place, _, ok := of(p.Model, p.Model.Stacks.Frames(sample.Stack))
			return ok && place.Function == h.Function
		})
		if share.Value >= hotShare {
			shares = append(shares, share)
		}
	}
	return hot[:len(shares)], shares
}

// cheaper says what helps with a kind of work, "" where it is a program's job.
func cheaper(w model.Work) string {
	if i := slices.IndexFunc(norms, func(n norm) bool { return n.work == w }); i >= 0 {
		return norms[i].text + " "
	}
	return ""
}
