package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Reading is one side of a comparison: what was read, and what the rules say.
type Reading struct {
	Name      string
	Model     *model.Model
	Diagnosis *diagnosis.Diagnosis
	// Command is the command line that was recorded; empty when not known.
	Command string
	// Saved is set where a diagnosis that was saved is all that there is.
	Saved bool
}

// ErrUnlike says that the two have nothing in common that could be compared.
var ErrUnlike = errors.New("they have no kind of evidence in common")

// side is one run with what everything is divided by.
type side struct {
	m    *model.Model
	ops  *model.Operations
	rate float64 // operations per second; 0 when not known
}

// Runs compares two recordings, traces, sets of profiles or results of load
// tests; benchmarks are compared with all their repetitions. The error is
// [ErrUnlike].
func Runs(a, b Reading) (*Comparison, error) {
	c := &Comparison{Kind: kind, Schema: Schema}
	sa, sb := sideOf(a.Model), sideOf(b.Model)
	if sa.rate <= 0 || sb.rate <= 0 {
		sa.rate, sb.rate = 0, 0
	}
	c.A, c.B = head(a, sa), head(b, sb)
	c.benchmarks(a.Model, b.Model)
	if !onlyBenchmarks(a.Model) && !onlyBenchmarks(b.Model) {
		c.Findings = findings(a.Diagnosis, b.Diagnosis)
		c.ledger(sa, sb)
		c.profiles(sa, sb)
		c.doubts(sa, sb)
	}
	saved := a.Saved || b.Saved
	if saved {
		c.saved(a.Diagnosis, b.Diagnosis)
	}
	both := saved || slices.ContainsFunc(c.Ledger, func(r Row) bool { return r.A != nil && r.B != nil })
	if !both && len(c.Tables) == 0 && len(c.Benchmarks) == 0 {
		return nil, ErrUnlike
	}
	c.summarize()
	c.advise(a, b)
	return c, nil
}

func sideOf(m *model.Model) *side {
	s := &side{m: m.Frozen(), ops: m.Operations()}
	s.rate = s.ops.PerSecond(m.Run.Duration)
	if l := m.Load; s.rate == 0 && l != nil && l.Ops > 0 {
		s.rate = l.Rate
	}
	return s
}

func head(r Reading, s *side) Side {
	h := Side{Name: r.Name, Go: r.Model.Run.Go, Seconds: r.Model.Run.Duration.Seconds()}
	if s.ops != nil {
		h.Operations, h.Operation = s.ops.Count, s.ops.Name
	}
	if r.Diagnosis != nil && r.Diagnosis.Verdict != diagnosis.TooThin && r.Diagnosis.Verdict != diagnosis.Partial {
		h.Verdict = string(r.Diagnosis.Verdict)
	}
	return h
}

// onlyBenchmarks reports whether a model holds lines of go test -bench and
// nothing that was recorded of a program.
func onlyBenchmarks(m *model.Model) bool {
	return m.Load != nil && len(m.Load.Benchmarks) > 0 && m.Sched == nil && m.CPU == nil && m.Heap == nil && m.Process == nil &&
		m.Kernel == nil && m.Metrics == nil && m.Block == nil && m.Mutex == nil
}

// doubts warns where the sides are unlike in what should be the same.
func (c *Comparison) doubts(a, b *side) {
	warn := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	if why := Unrelated(a.m, b.m, "A", "B"); why != "" {
		c.unlike = true
		warn("%s: a difference may be that of the programs", why)
	}
	if a.ops != nil && b.ops != nil && a.ops.Name != b.ops.Name {
		warn("operations are %s in A and %s in B: what is per operation may not be of the same work", a.ops.Name, b.ops.Name)
	}
	// A trace tells less of the version than a binary does.
	if x, y := a.m.Run.Go, b.m.Run.Go; x != "" && y != "" && !strings.HasPrefix(x+".", y+".") && !strings.HasPrefix(y+".", x+".") {
		warn("A ran with %s, B with %s", x, y)
		before, after, known := minors(x, y)
		if known && before < sizesCounted && after >= sizesCounted {
			warn("Go 1.%d counts the sizes of allocations otherwise than releases before it: bytes allocated do not compare", sizesCounted)
		}
	}
	if x, y := a.m.Run.Procs, b.m.Run.Procs; x > 0 && y > 0 && x != y {
		warn("GOMAXPROCS was %d in A and %d in B", x, y)
	}
	for _, s := range []struct {
		name string
		m    *model.Model
	}{{"A", a.m}, {"B", b.m}} {
		if why := diagnosis.Disturbed(s.m); why != "" {
			warn("%s was disturbed: %s", s.name, why)
		}
		if why := s.m.Run.Coverage; why.LostBytes > 0 || why.LostEvents > 0 {
			warn("%s is not whole: some of its trace could not be read", s.name)
		}
	}
	if c.Per == PerSecond && slices.ContainsFunc(c.Ledger, func(r Row) bool { return !r.State }) {
		warn("operations are not known for both, so quantities are per second: a program that did more work used more")
	}
}

// Unrelated says why two runs are of different programs, as far as that is known: by what
// they were built from, else by the functions that their goroutines start with. It
// returns "" where nothing says so. The runs are called by their names.
func Unrelated(a, b *model.Model, nameA, nameB string) string {
	switch from, to := Program(a), Program(b); {
	case from == "" || to == "":
	case from != to:
		return fmt.Sprintf("%s is %s and %s is %s", nameA, from, nameB, to)
	default:
		return ""
	}
	x, y := ownStarts(a), ownStarts(b)
	if len(x) < leastStarts || len(y) < leastStarts || slices.ContainsFunc(x, func(name string) bool { return slices.Contains(y, name) }) {
		return ""
	}
	return fmt.Sprintf("%s and %s are perhaps different programs: no goroutine of %[2]s starts with one of %[1]s's functions, such as %[3]s", nameA, nameB, x[0])
}

// Rebuilt says why two runs of one program are of different builds of it; "" where
// nothing says so.
func Rebuilt(a, b *model.Model, nameA, nameB string) string {
	if a.Build == nil || b.Build == nil {
		return ""
	}
	for _, key := range []string{"vcs.revision", "vcs.time", "-tags", "-gcflags", "-race"} {
		if x, y := a.Build.Settings[key], b.Build.Settings[key]; x != y && !(strings.HasPrefix(key, "vcs.") && (x == "" || y == "")) {
			return fmt.Sprintf("%s was built with %s=%s and %s with %[2]s=%[5]s", nameA, key, cmp.Or(x, "none"), nameB, cmp.Or(y, "none"))
		}
	}
	if x, y := a.Build.Go, b.Build.Go; x != "" && y != "" && x != y {
		return fmt.Sprintf("%s was built by %s and %s by %s", nameA, x, nameB, y)
	}
	return ""
}

// BuildDifference says why two runs are not of one program as it was built once, which they must be
// to be judged as one; "" where nothing says so.
func BuildDifference(a, b *model.Model, nameA, nameB string) string {
	return cmp.Or(Unrelated(a, b, nameA, nameB), Rebuilt(a, b, nameA, nameB))
}

// CommandLine returns that of a run, without the directory of its program: go run builds each
// time in another.
func CommandLine(m *model.Model) string {
	words := slices.Clone(m.Run.Command)
	if len(words) > 0 {
		words[0] = filepath.Base(words[0])
	}
	return shell.Words(words)
}

// Program returns a program's main package; "" when that is not known, as of one that was
// built from files.
func Program(m *model.Model) string {
	if m.Build == nil || m.Build.Path == "command-line-arguments" {
		return ""
	}
	return m.Build.Path
}

// leastStarts is from how many start functions of its own a program is known again.
const leastStarts = 2

// ownStarts returns the start functions that are not of the runtime, the standard library
// or main itself, which every program has.
func ownStarts(m *model.Model) (names []string) {
	if m.Sched == nil {
		return nil
	}
	for i := range m.Sched.Groups {
		g := &m.Sched.Groups[i]
		first, _, _ := strings.Cut(g.Name, "/")
		own := strings.HasPrefix(g.Name, "main.") && g.Name != "main.main" || first != g.Name && strings.Contains(first, ".")
		if own && !g.System {
			names = append(names, g.Name)
		}
	}
	return names
}

// summarize says in a sentence what changed most.
func (c *Comparison) summarize() {
	if len(c.Ledger) == 0 && len(c.Tables) == 0 && len(c.Findings) == 0 {
		c.Summary = c.benchmarkWords()
		return
	}
	var parts []string
	if text := c.failures(); text != "" {
		parts = append(parts, text)
	}
	if n := count(c.Findings, Gone); n > 0 {
		parts = append(parts, figures.Plural(n, "finding")+" gone")
	}
	if n := count(c.Findings, New); n > 0 {
		parts = append(parts, figures.Plural(n, "new finding"))
	}
	parts = append(parts, c.largest()...)
	if len(parts) == 0 {
		parts = append(parts, "nothing stands out")
	}
	of := "two single runs"
	if c.unlike {
		of = "different programs"
	}
	c.Summary = strings.Join(parts, ", ") + " (" + of + ": not a verdict)"
	if len(c.Benchmarks) > 0 {
		c.Summary += ". Benchmarks: " + c.benchmarkWords()
	}
}

func (r *Row) words(per Base) string {
	if r.State {
		return r.Name
	}
	return r.Name + " per " + string(per)
}

func count(fs []FindingChange, state string) (n int) {
	for _, f := range fs {
		if f.State == state && !f.Remark {
			n++
		}
	}
	return n
}

// changeText writes a ratio as a change, "−12.3%" or "×3.2", for a sentence.
func changeText(ratio float64) string {
	if math.Abs(ratio-1) < 0.0005 {
		return "unchanged"
	}
	return figures.Change(ratio)
}

// advise gives the command whose answer is a verdict.
func (c *Comparison) advise(a, b Reading) {
	if len(c.Ledger) == 0 && len(c.Tables) == 0 {
		return
	}
	if a.Command == "" || b.Command == "" || a.Command == b.Command { // two builds of one command line have no two
		c.Next = append(c.Next, Command{"gowhy verify --help", "interleaved repetitions of two commands or revisions, which give a verdict"})
		return
	}
	c.Next = append(c.Next, Command{"gowhy verify --a " + shell.Word(a.Command) + " --b " + shell.Word(b.Command),
		"interleaved repetitions, which give a verdict"})
}

// The tables that the first line knows, and that a saved diagnosis has a part of.
const (
	cpuTable       = "CPU by function"
	inUseTable     = "memory in use by function"
	allocatedTable = "allocated bytes by function"
	standingTable  = "goroutines by place"
	blockTable     = "blocked goroutine time by function"
	mutexTable     = "delays caused by holders of locks, by function"
)

// profiles adds the tables that both sides have evidence for.
func (c *Comparison) profiles(a, b *side) {
	add := func(t *Table) bool {
		if t != nil {
			c.Tables = append(c.Tables, *t)
		}
		return t != nil
	}
	if !add(profiles(a, b, cpuTable, fact.Seconds, 1e-9, "CPU profile", cpuProfile)) {
		add(profiles(a, b, cpuTable, fact.Seconds, 1e-9, "the kernel's samples", kernelProfile))
	}
	add(profiles(a, b, inUseTable, fact.Bytes, 1, "heap profile", inUse("inuse_space")))
	add(profiles(a, b, allocatedTable, fact.Bytes, 1, "allocs profile", heapProfile("alloc_space")))
	add(profiles(a, b, "allocated objects by function", fact.Count, 1, "allocs profile", heapProfile("alloc_objects")))
	add(standing(a, b))
	if add(blocking(a, b)) {
		return
	}
	for _, p := range []struct {
		name, source string
		of           func(*model.Model) *model.Profile
	}{
		{blockTable, "block profile", func(m *model.Model) *model.Profile { return m.Block }},
		{mutexTable, "mutex profile", func(m *model.Model) *model.Profile { return m.Mutex }},
	} {
		if t := profiles(a, b, p.name, fact.Seconds, 1e-9, p.source, contention(p.of)); t != nil {
			t.Note = blockedNote
			add(t)
		}
	}
}

// ledger puts the quantities of both sides into rows.
func (c *Comparison) ledger(a, b *side) {
	c.Per = PerSecond
	if a.rate > 0 && b.rate > 0 {
		c.Per = PerOperation
	}
	qa, qb := a.quantities(), b.quantities()
	at := map[string]int{}
	put := func(list []quantity, to func(r *Row) **float64) {
		for _, q := range list {
			i, ok := at[q.Name]
			if !ok {
				i = len(c.Ledger)
				at[q.Name] = i
				c.Ledger = append(c.Ledger, q.Row)
			}
			*to(&c.Ledger[i]) = statistics.Finite(q.value)
		}
	}
	put(qa, func(r *Row) **float64 { return &r.A })
	put(qb, func(r *Row) **float64 { return &r.B })
	slices.SortStableFunc(c.Ledger, func(x, y Row) int {
		return cmp.Compare(slices.Index(groups, x.Group), slices.Index(groups, y.Group))
	})
	c.absent(a, b)
}

// absent turns a missing figure into a zero where its side was measured and
// only had none: a part of the CPU time, a system call by name.
func (c *Comparison) absent(a, b *side) {
	zero := 0.0
	for i := range c.Ledger {
		r := &c.Ledger[i]
		if r.part == "" || !a.measured(r) || !b.measured(r) {
			continue
		}
		if r.A == nil {
			r.A = &zero
		}
		if r.B == nil {
			r.B = &zero
		}
	}
}

// measured reports whether the absence of a part from what a side measured means
// that there was none. Of the system calls only the most frequent have rows.
func (s *side) measured(r *Row) bool {
	if r.resource == model.CPUTime {
		return s.m.CPUAccount() != nil
	}
	if s.m.Syscalls == nil || !s.m.Syscalls.Exact() {
		return false
	}
	return !slices.ContainsFunc(s.m.Syscalls.Calls, func(c model.Syscall) bool { return c.Name == r.part }) ||
		slices.ContainsFunc(s.m.PerOperation(), func(p model.PerOperation) bool { return p.Resource == r.resource && p.Part == r.part })
}

// groups is the order of the ledger.
var groups = []string{"work", "latency", "CPU", "memory", "collector", "goroutines", "system"}

// A quantity is a row with the value of one side.
type quantity struct {
	Row
	value float64
}

// quantities lists what a side measured.
func (s *side) quantities() (list []quantity) {
	add := func(group, name string, metric diagnosis.Metric, unit fact.Unit, v float64) *Row {
		list = append(list, quantity{Row{Group: group, Name: name, Metric: metric, Unit: unit}, v})
		return &list[len(list)-1].Row
	}
	state := func(group, name string, metric diagnosis.Metric, unit fact.Unit, v float64) *Row {
		r := add(group, name, metric, unit, v)
		r.State = true
		return r
	}
	for _, p := range s.usage() {
		group, metric := placeOf(p)
		if s.rate == 0 {
			metric = "" // limits are of operations
		}
		r := add(group, p.Name(), metric, fact.Unit(p.Unit), p.Value)
		r.resource, r.part = p.Resource, p.Part
	}
	s.collector(add)
	s.work(state)
	s.printed(state)
	if a := s.m.MemoryAccount(); a != nil {
		if a.Live > 0 {
			state("memory", "live heap", diagnosis.LiveHeap, fact.Bytes, float64(a.Live))
		}
		if a.RSS > 0 {
			state("memory", "resident memory", diagnosis.PeakRSS, fact.Bytes, s.peak(a.RSS))
		}
	}
	s.states(state)
	return list
}

// usage returns what the program used, per operation or per second.
func (s *side) usage() []model.PerOperation {
	if s.rate > 0 && s.ops != nil {
		return s.m.PerOperation()
	}
	// Seconds are operations that finish at one a second.
	m := *s.m
	m.Load = &model.Load{Tool: "time", Ops: int64(m.Run.Duration/time.Second) + 1, Rate: 1}
	return m.PerOperation()
}

// placeOf says where a quantity is listed, and the metric that limits know it by.
func placeOf(p model.PerOperation) (group string, metric diagnosis.Metric) {
	place := map[model.Resource]struct {
		group  string
		metric diagnosis.Metric
	}{
		model.CPUTime:           {"CPU", diagnosis.CPUPerOp},
		model.AllocatedBytes:    {"memory", diagnosis.BytesOp},
		model.AllocatedObjects:  {"memory", diagnosis.AllocsOp},
		model.SystemCalls:       {"system", diagnosis.Syscalls},
		model.GoroutinesCreated: {"goroutines", diagnosis.Goroutines},
		model.PageFaults:        {"system", diagnosis.Faults},
	}
	at, ok := place[p.Resource]
	switch {
	case !ok:
		return "system", ""
	case p.Part != "":
		return at.group, ""
	}
	return at.group, at.metric
}

// adder adds a row to the quantities.
type adder func(group, name string, metric diagnosis.Metric, unit fact.Unit, v float64) *Row

// collector adds what the garbage collector did.
func (s *side) collector(add adder) {
	per := func(n float64, over time.Duration) float64 {
		v := n / over.Seconds()
		if s.rate > 0 {
			v /= s.rate
		}
		return v
	}
	metric := diagnosis.GCPerOp
	if s.rate == 0 {
		metric = ""
	}
	if g := s.m.GC; g != nil && s.m.Run.Duration > 0 {
		begun := 0
		for _, c := range g.Cycles {
			if c.Begin >= 0 {
				begun++
			}
		}
		_, stopped := g.PauseTime("")
		add("collector", "collections", metric, fact.Count, per(float64(begun), s.m.Run.Duration))
		add("collector", "world stopped", "", fact.Seconds, per(stopped.Seconds(), s.m.Run.Duration))
	} else if s.m.Metrics != nil {
		if r, ok := s.m.Metrics.Rate("/gc/cycles/total:gc-cycles"); ok {
			add("collector", "collections", metric, fact.Count, per(r, time.Second))
		}
	}
}

// work adds what was achieved, and how long it took.
func (s *side) work(state adder) {
	l := s.m.Load
	if s.rate > 0 {
		state("work", "operations a second", diagnosis.OpsPerSec, fact.PerSec, s.rate).More = true
	} else if l != nil && l.Rate > 0 {
		state("work", "operations a second", diagnosis.OpsPerSec, fact.PerSec, l.Rate).More = true
	}
	if l == nil || len(l.Benchmarks) > 0 {
		return
	}
	if l.Ops > 0 {
		state("work", failedShare, "", fact.Ratio, float64(l.Failed)/float64(l.Ops))
	}
	if l.Mean > 0 {
		state("latency", "mean", "", fact.Seconds, l.Mean.Seconds())
	}
	for _, q := range l.Latency {
		switch q.Q {
		case 0.5:
			state("latency", "p50", diagnosis.P50, fact.Seconds, q.Value.Seconds())
		case 0.9, 0.95:
			state("latency", fmt.Sprintf("p%.0f", 100*q.Q), "", fact.Seconds, q.Value.Seconds())
		case 0.99:
			state("latency", "p99", diagnosis.P99, fact.Seconds, q.Value.Seconds())
		case 1:
			state("latency", "longest", "", fact.Seconds, q.Value.Seconds())
		}
	}
}

// failedShare is the row of operations that failed.
const failedShare = "share of failures"

// peak returns the largest resident memory seen.
func (s *side) peak(last uint64) float64 {
	peak := last
	if s.m.Process != nil {
		for _, p := range s.m.Process.Samples {
			peak = max(peak, p.RSS)
		}
	}
	return float64(peak)
}

// sizesCounted is the minor version of Go from which profiles and metrics count the
// sizes of allocations otherwise than before.
const sizesCounted = 27

// minors returns two versions of Go, the older first.
func minors(x, y string) (older, newer int, known bool) {
	a, ok := model.GoMinor(x)
	b, also := model.GoMinor(y)
	return min(a, b), max(a, b), ok && also
}
