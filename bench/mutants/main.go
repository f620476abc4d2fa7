// Mutants measures how well the tests of packages notice faults: it plants one
// fault at a time, a mutant, and runs the tests of its package, then those of the last
// package, which uses the others. A mutant that no test notices is a line that anybody may
// break. By default it does so for the suite of rules and what measures for them:
//
//	go run ./bench/mutants
//
// It hides how faults are planted: all of them are compiled at once, into a copy
// of the packages beside the tree, and a variable of the environment turns one on
// (mutant schemata: Untch, Offutt and Harrold, 1993). A mutant so costs a
// run of the fixtures, and no compilation. What sorts of faults there are is in
// find.go; it knows the syntax and the types of Go, and nothing of the packages.
//
// It never writes in the tree.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	trial
	n         int
	seed      uint64
	all, list bool
	json      bool
	only, in  string
	excuses   string
	atLeast   float64
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.IntVar(&o.n, "n", 300, "try `N` mutants, an equal share from each file and kind")
	f.Uint64Var(&o.seed, "seed", 1, "of the sample")
	f.BoolVar(&o.all, "all", false, "try all mutants")
	f.BoolVar(&o.list, "list", false, "list the mutants of the sample and try none")
	f.BoolVar(&o.json, "json", false, "write JSON")
	f.StringVar(&o.only, "only", "", "mutants of these `FILES` of the packages, like hotmutex.go or check.go,*account.go")
	f.StringVar(&o.in, "in", "", "mutants of this `PACKAGE` of those given, by the last part of its path; the others lend their tests")
	f.StringVar(&o.excuses, "excuses", "bench/mutants/excuses.txt", "`FILE` of the mutants that may survive, with reasons")
	f.Float64Var(&o.atLeast, "atleast", 0.95, "fail when the tests notice less than this `SHARE` of the mutants without excuse")
	f.StringVar(&o.first, "first", "^TestFixtures$/^FILE$|^TestEdges$", "`TESTS` to run first, FILE being the mutated file without .go")
	f.StringVar(&o.tests, "tests", ".", "`TESTS` to run when those noticed nothing; they run with -short")
	f.StringVar(&o.skip, "skip", "^Test(PageHasEvidence|FindingsCanBeFollowed|GoFactsAreAll)$", "`TESTS` not to run: too slow for what they notice")
	f.IntVar(&o.parallel, "parallel", 2, "how many mutants to try at once")
	f.DurationVar(&o.timeout, "timeout", 20*time.Second, "end a run of tests that takes longer: it counts as noticed")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.n < 1 || o.parallel < 1 {
		return fmt.Errorf("-n and -parallel of at least 1")
	}
	paths := []string{"./internal/judge/measure/...", "./internal/judge/rules"}
	if f.NArg() > 0 {
		paths = f.Args()
	}
	return measure(ctx, paths, o, stdout)
}

// measure finds the mutants of packages, tries a sample and reports.
func measure(ctx context.Context, paths []string, o options, stdout io.Writer) error {
	excuses, err := readExcuses(o.excuses)
	if err != nil {
		return err
	}
	packages, err := load(ctx, paths)
	if err != nil {
		return err
	}
	found := mutants(packages)
	match(excuses, found)
	chosen := slices.DeleteFunc(slices.Clone(found), func(m *mutant) bool {
		return !o.isOf(m.File) || o.in != "" && m.Package != o.in
	})
	if len(chosen) == 0 {
		return fmt.Errorf("no mutants in %s %s", strings.Join(paths, " "), strings.TrimSpace(o.in+" "+o.only))
	}
	if !o.all {
		chosen = sample(chosen, o.n, o.seed)
	}
	start := time.Now()
	if !o.list {
		if err := o.trial.run(ctx, packages, found, chosen); err != nil {
			return err
		}
	}
	r := result{strings.Join(paths, " "), o.seed, len(found), chosen, stale(excuses, found), time.Since(start).Seconds()}
	switch {
	case o.json:
		e := json.NewEncoder(stdout)
		e.SetIndent("", "\t")
		err = e.Encode(r)
	case o.list:
		for _, m := range chosen {
			fmt.Fprintln(stdout, m)
		}
	default:
		r.write(stdout)
	}
	if rate := r.rate(); err == nil && !o.list && rate < o.atLeast {
		err = fmt.Errorf("the tests notice %.1f%% of the faults, less than %.1f%%\n"+
			"hint: make a fixture say what it did not, or excuse the survivor in %s", 100*rate, 100*o.atLeast, o.excuses)
	}
	return err
}

// isOf reports whether a file is one of those whose mutants are wanted.
func (o *options) isOf(file string) bool {
	return o.only == "" || slices.ContainsFunc(strings.Split(o.only, ","), func(pattern string) bool {
		matched, _ := path.Match(pattern, file)
		return matched
	})
}

// sample takes n mutants: files take turns, and each gives one of each kind before it gives a
// second. Which they are depends on their names alone and not on what else there is, so that a
// change of the code changes the sample no further.
func sample(list []*mutant, n int, seed uint64) (out []*mutant) {
	left := map[string]map[kind][]*mutant{}
	for _, m := range list {
		if left[m.File] == nil {
			left[m.File] = map[kind][]*mutant{}
		}
		left[m.File][m.Kind] = append(left[m.File][m.Kind], m)
	}
	files := slices.Collect(maps.Keys(left))
	shuffle(files, seed, func(file string) string { return file })
	turns := map[string][]kind{}
	for _, file := range files {
		turns[file] = slices.Clone(kinds)
		shuffle(turns[file], seed, func(k kind) string { return file + " " + string(k) })
		for _, of := range left[file] {
			shuffle(of, seed, (*mutant).code)
		}
	}
	for n = min(n, len(list)); len(out) < n; {
		for _, file := range files {
			turn := slices.IndexFunc(turns[file], func(k kind) bool { return len(left[file][k]) > 0 })
			if turn < 0 || len(out) == n {
				continue
			}
			k := turns[file][turn]
			turns[file] = append(slices.Delete(turns[file], turn, turn+1), k)
			out, left[file][k] = append(out, left[file][k][0]), left[file][k][1:]
		}
	}
	slices.SortFunc(out, func(a, b *mutant) int { return a.id - b.id })
	return out
}

// shuffle puts a list in an order that its elements' names and the seed decide.
func shuffle[E any](list []E, seed uint64, name func(E) string) {
	places := map[string][sha256.Size]byte{}
	for _, e := range list {
		places[name(e)] = sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, name(e)))
	}
	slices.SortStableFunc(list, func(a, b E) int {
		x, y := places[name(a)], places[name(b)]
		return bytes.Compare(x[:], y[:])
	})
}

// A result is what one run measured.
type result struct {
	Packages string
	Seed     uint64
	Found    int // mutants of the packages, of which Mutants were tried
	Mutants  []*mutant
	Stale    []string // excuses that no survivor needs
	Seconds  float64
}

// count counts the mutants that the tests noticed, and those with an excuse.
func (r *result) count() (noticed, excused int) {
	for _, m := range r.Mutants {
		switch {
		case m.Excuse != "":
			excused++
		case m.Outcome != survived:
			noticed++
		}
	}
	return noticed, excused
}

// rate returns the share of the mutants without excuse that the tests noticed.
func (r *result) rate() float64 {
	noticed, excused := r.count()
	if excused == len(r.Mutants) {
		return 1
	}
	return float64(noticed) / float64(len(r.Mutants)-excused)
}

func (r *result) write(w io.Writer) {
	r.table(w, "kind", func(m *mutant) string { return string(m.Kind) })
	r.table(w, "file", func(m *mutant) string { return m.File })
	for _, m := range r.Mutants {
		if m.Outcome == survived && m.Excuse == "" {
			fmt.Fprintf(w, "survived: %s\n", m)
		}
	}
	for _, s := range r.Stale {
		fmt.Fprintf(w, "stale excuse: %s\n", s)
	}
	fmt.Fprintf(w, "%d of %d mutants of %s tried in %.0f s (seed %d): the tests notice %.1f%% of those without excuse.\n",
		len(r.Mutants), r.Found, r.Packages, r.Seconds, r.Seed, 100*r.rate())
}

func (r *result) table(w io.Writer, heading string, key func(*mutant) string) {
	rows := map[string]*result{}
	for _, m := range r.Mutants {
		k := key(m)
		if rows[k] == nil {
			rows[k] = &result{}
		}
		rows[k].Mutants = append(rows[k].Mutants, m)
	}
	fmt.Fprintf(w, "%-24s %8s %9s %8s %8s\n", heading, "noticed", "survived", "excused", "share")
	for _, k := range slices.Sorted(maps.Keys(rows)) {
		noticed, excused := rows[k].count()
		fmt.Fprintf(w, "%-24s %8d %9d %8d %7.0f%%\n", k, noticed, len(rows[k].Mutants)-noticed-excused, excused, 100*rows[k].rate())
	}
	fmt.Fprintln(w)
}

// String returns a mutant in one line, for a person and, without the line's
// number, for an excuse.
func (m *mutant) String() string {
	return fmt.Sprintf("%s/%s:%d %s: %s → %s", m.Package, m.File, m.Line, m.Func, m.Before, m.After)
}

// oneLine takes the line breaks and the indentation out of code, and the end
// off where nobody reads that far.
func oneLine(code string) string {
	const most = 120
	code = strings.Join(strings.Fields(code), " ")
	if r := []rune(code); len(r) > most {
		return string(r[:most]) + "…"
	}
	return code
}
