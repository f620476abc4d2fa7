package main

import (
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// A Top is what the first line of `pprof -top` says of the CPU profile: the
// second baseline. All three readings of it are kept, and whichever is right
// counts.
type Top struct {
	Flat     string `json:"flat,omitempty"`      // the largest flat entry
	UserFlat string `json:"user_flat,omitempty"` // of the user's own functions
	UserCum  string `json:"user_cum,omitempty"`  // the largest cumulative of those, main.main left out
}

// hasFunction reports whether one of the guilty functions is the largest entry.
func (t *Top) hasFunction(guilty []string) bool {
	for _, name := range []string{t.Flat, t.UserFlat, t.UserCum} {
		if name != "" && slices.ContainsFunc(guilty, func(g string) bool { return sameFunction(g, name) }) {
			return true
		}
	}
	return false
}

// topText returns what somebody reads who looks for a function of his own.
func (t *Top) topText() string {
	for _, name := range []string{t.UserCum, t.UserFlat, t.Flat} {
		if name != "" {
			return name
		}
	}
	return ""
}

// functions returns all that the three readings name.
func (t *Top) functions() []string {
	return slices.DeleteFunc([]string{t.UserCum, t.UserFlat, t.Flat}, func(name string) bool { return name == "" })
}

// pprofTop reads a CPU profile, some of whose functions are the user's own. One that
// cannot be read says nothing.
func pprofTop(r io.Reader, owned func(name string) bool) (t Top) {
	p, err := profile.Parse(r)
	if err != nil || len(p.SampleType) == 0 {
		return t
	}
	flat, cum := map[string]int64{}, map[string]int64{}
	for _, s := range p.Sample {
		value := s.Value[len(s.Value)-1] // CPU time
		seen := map[string]bool{}
		for i, name := range frames(s) {
			if i == 0 {
				flat[name] += value
			}
			if !seen[name] {
				seen[name] = true
				cum[name] += value
			}
		}
	}
	any := func(string) bool { return true }
	below := func(name string) bool { return owned(name) && name != "main.main" }
	return Top{Flat: largest(flat, any), UserFlat: largest(flat, owned), UserCum: largest(cum, below)}
}

// frames returns the functions of a sample, the innermost first.
func frames(s *profile.Sample) (names []string) {
	for _, loc := range s.Location {
		for _, line := range loc.Line {
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
	}
	return names
}

// largest returns the name with the greatest value; of equal ones the first by name.
func largest(values map[string]int64, of func(string) bool) (name string) {
	for n, v := range values {
		if v > 0 && of(n) && (name == "" || v > values[name] || v == values[name] && n < name) {
			name = n
		}
	}
	return name
}

// userOwned reports whether a function is of the case itself, which is the
// program's main package and what of this repository it imports; what watches
// it is not.
func userOwned(name string) bool {
	const repository = "github.com/gowhy/gowhy/"
	return strings.HasPrefix(name, "main.") ||
		strings.HasPrefix(name, repository) && !strings.HasPrefix(name, repository+"agent.") &&
			!strings.HasPrefix(name, repository+"recording.") && !strings.HasPrefix(name, repository+"lab/internal/observed.")
}

var (
	typeArguments = regexp.MustCompile(`\[.*\]`)
	closure       = regexp.MustCompile(`(\.func\d+|\.gowrap\d+|\.deferwrap\d+|\.\d+|-fm|-range\d+)+$`)
)

// sameFunction reports whether two names are of one function of the source: a
// closure counts as the function that it stands in.
func sameFunction(a, b string) bool {
	plain := func(s string) string { return closure.ReplaceAllString(typeArguments.ReplaceAllString(s, ""), "") }
	return plain(a) == plain(b)
}
