package artifact

import (
	"slices"
	"strings"
)

// A Refusal is a source that was asked for and could not be had.
type Refusal struct {
	Member string
	Why    string
	How    string // a command or a setting that allows it; empty when none is known
}

// GroupRefusals makes one of those with one reason, in sentences that name
// their sources: what is missing, and what is there but not whole.
func GroupRefusals(refused []Refusal, there func(member string) bool) []Refusal {
	type key struct {
		why, how string
		there    bool
	}
	var order []key
	of := map[key][]string{}
	for _, f := range refused {
		k := key{f.Why, f.How, there != nil && there(f.Member)}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], f.Member)
	}
	var grouped []Refusal
	for _, k := range order {
		what := strings.Join(SourcesOf(of[k]), ", ")
		switch {
		case what == EndpointMember:
			what = "no trace and no profiles of the runtime"
			if there != nil && there("heap-end.pb.gz") {
				what = "no trace, and of the runtime's profiles those that can be read from outside"
			}
		case k.there:
			what += ", not whole"
		default:
			what = "without " + what
		}
		grouped = append(grouped, Refusal{Member: strings.Join(of[k], ","), Why: what + ": " + k.why, How: k.how})
	}
	return grouped
}

// environment are those variables. No other is looked at.
var environment = []string{"GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"}

// GoEnvironment keeps of an environment what changes how a Go program runs.
func GoEnvironment(env []string) (kept []string) {
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(environment, name) {
			kept = append(kept, kv)
		}
	}
	return kept
}

// EndpointMember stands for all that a program tells of itself.
const EndpointMember = "endpoint"

// SourcesOf returns the sources that members are of, in the words of
// internal/sense/record; of two snapshots that are not both there it says which.
func SourcesOf(members []string) (names []string) {
	both := func(source string) bool {
		return slices.Contains(members, source+"-start.pb.gz") && slices.Contains(members, source+"-end.pb.gz")
	}
	for _, m := range members {
		name, _, _ := strings.Cut(m, ".")
		source, at, snapshot := strings.Cut(name, "-")
		switch {
		case snapshot && both(source):
			name = source
		case snapshot:
			name = source + " at the " + at
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
