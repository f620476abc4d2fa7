package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Advice about Go grows old: what was a problem under one version is harmless
// under the next, and a setting can bring it back. This file is the one place
// that knows which version changed what; rules ask it and know no version
// themselves. Each fact was read in the release notes it names, and its
// settings were looked for in the runtime's source of the versions around it.

// A goFact is one change of Go that a rule's judgement turns on.
type goFact struct {
	since int    // the minor version that brought it, 23 of Go 1.23
	what  string // what that version changed, as the end of a sentence
	notes string // the section of that version's release notes (go.dev/doc/go1.N)
	undo  undo
	// gain is what the change brings a program that does nothing for it.
	gain goGain
}

// An undo is a setting that turns a change back.
type undo struct {
	variable   string // GODEBUG, of the run, or GOEXPERIMENT, of the build; "" when there is none
	key, value string // of GODEBUG; of GOEXPERIMENT only the key
	until      int    // the first version that does not know the setting any more; 0 while all do
}

// A goGain is the largest part of a piece of the CPU time that a change is said
// to save, by its release notes; a piece of all where no part is named.
type goGain struct {
	part model.CPUPart
	most float64
}

// The facts, in the order of versions.
var (
	asyncPreemption = &goFact{since: 14, what: "loops without calls can be preempted", notes: "Runtime",
		undo: undo{variable: "GODEBUG", key: "asyncpreemptoff", value: "1"}}
	registerCalls = &goFact{since: 17, what: "functions pass their arguments in registers", notes: "Compiler",
		gain: goGain{most: 0.05}}
	softMemoryLimit = &goFact{since: 19, what: "GOMEMLIMIT keeps the heap below a limit, so that a ballast is not needed", notes: "Runtime"}
	adaptiveStacks  = &goFact{since: 19, what: "goroutines begin with a stack of the usual size", notes: "Runtime",
		undo: undo{variable: "GODEBUG", key: "adaptivestackstart", value: "0"}}
	unlockedRand = &goFact{since: 20, what: "math/rand's functions take no lock unless something seeds them", notes: "Minor changes to the library: math/rand",
		undo: undo{variable: "GODEBUG", key: "randautoseed", value: "0"}}
	profileGuided   = &goFact{since: 21, what: "the go command compiles with default.pgo by itself", notes: "Profile-guided optimization"}
	collectedTimers = &goFact{since: 23, what: "timers and tickers that nobody holds are collected", notes: "Timer changes",
		undo: undo{variable: "GODEBUG", key: "asynctimerchan", value: "1", until: 27}}
	deepProfiles = &goFact{since: 23, what: "profiles keep 128 frames of a stack instead of 32", notes: "Minor changes to the library: runtime/pprof",
		undo: undo{variable: "GODEBUG", key: "profstackdepth", value: "32"}}
	swissMaps = &goFact{since: 24, what: "maps are Swiss tables", notes: "Runtime",
		undo: undo{variable: "GOEXPERIMENT", key: "noswissmap", until: 26}, gain: goGain{most: 0.03}}
	spinbitMutex = &goFact{since: 24, what: "the runtime's own locks wake one waiter at a time", notes: "Runtime",
		undo: undo{variable: "GOEXPERIMENT", key: "nospinbitmutex", until: 25}}
	ignoredSeed = &goFact{since: 24, what: "rand.Seed does nothing any more", notes: "Minor changes to the library: math/rand",
		undo: undo{variable: "GODEBUG", key: "randseednop", value: "0"}}
	containerProcs = &goFact{since: 25, what: "GOMAXPROCS follows the CPU quota of the container", notes: "Container-aware GOMAXPROCS",
		undo: undo{variable: "GODEBUG", key: "containermaxprocs", value: "0"}}
	updatedProcs = &goFact{since: 25, what: "GOMAXPROCS follows a quota that changes", notes: "Container-aware GOMAXPROCS",
		undo: undo{variable: "GODEBUG", key: "updatemaxprocs", value: "0"}}
	greenTea = &goFact{since: 26, what: "the collector marks small objects block by block (Green Tea)", notes: "New garbage collector",
		undo: undo{variable: "GOEXPERIMENT", key: "nogreenteagc", until: 27}, gain: goGain{model.Collecting, 0.40}}
	cheaperCgo  = &goFact{since: 26, what: "a call of C costs about a third less", notes: "Faster cgo calls"}
	leakProfile = &goFact{since: 27, what: "the goroutineleak profile is there without an experiment", notes: "Minor changes to the library: runtime/pprof"}
	smallMalloc = &goFact{since: 27, what: "objects below 80 bytes are allocated by code of their own for each size", notes: "Runtime",
		gain: goGain{model.Allocating, 0.30}}
)

// goFacts is the whole table.
var goFacts = []*goFact{
	asyncPreemption, registerCalls, softMemoryLimit, adaptiveStacks, unlockedRand, profileGuided, collectedTimers, deepProfiles,
	swissMaps, spinbitMutex, ignoredSeed, containerProcs, updatedProcs, greenTea, cheaperCgo, leakProfile, smallMalloc,
}

// version returns the one that brought the change, in words.
func (f *goFact) version() string { return "Go 1." + strconv.Itoa(f.since) }

// A status is whether a change is in force in a program.
type status int

const (
	unsure  status = iota // its Go version is not known
	notYet                // built by an older Go
	undone                // a setting has turned it back
	inForce               // it holds
)

// status says whether the change is in force in the program, and why not.
func (f *goFact) status(m *model.Model) (s status, why string) {
	n, ok := model.GoMinor(goVersion(m))
	switch counted := f.undo.countedNote(m); {
	case counted != "":
		return undone, counted
	case !ok:
		return unsure, "the program's Go version is not known"
	case n < f.since:
		return notYet, fmt.Sprintf("the program was built with Go 1.%d, and only since %s %s", n, f.version(), f.what)
	case f.undo.variable == "" || f.undo.until > 0 && n >= f.undo.until:
		return inForce, ""
	}
	if why := f.undo.settingPlace(m); why != "" {
		return undone, why
	}
	return inForce, ""
}

// countedNote says that the runtime itself counted the setting at work, "" when not.
func (u *undo) countedNote(m *model.Model) string {
	if u.variable != "GODEBUG" {
		return ""
	}
	metric := metricNonDefault + u.key + ":events"
	if memory.MetricNow(m, metric) <= 0 {
		return ""
	}
	return fmt.Sprintf("the runtime counted that GODEBUG %s changed what it did (%s)", u.key, metric)
}

// metricNonDefault begins the metrics that count what a GODEBUG setting changed.
const metricNonDefault = "/godebug/non-default-behavior/"

// settingPlace says where a program has the setting, "" when it has not.
func (u *undo) settingPlace(m *model.Model) string {
	if u.variable == "GOEXPERIMENT" {
		if m.Build != nil && strings.Contains(","+m.Build.Settings["GOEXPERIMENT"]+",", ","+u.key+",") {
			return "it was built with GOEXPERIMENT=" + u.key
		}
		return ""
	}
	if godebug(m, u.key) == u.value {
		return fmt.Sprintf("GODEBUG has %s=%s, %s", u.key, u.value, godebugFrom(m, u.key))
	}
	return ""
}

// godebugFrom says who set a value of GODEBUG.
func godebugFrom(m *model.Model, key string) string {
	if strings.Contains(","+m.Build.Environment["GODEBUG"], ","+key+"=") {
		return "by the environment"
	}
	return "by the program's go.mod: an old go line or a godebug line"
}

// harmless says that a pattern, which was found, hurts nobody since the change;
// false when the change is not in force.
func (f *goFact) harmless(p *diagnosis.Pass, pattern string) bool {
	if s, _ := f.status(p.Model); s != inForce {
		return false
	}
	p.Obsolete(pattern, f.version(), f.what)
	return true
}

// godebug looks a setting up in the program's defaults and in its environment,
// which comes last and wins.
func godebug(m *model.Model, key string) (value string) {
	if m.Build == nil {
		return ""
	}
	for _, list := range []string{m.Build.Settings["DefaultGODEBUG"], m.Build.Environment["GODEBUG"]} {
		for setting := range strings.SplitSeq(list, ",") {
			if k, v, ok := strings.Cut(strings.TrimSpace(setting), "="); ok && k == key {
				value = v
			}
		}
	}
	return value
}

// withGODEBUG returns the program's GODEBUG of the environment with a setting put in
// or replaced, as a knob.
func withGODEBUG(m *model.Model, key, value string) string {
	var others []string
	if m.Build != nil {
		for setting := range strings.SplitSeq(m.Build.Environment["GODEBUG"], ",") {
			if k, _, _ := strings.Cut(setting, "="); setting != "" && k != key {
				others = append(others, setting)
			}
		}
	}
	return "GODEBUG=" + strings.Join(append(others, key+"="+value), ",")
}

// goVersion returns the toolchain's, by the build info or by the evidence of the run.
func goVersion(m *model.Model) string {
	if m.Build != nil && m.Build.Go != "" {
		return m.Build.Go
	}
	return m.Run.Go
}
