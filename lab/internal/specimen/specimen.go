// Package specimen is the field that gowhy is measured on: programs that were not
// written for it. A specimen is a folder in testdata of lab/field/pairs with specimen.yaml,
// which says what is true of it, and a driver, a module of its own.
//
//   - modules: two released versions of one module, before and after a documented
//     repair, used by one driver in the way a user would;
//   - reviews: small programs with an illness that reviewers and linters complain
//     of, and the same without it;
//   - apps: programs shaped like applications, with an illness somewhere below their
//     handlers and stores, and the same without it;
//   - healthy: programs of others that nobody complains of, under three loads.
//
// It hides the format of specimen.yaml, how a driver is built against a version,
// and which half of the field a specimen belongs to: what is in the folder exam is the
// exam, and all others may be learnt from. Its types are [Specimen] and [Side].
package specimen

import (
	"path/filepath"
	"time"
)

// A Kind is a folder of specimens.
type Kind string

// The kinds of specimens.
const (
	Modules Kind = "modules"
	Reviews Kind = "reviews"
	Apps    Kind = "apps"
	Healthy Kind = "healthy"
)

// Kinds are all of them.
var Kinds = []Kind{Modules, Reviews, Apps, Healthy}

// A Specimen is one specimen.yaml.
type Specimen struct {
	Name string `yaml:"-"` // of its folder
	Dir  string `yaml:"-"`
	Kind Kind   `yaml:"-"`

	// About says what the program is and what the driver does with it.
	About string `yaml:"about"`
	Class string `yaml:"class"` // one of Classes; "" of a healthy one

	// Module is what differs between the sides of modules, Sick and Well are its
	// versions, and Source is where its authors say what was repaired.
	Module string `yaml:"module"`
	Sick   string `yaml:"sick"`
	Well   string `yaml:"well"`
	Source string `yaml:"source"`

	// Cause is the truth in words, Fix what the well side does instead.
	Cause string `yaml:"cause"`
	Fix   string `yaml:"fix"`
	// Guilty are functions, as gowhy prints them: the right finding has one of
	// them, or code called by it on the same line, among its first places. The
	// driver's function that leads there is one too.
	Guilty []string `yaml:"guilty"`
	// Rules are those that name the cause rightly.
	Rules []string `yaml:"rules"`
	// Also are rules that are right to speak as well, of both sides: consequences,
	// and other true things about the program.
	Also []string `yaml:"also"`

	// Args are given to both sides. In all arguments {port} is a free port, {dir}
	// an empty directory, {case} the program and {gowhy} the gowhy command.
	Args     []string `yaml:"args"`
	SickArgs []string `yaml:"sick_args"`
	WellArgs []string `yaml:"well_args"`
	// Time is how long a program that does not end by itself is recorded, and how
	// long load is offered; 0 records to its end.
	Time  time.Duration `yaml:"time"`
	Ready string        `yaml:"ready"` // what a line of standard output begins with when load can be offered
	Load  []string      `yaml:"load"`
	// Loads are the runs of a healthy one: light, normal and heavy.
	Loads map[string]Load `yaml:"loads"`

	// Differs is by what the sides were seen to differ; nil while nobody has
	// looked, and of a healthy one.
	Differs *Difference `yaml:"differs"`
}

// A Load is what a healthy program is asked to do.
type Load struct {
	Args []string `yaml:"args"`
	Load []string `yaml:"load"`
}

// Loads are the names of the loads of a healthy specimen.
var Loads = []string{"light", "normal", "heavy"}

// A Difference is a quantity of the sick side divided by that of the well one.
type Difference struct {
	Metric string  `yaml:"metric"` // one of Metrics
	Ratio  float64 `yaml:"ratio"`
}

// Metrics are what the sides are compared by.
var Metrics = []string{"cpu", "elapsed", "rss", "switches", "ns/op", "B/op", "allocs/op", "syscalls", "goroutines", "descriptors", "p99"}

// Classes are what can be wrong.
var Classes = []string{
	"cpu", "allocations", "memory leak", "goroutine leak", "descriptors", "locks", "spinning", "small writes", "system calls", "wake-ups",
	"gc pressure", "start-up", "connections", "timers", "channels", "serialisation", "waiting", "overload",
}

// worthDiffering is the least ratio that counts as a difference: below it nobody would
// have complained, and runs on a shared machine differ by as much.
const worthDiffering = 1.15

// Counts reports whether the sides really differ here, so that a silent gowhy is wrong.
func (s *Specimen) Counts() bool {
	return s.Kind == Healthy || s.Differs != nil && s.Differs.Ratio >= worthDiffering
}

// A Half is a part of the field.
type Half string

// The halves: rules may be made by what is seen in Learning; the Exam is recorded and
// scored once for each release, and never tuned to.
const (
	Learning Half = "learning"
	Exam     Half = "exam"
)

// Half returns where the specimen lies. Whoever adds one to the exam puts it into that folder,
// and the next release moves the folder's specimens out of it.
func (s *Specimen) Half() Half {
	if filepath.Base(filepath.Dir(filepath.Dir(s.Dir))) == string(Exam) {
		return Exam
	}
	return Learning
}

// A Side is one way to run a specimen: "sick", "well", or a load of a healthy one.
type Side struct {
	Name    string
	Version string // of the module; "" where it does not matter
	Args    []string
	Load    []string
}

// Sides returns the runs of a specimen.
func (s *Specimen) Sides() (out []Side) {
	with := func(more []string) []string { return append(append([]string{}, s.Args...), more...) }
	if s.Kind != Healthy {
		return []Side{
			{Name: "sick", Version: s.Sick, Args: with(s.SickArgs), Load: s.Load},
			{Name: "well", Version: s.Well, Args: with(s.WellArgs), Load: s.Load},
		}
	}
	for _, name := range Loads {
		l := s.Loads[name]
		if l.Load == nil {
			l.Load = s.Load
		}
		out = append(out, Side{Name: name, Args: with(l.Args), Load: l.Load})
	}
	return out
}
