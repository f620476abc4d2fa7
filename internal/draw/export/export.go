// Package export turns a model into files that other tools open: pprof
// profiles, folded stacks for flame graphs, CSV tables, and time lines for
// speedscope, Chrome and Perfetto.
//
// It hides the formats: their tables, their units, what they cannot say, and
// how names that a recording brought along are made harmless. Its types are
// [Format] (one of [All]) and [Options] (what of the model goes in). Output
// depends on the model alone: the same model gives the same bytes.
//
// export never reads a trace, never chooses a file name, and judges nothing.
package export

import (
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Format is one kind of file.
type Format struct {
	Name  string // on the command line
	Doc   string // one line: what it is and what opens it
	Ext   string // that those who open it know it by, with its dot
	Holds Holds
	// Runs is set when it draws [Options.Slices].
	Runs bool
	// Write writes all of the file. Its errors are those of w and [*problem.Error].
	Write func(w io.Writer, m *model.Model, o Options) error
}

// Holds is how much of a model one file of a format can hold.
type Holds int

// What a file holds.
const (
	OneProfile   Holds = iota // that of Options.Profile
	ManyProfiles              // that of Options.Profile, or all of them
	OneTable                  // that of Options.Table
	TimeLine                  // all that has a time
)

// All are the formats, in the order in which help lists them.
var All = []Format{
	{Name: "pprof", Doc: "a profile for `go tool pprof`", Ext: ".pb.gz", Holds: OneProfile, Write: Pprof},
	{Name: "folded", Doc: "folded stacks, one line each, for flame graph tools", Ext: ".folded", Holds: OneProfile, Write: Folded},
	{Name: "speedscope", Doc: "profiles and Ps over time, for www.speedscope.app", Ext: ".speedscope.json", Holds: ManyProfiles, Runs: true, Write: Speedscope},
	{Name: "csv", Doc: "one table for a spreadsheet or a script", Ext: ".csv", Holds: OneTable, Write: CSV},
	{Name: "perfetto", Doc: "a time line for ui.perfetto.dev and its trace processor", Ext: ".pftrace", Holds: TimeLine, Runs: true, Write: Perfetto},
	{Name: "chrome", Doc: "the same as JSON, for chrome://tracing and others", Ext: ".trace.json", Holds: TimeLine, Runs: true, Write: Chrome},
}

// Options say what of the model goes into a file.
type Options struct {
	// Profile chooses what Pprof and Folded hold; empty means [States], and all
	// that there are for Speedscope. CSV without a Table follows it too.
	Profile Profile
	// Table chooses the table of CSV, one of [Tables]; empty follows Profile.
	Table string
	// Group keeps goroutines with this start function only; empty keeps all.
	// What belongs to no goroutine group (Ps, collections, heap, tasks) is
	// left out of a filtered CSV with a [*problem.Error], and kept in a time
	// line as the background of the group's slices.
	Group string
	// Slices are single runs for time lines, those of one P and those of one
	// goroutine off it each in order of time. The model has none, for it does not grow with
	// the length of the trace; the caller gets them from the trace itself.
	Slices iter.Seq[Slice]
}

// A Profile is one of the profiles that a model holds.
type Profile string

// The profiles. The first four are those of `go tool trace -pprof`.
const (
	Net     Profile = "net"     // waiting for the network
	Sync    Profile = "sync"    // waiting for other goroutines
	Syscall Profile = "syscall" // in system calls
	Sched   Profile = "sched"   // ready, waiting for a P; stacks of whoever made it ready
	CPU     Profile = "cpu"     // CPU samples
	States  Profile = "states"  // all goroutine time, by group and state

	Kernel    Profile = "kernel"    // CPU samples by the kernel, its own frames included
	OffCPU    Profile = "offcpu"    // where threads lost the CPU
	Wall      Profile = "wall"      // time of goroutines, by a wall-clock profile
	Block     Profile = "block"     // delays that ended, by the runtime's block profile
	Mutex     Profile = "mutex"     // delays caused, by the runtime's mutex profile
	Allocs    Profile = "allocs"    // allocations
	Heap      Profile = "heap"      // what was in use at the end
	Goroutine Profile = "goroutine" // goroutines at the end
	Held      Profile = "held"      // what is alive, by who holds it; stacks are ways that lead there
)

// Profiles are all profiles, in the order in which help lists them.
var Profiles = []Profile{Net, Sync, Syscall, Sched, CPU, States, Kernel, OffCPU, Wall, Block, Mutex, Allocs, Heap, Goroutine, Held}

// A recordedProfile is one that the model holds as it was recorded.
type recordedProfile struct {
	profile Profile
	source  model.Source
	missing string
}

var recordedProfiles = []recordedProfile{
	{CPU, model.CPU, "no CPU samples were recorded"},
	{Kernel, model.KernelCPU, "the kernel's samples were not recorded"},
	{OffCPU, model.OffCPU, "context switches were not recorded"},
	{Wall, model.Wall, "no wall-clock profile was recorded"},
	{Block, model.Block, "no block profile was recorded"},
	{Mutex, model.Mutex, "no mutex profile was recorded"},
	{Allocs, model.Heap, "no allocations were recorded"},
	{Heap, model.LiveHeap, "no heap profile was recorded"},
	{Goroutine, model.GoroutineProfile, "no goroutine profile was recorded"},
}

func takenProfile(p Profile) *recordedProfile {
	for i := range recordedProfiles {
		if recordedProfiles[i].profile == p {
			return &recordedProfiles[i]
		}
	}
	return nil
}

// ProfilesOf returns the profiles that a model holds, in the order of [Profiles].
func ProfilesOf(m *model.Model) (list []Profile) {
	for _, p := range Profiles {
		t := takenProfile(p)
		if t != nil && m.Profile(t.source) != nil || t == nil && p != Held && m.Sched != nil || p == Held && heldTree(m) != nil {
			list = append(list, p)
		}
	}
	return list
}

// Whole reports whether a profile covers all of the run even where the model
// is of a piece of it: sums without times cannot be cut.
func Whole(m *model.Model, p Profile) bool {
	t := takenProfile(p)
	return t != nil && m.Profile(t.source) != nil && !m.Profile(t.source).FromTrace
}

// A Slice is one uninterrupted stretch of a goroutine.
type Slice struct {
	Proc       int // P that it ran on; negative for a stretch off any P
	Goroutine  int64
	Group      string        // start function
	Name       string        // what is drawn; Group when empty
	Begin, End time.Duration // since the window's start
	Stack      model.Stack   // where it stopped, when known
}

// missing returns the error that the model lacks what was asked for, with the evidence
// that would bring it; empty when none would.
func missing(m *model.Model, needs model.Source, what, why string) error {
	hint := ""
	if needs != "" {
		hint = diagnosis.HowToGet(&m.Run, needs)
	}
	return problem.New(problem.Absence, hint, "%s: %s", what, why)
}

// unknown returns the error that a name is none of those that there are: of groups, the
// largest.
func unknown(what, name string, known []string) error {
	return problem.Unknown(what, name, known, "no %s %q (there are: %s)", what, name, strings.Join(known, ", "))
}

// checkGroup refuses a group that the model does not have, for an empty file
// would look like a group that did nothing.
func (o Options) checkGroup(m *model.Model) error {
	if o.Group == "" {
		return nil
	}
	if m.Sched == nil {
		return missing(m, model.Trace, "group "+plain(o.Group), "goroutine groups come from an execution trace")
	}
	if m.Sched.Group(o.Group) != nil {
		return nil
	}
	var known []string
	for _, g := range m.Sched.Groups[:min(8, len(m.Sched.Groups))] {
		known = append(known, plain(g.Name))
	}
	return unknown("group", o.Group, known)
}

func (o Options) keeps(group string) bool { return o.Group == "" || o.Group == group }

// A sample is one line of a profile: a stack, leaf first, with its values.
type sample struct {
	frames []model.Frame
	values []int64
	group  string
	reason string // why it waited
	labels map[string]string
}

// A table of samples is what Pprof and Folded write in their own ways.
type samples struct {
	types       []model.ValueType
	defaultType int // the type that a reader wants to see first
	list        []sample
	recordedAs  *model.Profile // that it was recorded as; nil for what a trace tells
}

// collect gets the samples of the profile that the options choose.
func collect(m *model.Model, o Options) (samples, error) {
	if err := o.checkGroup(m); err != nil {
		return samples{}, err
	}
	what := string(o.Profile) + " profile"
	if t := takenProfile(o.Profile); t != nil {
		p := m.Profile(t.source)
		if p == nil {
			return samples{}, missing(m, t.source, what, t.missing)
		}
		return takenSamples(m, o, p)
	}
	switch o.Profile {
	case Held:
		tree := heldTree(m)
		if tree == nil {
			return samples{}, missing(m, model.Holders, what, "nobody looked at who holds the heap")
		}
		if o.Group != "" {
			return samples{}, missing(m, "", what+" of one group", "what is held belongs to no goroutine group")
		}
		return heldSamples(tree), nil
	case Net, Sync, Syscall, Sched, States, "":
		if m.Sched == nil {
			return samples{}, missing(m, model.Trace, what, "no execution trace was recorded")
		}
		if o.Profile == States || o.Profile == "" {
			return stateSamples(m, o), nil
		}
		return waitSamples(m, o), nil
	}
	known := make([]string, len(Profiles))
	for i, p := range Profiles {
		known[i] = string(p)
	}
	return samples{}, unknown("profile", string(o.Profile), known)
}

// heldTree returns that of the last look at who holds the heap, nil without one.
func heldTree(m *model.Model) []model.HeldNode {
	if n := len(m.Run.Holders); n > 0 {
		return m.Run.Holders[n-1].Tree
	}
	return nil
}

// heldSamples are objects under the ways that lead to them, holders first.
func heldSamples(tree []model.HeldNode) samples {
	s := samples{types: []model.ValueType{{Name: "inuse_objects", Unit: "count"}, {Name: "inuse_space", Unit: "bytes"}}, defaultType: 1}
	names := model.HeldNames(tree)
	for i, n := range tree {
		if n.Objects == 0 {
			continue
		}
		way := sample{values: []int64{int64(n.Objects), int64(n.Bytes)}}
		for at := i; at >= 0; at = tree[at].Parent {
			way.frames = append(way.frames, model.Frame{Func: names[at]})
		}
		s.list = append(s.list, way)
	}
	return s
}

func waitSamples(m *model.Model, o Options) samples {
	s := samples{types: []model.ValueType{{Name: "contentions", Unit: "count"}, {Name: "delay", Unit: "nanoseconds"}}, defaultType: 1}
	for w := range m.Sched.WaitsBy(model.WaitFilter{Kind: model.WaitKind(o.Profile)}) {
		if o.keeps(w.Group) {
			s.list = append(s.list, sample{
				frames: m.Stacks.Frames(w.Stack), values: []int64{w.Count, int64(w.Total)}, group: w.Group, reason: w.Reason,
			})
		}
	}
	return s
}

func takenSamples(m *model.Model, o Options, p *model.Profile) (samples, error) {
	s := samples{types: p.Types, defaultType: len(p.Types) - 1, recordedAs: p}
	if o.Profile == Allocs { // of the same four types as a heap profile
		if i := slices.IndexFunc(p.Types, func(t model.ValueType) bool { return t.Name == "alloc_space" }); i >= 0 {
			s.defaultType = i
		}
	}
	grouped := false
	for _, c := range p.Samples {
		grouped = grouped || c.Group != ""
		if o.keeps(c.Group) {
			s.list = append(s.list, sample{frames: m.Stacks.Frames(c.Stack), values: c.Values, group: c.Group, labels: c.Labels})
		}
	}
	if o.Group != "" && !grouped {
		return s, missing(m, "", string(o.Profile)+" profile of one group", "its samples do not say which goroutine they belong to")
	}
	return s, nil
}

// stateSamples are goroutine time with the state as the leaf. What the blocking
// profiles know no stack of hangs under the start function.
func stateSamples(m *model.Model, o Options) samples {
	s := samples{types: []model.ValueType{{Name: "time", Unit: "nanoseconds"}}}
	for t := range m.Sched.StateTimes() {
		if !o.keeps(t.Group.Name) {
			continue
		}
		frames := m.Stacks.Frames(t.Stack)
		if t.Stack == 0 {
			frames = []model.Frame{startFrame(t.Group)}
		}
		leaf := append([]model.Frame{{Func: "[" + t.State + "]"}}, frames...)
		s.list = append(s.list, sample{frames: leaf, values: []int64{int64(t.Total)}, group: t.Group.Name})
	}
	return s
}

func startFrame(g *model.Group) model.Frame {
	f := model.Frame{Func: g.Name, File: g.Start.File, Line: g.Start.Line}
	if g.Name == "" {
		f.Func = noName
	}
	return f
}

const (
	noName  = "(no start function known)"
	noStack = "(no stack)"
)

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// plain shows control and other unprintable characters as escapes: a name
// comes from the recording, and a text file is likely to be seen in a terminal.
func plain(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) < 0 {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
