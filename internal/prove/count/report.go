package count

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/coverage"
)

// A Report is how often the hot code of a program ran. Lists by run are in the order of Runs.
type Report struct {
	Command []string    `json:"command"`
	Knob    string      `json:"knob,omitempty"`
	Runs    []Execution `json:"runs"`
	Base    int         `json:"base"` // the run with the largest size, of which costs are
	// CPU is the sampled CPU time of a run that did not count, in nanoseconds; 0 without a
	// profile.
	CPU       float64    `json:"cpu_ns"`
	Functions []Function `json:"functions"` // most CPU of their own first
	Partial   bool       `json:"partial"`   // a signal ended the program
	Notes     []string   `json:"notes"`
	Again     string     `json:"-"` // how to see whether counts grow faster than the input; empty when that is known
}

// An Execution is one of the copy that counts.
type Execution struct {
	Setting string        `json:"setting,omitempty"`
	Size    float64       `json:"size,omitempty"`
	CPU     time.Duration `json:"cpu_ns"` // with what counting costs
	Elapsed time.Duration `json:"elapsed_ns"`
	Wraps   bool          `json:"may_wrap,omitempty"`
}

// A Function is one that is hot.
type Function struct {
	Name     string     `json:"function"`
	File     string     `json:"file"`
	Line     int        `json:"line"`
	Self     float64    `json:"self"` // shares: of CPU with what calls nothing that was counted
	Cum      float64    `json:"cumulative"`
	CumBytes float64    `json:"bytes"`
	Calls    []uint64   `json:"calls"`
	Growth   *Growth    `json:"growth"` // of calls
	Caller   *Place     `json:"caller"` // the line that most of its cost comes through
	Within   *InnerLoop `json:"within"` // the outermost loop that it is called in
	Pieces   []Piece    `json:"pieces"` // what is in no loop first, then its loops
	// Repeats is null where the function has nothing to compare, or is not of the main module.
	Repeats *Repeats `json:"repeats"`
}

// A Place is a line of source.
type Place struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// An InnerLoop is a loop in which a function is called many times a round.
type InnerLoop struct {
	Place
	Rounds uint64  `json:"rounds"`
	Each   float64 `json:"each"` // calls in one of them
}

// A Piece is a loop of a function, or what of it is in none.
type Piece struct {
	Line     int        `json:"line"`
	Last     int        `json:"last"`
	Depth    int        `json:"depth"` // 0 in no loop, 1 an outermost loop
	Outer    int        `json:"outer"` // the piece around it, -1 without
	Entries  []uint64   `json:"entries"`
	Rounds   []uint64   `json:"rounds"`
	Early    []uint64   `json:"early"`   // left before its end
	Leaves   int        `json:"leaves"`  // statements that leave it before its end
	Bounded  bool       `json:"bounded"` // it has an end of its own
	Self     float64    `json:"self"`    // share of the CPU, without loops in it
	Cum      float64    `json:"cumulative"`
	PerRound *float64   `json:"round_ns"` // CPU of its own; null when not known
	Bytes    float64    `json:"bytes"`    // share
	Lines    []LineCost `json:"lines"`
	Growth   *Growth    `json:"growth"` // of rounds
	// Squares is set where it makes half as many rounds as a loop around it, as if each of
	// these walked through what earlier ones left.
	Squares bool `json:"squares"`
}

// A LineCost is a line with CPU of its own.
type LineCost struct {
	Line int      `json:"line"`
	Runs uint64   `json:"runs"`
	Self float64  `json:"self"`
	Each *float64 `json:"each_ns"`
}

// A Growth is how a count grows with the size.
type Growth struct {
	Exponent float64  `json:"exponent"`
	Low      *float64 `json:"low"` // of its 95% interval; null for two sizes
	High     *float64 `json:"high"`
	R2       float64  `json:"r2"`
	// Faster is set where it grows clearly faster than the size.
	Faster bool `json:"faster"`
}

// most returns the largest count of a function's pieces in the last run.
func (f *Function) most() (n uint64) {
	for _, p := range f.Pieces {
		n = max(n, p.Rounds[len(p.Rounds)-1])
	}
	return n
}

// sampled fills in what samples tell of hot functions, where nothing was counted.
func (r *Report) sampled(m *model.Model) {
	p := m.BelievedCPU()
	if p == nil {
		return
	}
	_, nanos := p.Columns()
	at := map[string]int{}
	for i := range p.Samples {
		v, seen := float64(p.Samples[i].Value(nanos)), map[string]bool{}
		r.CPU += v
		for n, f := range m.Stacks.Frames(p.Samples[i].Stack) {
			k, ok := at[f.Func]
			if !ok {
				k = len(r.Functions)
				at[f.Func] = k
				r.Functions = append(r.Functions, Function{Name: f.Func, File: f.File})
			}
			if n == 0 {
				r.Functions[k].Self += v
			}
			if !seen[f.Func] {
				seen[f.Func] = true
				r.Functions[k].Cum += v
			}
		}
	}
	for i := range r.Functions {
		f := &r.Functions[i]
		f.Self, f.Cum = share(f.Self, r.CPU), share(f.Cum, r.CPU)
	}
	r.Functions = slices.DeleteFunc(r.Functions, func(f Function) bool { return f.Self < hotSelf && f.Cum < hotCum })
	slices.SortStableFunc(r.Functions, func(a, b Function) int { return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Cum, a.Cum)) })
}

// share returns a part of all, 0 of nothing.
func share(part, all float64) float64 { return statistics.Quotient(part, all) }

// function tells of one function; costs may be nil.
func (j *join) function(k counted, cpu, bytes *cost, callers []enclosingLoop, r *Report, allBytes float64) Function {
	runs := j.files[k.file]
	fn := runs[r.Base][k.n]
	f := Function{Name: path.Base(path.Dir(k.file)) + "." + fn.Name, File: path.Base(k.file), Line: fn.Line}
	if c := cmp.Or(cpu, bytes); c != nil {
		f.Name, f.File, f.Caller = c.name, c.file, c.caller()
	}
	if cpu == nil {
		cpu = &cost{}
	}
	if bytes == nil {
		bytes = &cost{}
	}
	f.Self, f.Cum, f.CumBytes = share(cpu.self, r.CPU), share(cpu.cum, r.CPU), share(bytes.cum, allBytes)
	each := func(of func(*coverage.Function) uint64) (list []uint64) {
		for _, run := range runs {
			list = append(list, of(run[k.n]))
		}
		return list
	}
	f.Calls = each(func(fn *coverage.Function) uint64 { return fn.Calls })
	f.Growth = growth(r, f.Calls)
	f.Within = within(callers, f.Calls[r.Base])
	body := Piece{Line: fn.Line, Last: fn.Last, Outer: -1, Entries: f.Calls, Rounds: f.Calls, Growth: f.Growth}
	f.Pieces = append(f.Pieces, body)
	for i, l := range fn.Loops {
		p := Piece{Line: l.Line, Last: l.Last, Outer: l.Outer + 1, Leaves: l.Leaves, Bounded: l.Bounded}
		p.Depth = f.Pieces[p.Outer].Depth + 1
		p.Entries = each(func(fn *coverage.Function) uint64 { return fn.Loops[i].Entries })
		p.Rounds = each(func(fn *coverage.Function) uint64 { return fn.Loops[i].Rounds })
		p.Early = each(func(fn *coverage.Function) uint64 { return fn.Loops[i].Early })
		p.Growth = growth(r, p.Rounds)
		outer := callers
		if l.Outer >= 0 {
			outer = []enclosingLoop{{Loop: &fn.Loops[l.Outer]}}
		}
		p.Squares = squares(&l, outer)
		f.Pieces = append(f.Pieces, p)
	}
	for i := range f.Pieces {
		p := &f.Pieces[i]
		p.Self, p.Cum, p.Bytes = share(cpu.loops[i], r.CPU), share(cpu.below[i], r.CPU), share(bytes.loops[i], allBytes)
		if i == 0 || !fn.Loops[i-1].Prepared {
			p.PerRound = per(cpu.loops[i], p.Rounds[r.Base], r)
		}
		for _, line := range slices.Sorted(maps.Keys(cpu.lines)) {
			if fn.Loop(line) == i-1 {
				n := fn.Runs(line)
				p.Lines = append(p.Lines, LineCost{line, n, share(cpu.lines[line], r.CPU), per(cpu.lines[line], n, r)})
			}
		}
	}
	return f
}

// caller returns the line that most of a function's cost comes through; nil when nothing tells.
func (c *cost) caller() *Place {
	var best model.Frame
	for f, v := range c.callers {
		if old := c.callers[best]; v > old || v == old && (f.Func < best.Func || f.Func == best.Func && f.Line < best.Line) {
			best = f
		}
	}
	if best.Func == "" {
		return nil
	}
	return &Place{best.Func, best.File, best.Line}
}

// per is CPU time for each of a number, in nanoseconds; nil where the run that was sampled
// did other work than the one that counted, or nothing was sampled.
func per(nanos float64, n uint64, r *Report) *float64 {
	if r.Partial || nanos == 0 || n == 0 {
		return nil
	}
	v := nanos / float64(n)
	return &v
}

// Limits of [squares]: where each round of a loop walks through all before it, that makes
// half as many rounds as the loop has. As many as the loop has may be a table with two sides,
// and fewer than a hundred are half of anything.
const (
	squareRounds            = 100
	squareLeast, squareMost = 0.45, 0.55
)

// squares reports whether an entry of a loop makes half as many rounds as a loop around it, in
// its function or in one that calls it.
func squares(l *coverage.Loop, outer []enclosingLoop) bool {
	return l.Bounded && slices.ContainsFunc(outer, func(o enclosingLoop) bool {
		each := ratio(o.Rounds, o.Entries)
		part := statistics.Quotient(ratio(l.Rounds, l.Entries), each)
		return each >= squareRounds && squareLeast <= part && part <= squareMost
	})
}

// manyCalls is how many calls in a round of a loop are worth a word.
const manyCalls = 8

// within returns the outermost loop in whose rounds a function is called many times; nil without.
func within(callers []enclosingLoop, calls uint64) *InnerLoop {
	for _, o := range slices.Backward(callers) {
		if each := ratio(calls, o.Rounds); o.Rounds > 1 && each >= manyCalls {
			return &InnerLoop{o.at, o.Rounds, each}
		}
	}
	return nil
}

func ratio(a, b uint64) float64 { return statistics.Quotient(float64(a), float64(b)) }

const (
	// beyond is by how much an exponent has to exceed what n·log n has between the sizes, so
	// that neither sorting nor a balanced tree is called growth: half of what parts n·log n
	// from the square between 1,000 and 4,000.
	beyond = 0.4
	// straight is how far counts may be off a straight line, which has a part that is the same
	// for all sizes, before a power describes them better: counts are exact, so that what is
	// proportional but for such a part is on the line.
	straight = 0.02
)

// growth says how counts grow with the sizes of runs; nil where nothing does.
func growth(r *Report, counts []uint64) *Growth {
	var x, y []float64
	for i, run := range r.Runs {
		if run.Size > 0 {
			x, y = append(x, run.Size), append(y, float64(counts[i]))
		}
	}
	p, ok := statistics.FitPower(x, y)
	if !ok {
		return nil
	}
	g := &Growth{p.Exponent.Value, statistics.Finite(p.Exponent.Low), statistics.Finite(p.Exponent.High), p.R2, false}
	limit := sorting(slices.Min(x), slices.Max(x)) + beyond
	least := g.Exponent
	if g.Low != nil {
		least = *g.Low
	}
	g.Faster = least > limit && (len(x) == 2 || offLine(x, y) > straight)
	return g
}

// sorting returns the exponent that n·log n seems to have between two sizes; of small ones that
// of n·(1 + log₂ n), which is a comparison more for each.
func sorting(low, high float64) float64 {
	of := func(n float64) float64 { return n * (1 + math.Log2(max(n, 1))) }
	return math.Log(of(high)/of(low)) / math.Log(high/low)
}

// offLine returns by which part of itself a count is off the straight line through all, at most.
func offLine(x, y []float64) (most float64) {
	n := float64(len(x))
	mx, my := statistics.Sum(x)/n, statistics.Sum(y)/n
	var sxx, sxy float64
	for i := range x {
		sxx, sxy = sxx+(x[i]-mx)*(x[i]-mx), sxy+(x[i]-mx)*(y[i]-my)
	}
	for i := range x {
		most = max(most, math.Abs(y[i]-my-sxy/sxx*(x[i]-mx))/y[i])
	}
	return most
}
