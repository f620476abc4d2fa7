package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// A task is one run that is to be made.
type task struct {
	c            *truth.Case
	name         string
	kind         Kind
	dose         float64
	round        int
	args         []string
	load, beside []string
}

// answer returns what is known of a task before it is run.
func (t *task) answer() Answer {
	return Answer{Case: t.c.Name, Name: t.name, Kind: t.kind, Dose: t.dose, Round: t.round}
}

// plan lists all runs: each illness sick, at its doses between, and healed, and
// each healthy run, as often as there are rounds. Without a seed they are in
// order; with one every order is equally likely, so that nothing that happens to
// the machine for a while falls on one case.
func plan(cases []*truth.Case, rounds int, doses bool, seed uint64) (tasks []task) {
	for round := 1; round <= rounds; round++ {
		for _, c := range cases {
			tasks = append(tasks, ofCase(c, round, doses)...)
		}
	}
	if seed != 0 {
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	}
	return tasks
}

func ofCase(c *truth.Case, round int, doses bool) (tasks []task) {
	for i := range c.Illnesses {
		ill := &c.Illnesses[i]
		one := func(kind Kind, dose float64, args []string) {
			tasks = append(tasks, task{c, ill.Name, kind, dose, round, slices.Concat(c.Args, args), union(ill.Load, c.Load), union(ill.Beside, c.Beside)})
		}
		one(Healed, 0, ill.Healed)
		if doses {
			for _, dose := range slices.Sorted(maps.Keys(ill.Doses)) {
				one(Sick, dose, ill.Doses[dose])
			}
		}
		one(Sick, 1, ill.Sick)
	}
	for i := range c.Healthy {
		run := &c.Healthy[i]
		tasks = append(tasks, task{c, run.Name, Healthy, 0, round, slices.Concat(c.Args, run.Args), union(run.Load, c.Load), union(run.Beside, c.Beside)})
	}
	return tasks
}

func union(a, b []string) []string {
	if len(a) > 0 {
		return a
	}
	return b
}

// A proof is one experiment that is to be made.
type proof struct {
	c      *truth.Case
	name   string
	kind   Kind
	a, b   []string
	load   []string
	metric string
	ops    float64
}

// proofs lists the experiments: each illness's cure, and each useless change.
func proofs(cases []*truth.Case) (all []proof) {
	for _, c := range cases {
		for i := range c.Illnesses {
			ill := &c.Illnesses[i]
			if ill.Metric != "" {
				all = append(all, proof{c, ill.Name, Cure, slices.Concat(c.Args, ill.Sick), slices.Concat(c.Args, ill.Healed), union(ill.Load, c.Load), ill.Metric, ill.Ops})
			}
		}
		for i := range c.Useless {
			u := &c.Useless[i]
			all = append(all, proof{c, u.Name, Useless, slices.Concat(c.Args, u.From), slices.Concat(c.Args, u.To), c.Load, u.Metric, u.Ops})
		}
	}
	return all
}

// What a run takes beside the time that the program is recorded: starting, the
// end of the recording, the diagnosis, and repeats on a busy machine. A program
// that ends by itself is guessed at.
const (
	around     = 1500 * time.Millisecond
	untilEnd   = 2500 * time.Millisecond
	aroundPair = 1500 * time.Millisecond
)

// estimate is about how long runs and experiments take.
func estimate(tasks []task, all []proof, pairs int) (d time.Duration) {
	for _, t := range tasks {
		d += around + length(t.c)
	}
	for _, p := range all {
		d += time.Duration(2*(pairs+1)) * (aroundPair + length(p.c))
	}
	return d
}

func length(c *truth.Case) time.Duration {
	if c.Time > 0 {
		return c.Time
	}
	return untilEnd
}

// choose keeps the cases that are named, by their name or by that of a folder
// of cases; none named keeps all.
func choose(cases []*truth.Case, names string) ([]*truth.Case, error) {
	if names == "" {
		return cases, nil
	}
	var chosen []*truth.Case
	for name := range strings.SplitSeq(names, ",") {
		name = strings.Trim(strings.TrimSpace(name), "/")
		found := false
		for _, c := range cases {
			if c.Name != name && !strings.HasPrefix(c.Name, name+"/") {
				continue
			}
			found = true
			if !slices.Contains(chosen, c) {
				chosen = append(chosen, c)
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no case %q; there are %s", name, strings.Join(caseNames(cases), ", "))
		}
	}
	return chosen, nil
}

func caseNames(cases []*truth.Case) (names []string) {
	for _, c := range cases {
		names = append(names, c.Name)
	}
	return names
}

// besideOf returns what ran on the machine beside a run.
func besideOf(c *truth.Case, a *Answer) []string {
	for _, t := range ofCase(c, a.Round, true) {
		if t.name == a.Name && t.kind == a.Kind {
			return t.beside
		}
	}
	return nil
}
