package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// An extent says how the program of a case runs for longer than a recording needs.
// What truth.yaml gives a time needs none: it runs until it is interrupted.
type extent struct {
	endless []string // arguments with which it does not end by itself
	time    string   // a flag that takes how long
	count   string   // a flag whose number is multiplied
	most    float64  // of that number; 0 is any
}

// extents are by case. A case that is not here, and has no time, is left out.
var extents = map[string]extent{
	"consumer":   {count: "-messages"},
	"controls":   {time: "-for"},
	"filepool":   {count: "-tasks", most: 8e6}, // all are in a channel before the first is done: 64 MB
	"habits":     {time: "-time"},
	"ruleengine": {count: "-messages", most: 4e6}, // the broker keeps all of them, about 1 GB
	"top":        {endless: []string{"-refreshes", "0"}},
}

// unwatchable are the rules whose evidence a running program does not have.
var unwatchable = map[string]string{
	"boxedargs":   "it reads what the compiler says of the source (`-gcflags=-m`)",
	"overload":    "it reads the result of a load test",
	"superlinear": "it reads the results of several load tests",
}

// A watching is a program that is to be watched.
type watching struct {
	task
	ill     *truth.Illness // nil of a well one
	allowed []string       // rules that may speak of a well one
	trace   bool
}

// A leftOut is what is not watched.
type leftOut struct{ what, why string }

// watchings returns the programs to watch: each illness without a trace and with one, and each
// healed and healthy run once. Healthy runs that are the same as another are not in it.
func watchings(cases []*truth.Case) (sick, well []watching, out []leftOut) {
	for _, c := range cases {
		for _, t := range ofCase(c, 1, false) {
			w := watching{task: t}
			if t.kind != Healthy {
				w.ill = c.Illness(t.name)
			}
			if why := w.unfit(); why != "" {
				a := t.answer()
				out = append(out, leftOut{key(&a), why})
				continue
			}
			if t.kind == Sick {
				traced := w
				traced.trace = true
				sick = append(sick, w, traced)
				continue
			}
			if w.ill != nil {
				w.allowed, w.ill = w.ill.Left, nil
			} else {
				w.allowed = c.Run(t.name).Expect
			}
			if i := slices.IndexFunc(well, w.same); i >= 0 {
				a, b := t.answer(), well[i].answer()
				out = append(out, leftOut{key(&a), "it is the same run as " + key(&b)})
				continue
			}
			well = append(well, w)
		}
	}
	return sick, well, out
}

// unfit says why a program cannot be watched; "" when it can.
func (w *watching) unfit() string {
	if _, known := extents[w.c.Name]; !known && w.c.Time == 0 {
		return "nothing says how it runs for longer than a recording"
	}
	if w.kind == Sick {
		if why := unwatchable[w.ill.Rule]; why != "" {
			return "`" + w.ill.Rule + "` cannot be said of a running program: " + why
		}
	}
	return ""
}

// same tells whether two well runs differ in their names only.
func (w *watching) same(v watching) bool {
	return w.c == v.c && slices.Equal(w.args, v.args) && slices.Equal(w.load, v.load) && slices.Equal(w.beside, v.beside) && slices.Equal(w.allowed, v.allowed)
}

// withTrace returns the same programs, watched with traces.
func withTrace(list []watching) (traced []watching) {
	for _, w := range list {
		w.trace = true
		traced = append(traced, w)
	}
	return traced
}

// key tells watchings and their answers apart.
func (w *watching) key() string {
	a := w.answer()
	return liveKey(key(&a), w.trace)
}

func liveKey(key string, trace bool) string {
	if trace {
		return key + "+trace"
	}
	return key
}

// sample keeps n programs at random, with and without a trace; 0 keeps all.
func sample(list []watching, n int, seed uint64) []watching {
	if n == 0 {
		return list
	}
	var names []string
	for _, w := range list {
		if a := w.answer(); !slices.Contains(names, key(&a)) {
			names = append(names, key(&a))
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:min(n, len(names))]
	return slices.DeleteFunc(slices.Clone(list), func(w watching) bool {
		a := w.answer()
		return !slices.Contains(names, key(&a))
	})
}

// spare is by how much more is counted than a run of that length would need: setting up
// was in what the run took, and the machine may be faster the next time.
const spare = 1.5

// lasting are arguments with which a program runs for a time. One that counts took so
// long with its own arguments; zero says that this is to be found out.
func (w *watching) lasting(d, took time.Duration) (args []string, why string, err error) {
	e := extents[w.c.Name]
	args = slices.Concat(w.args, e.endless)
	if e.time != "" {
		args = append(args, e.time, d.String())
	}
	if e.count == "" {
		return args, "", nil
	}
	n, err := number(args, e.count)
	if err != nil || took <= 0 {
		return nil, "", err
	}
	want := math.Ceil(n * spare * max(1, d.Seconds()/took.Seconds()))
	if e.most > 0 && want > e.most {
		return nil, fmt.Sprintf("for %v it would need %s %.0f; it bears %.0f", d.Round(time.Second), e.count, want, e.most), nil
	}
	return append(args, e.count, strconv.FormatFloat(want, 'f', 0, 64)), "", nil
}

// counts reports whether how long it runs depends on a number.
func (w *watching) counts() bool { return extents[w.c.Name].count != "" }

// number returns the value of a flag; of several the last, as the program has it.
func number(args []string, flag string) (float64, error) {
	for i := len(args) - 1; i >= 0; i-- {
		name, value, joined := strings.Cut(args[i], "=")
		if name != flag {
			continue
		}
		if !joined {
			if i+1 == len(args) {
				break
			}
			value = args[i+1]
		}
		return strconv.ParseFloat(value, 64)
	}
	return 0, fmt.Errorf("%s is not among %q: it cannot be multiplied", flag, args)
}

// Programs are watched at the same time when what they use leaves the machine idle:
// each of them little, and all of them less than a quarter of two CPUs.
const (
	littleCores = 0.15
	groupCores  = 0.4
	groupSize   = 4
)

// dealt puts programs into groups of n whatever they use, and those that use most not
// into the same one.
func dealt(list []watching, cores func(watching) float64, n int) [][]watching {
	groups := make([][]watching, (len(list)+n-1)/n)
	for i, w := range slices.SortedStableFunc(slices.Values(list), func(a, b watching) int { return cmp.Compare(cores(b), cores(a)) }) {
		groups[i%len(groups)] = append(groups[i%len(groups)], w)
	}
	return groups
}

// light reports whether a program may be watched beside others.
func (w *watching) light(cores float64) bool {
	return len(w.load) == 0 && len(w.beside) == 0 && cores < littleCores
}

// groupWatches puts programs into groups that are watched at the same time, the largest
// groups first: a run that is interrupted has watched most of them.
func groupWatches(list []watching, cores func(watching) float64) (groups [][]watching) {
	type room struct {
		at  int
		sum float64
	}
	var open []*room
	byUse := slices.SortedStableFunc(slices.Values(list), func(a, b watching) int { return cmp.Compare(cores(b), cores(a)) })
	for _, w := range byUse {
		c := cores(w)
		if !w.light(c) {
			groups = append(groups, []watching{w})
			continue
		}
		i := slices.IndexFunc(open, func(r *room) bool { return len(groups[r.at]) < groupSize && r.sum+c <= groupCores })
		if i < 0 {
			open, i = append(open, &room{at: len(groups)}), len(open)
			groups = append(groups, nil)
		}
		groups[open[i].at] = append(groups[open[i].at], w)
		open[i].sum += c
	}
	slices.SortStableFunc(groups, func(a, b []watching) int { return cmp.Compare(len(b), len(a)) })
	return groups
}
