// Package truth is what is known of a case: which illness each of its flags
// is, which rule must name it first, which function is guilty, what heals it,
// and which of its runs are well.
//
// It hides the format of truth.yaml, the file beside each case that says so,
// and everything that can be wrong with one. [Read] reads one, [ReadAll] those of
// all cases; their type is [Case].
package truth

import (
	"os"
	"strings"
	"time"
)

// A Case is one truth.yaml.
type Case struct {
	Name  string `yaml:"-"` // of its folder, from the lab's: "zonedns"
	Dir   string `yaml:"-"`
	About string `yaml:"about"`

	// Args are given in every run. In them, in all other arguments, in Load and
	// in Beside, {port} is a free port of this run, {dir} an empty directory,
	// {case} the program and {gowhy} the gowhy command.
	Args []string `yaml:"args"`
	// Time is how long a program that does not end by itself is recorded; 0
	// records to the end. With Load, it is how long load is offered.
	Time time.Duration `yaml:"time"`
	// Ready is a line that the program's standard output begins with when it
	// can be given load; "" when it needs no load from outside.
	Ready string `yaml:"ready"`
	// Load is a command that offers load while the program is recorded, and
	// ends with it. A `{gowhy} load` that says neither for how long nor how many
	// is told Time, and its result is taken into the recording.
	Load []string `yaml:"load"`
	// Beside is a command that runs on the machine meanwhile.
	Beside []string `yaml:"beside"`

	// Server is a real one that the program can be run against; nil when there is none.
	Server *Server `yaml:"server"`

	Illnesses []Illness `yaml:"illnesses"`
	// Useless are changes that sound like a cure and are none: gowhy must not
	// confirm them.
	Useless []Change `yaml:"useless"`
	// Healthy are runs of which gowhy must say nothing.
	Healthy []Run `yaml:"healthy"`
}

// A Run is a way to run the program.
type Run struct {
	Name string   `yaml:"name"`
	Args []string `yaml:"args"`
	// Load and Beside stand in the place of the case's, where they differ.
	Load   []string `yaml:"load"`
	Beside []string `yaml:"beside"`
	// Expect are rules that are right to speak although the program is well:
	// those about the machine and the evidence. Any other finding is a false alarm.
	Expect []string `yaml:"expect"`
}

// An Illness is what is wrong under some flags.
type Illness struct {
	Name   string `yaml:"name"`
	Family string `yaml:"family"` // one of Families
	Rule   string `yaml:"rule"`   // that must be said first
	// Also are rules that are right to speak as well: consequences, and other
	// true things about the sick program.
	Also []string `yaml:"also"`
	// Other are rules of other illnesses that the same flags bring, before Healed and
	// after. Which costs most depends on the machine, so theirs are passed over.
	Other []string `yaml:"other"`
	Where []string `yaml:"where"` // guilty functions as gowhy prints them; one among the first places of the finding

	Sick   []string `yaml:"sick"`
	Healed []string `yaml:"healed"`
	// Left are rules that are right to speak of the healed program still: what
	// these flags do not heal. Also does not excuse them.
	Left []string `yaml:"left"`
	// Doses are the arguments at parts of the illness, above 0 and below 1,
	// where it has doses; 0 is Healed, 1 is Sick.
	Doses map[float64][]string `yaml:"doses"`
	// Sizes are other amounts of work under which the same is true, by name.
	Sizes  map[string]Size `yaml:"sizes"`
	Load   []string        `yaml:"load"`
	Beside []string        `yaml:"beside"`

	// Metric decides the experiment from Sick to Healed, "" when none is made.
	// Ops is how many operations a run does; 0 takes what the load counted, or
	// the whole run for one operation.
	Metric string  `yaml:"metric"`
	Ops    float64 `yaml:"ops"`
	// Beyond says what Healed takes away beside what the rule is about; the
	// experiment is then not held against the finding's bound.
	Beyond string `yaml:"beyond"`
}

// A Size is an illness and its cure with another amount of work.
type Size struct {
	Sick   []string `yaml:"sick"`
	Healed []string `yaml:"healed"`
	Load   []string `yaml:"load"` // in the place of the illness's or the case's, where it differs
}

// A Server is a real one in the place of what the program brings itself.
type Server struct {
	Name string `yaml:"name"`
	// Variable is what lab/up sets to its address.
	Variable string `yaml:"variable"`
	// Args are given as well; in them {server} is the address.
	Args []string `yaml:"args"`
}

// Address returns where the server is; "" when none is known.
func (s *Server) Address() string { return os.Getenv(s.Variable) }

// ArgsAt returns the arguments for a server at an address.
func (s *Server) ArgsAt(address string) (args []string) {
	for _, arg := range s.Args {
		args = append(args, strings.ReplaceAll(arg, "{server}", address))
	}
	return args
}

// A Change is from one way to run to another.
type Change struct {
	Name   string   `yaml:"name"`
	From   []string `yaml:"from"`
	To     []string `yaml:"to"`
	Metric string   `yaml:"metric"`
	Ops    float64  `yaml:"ops"`
}

// Families are those of the catalogue of rules, in its order.
var Families = []string{"cpu", "scheduler", "locks", "channels", "memory", "goroutines", "timers", "syscalls", "network", "load", "build", "evidence"}

// Metrics are what experiments of the lab may be decided by.
var Metrics = []string{"elapsed", "cpu/op", "ops/s", "p50", "p99", "peak-rss", "live-heap", "allocs/op", "B/op", "goroutines/op", "gc/op", "syscalls/op", "futex/op", "switches/op", "faults/op"}
