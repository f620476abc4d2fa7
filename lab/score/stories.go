package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// The illnesses of the case studies that truth.yaml has at several sizes, each sick and
// healed, on what the program brings itself and on its real server where one runs, with
// nothing beside it and beside a load that takes half of the machine.

// Stories are what was seen of them, saved as stories.json.
type Stories struct {
	Schema int        `json:"schema"`
	Taken  Provenance `json:"taken"`
	Runs   []StoryRun `json:"runs"`
}

// A StoryRun is one answer.
type StoryRun struct {
	Answer
	Size   string `json:"size"`
	Server string `json:"server,omitempty"` // real one; "" is what the program brings
	Beside bool   `json:"beside,omitempty"`
}

// ownSize is the size that the illness itself has.
const ownSize = "usual"

// A storyTask is a run that is to be made.
type storyTask struct {
	task
	size, server string
	loaded       bool
}

func (t *storyTask) run() StoryRun {
	return StoryRun{Answer: t.answer(), Size: t.size, Server: t.server, Beside: t.loaded}
}

// storyPlan lists the runs; address gives that of a real server, "" where none runs.
func storyPlan(cases []*truth.Case, rounds int, address func(*truth.Server) string) (tasks []storyTask) {
	for round := 1; round <= rounds; round++ {
		for _, c := range cases {
			for i := range c.Illnesses {
				if ill := &c.Illnesses[i]; len(ill.Sizes) > 0 {
					tasks = append(tasks, ofStory(c, ill, round, address)...)
				}
			}
		}
	}
	return tasks
}

func ofStory(c *truth.Case, ill *truth.Illness, round int, address func(*truth.Server) string) (tasks []storyTask) {
	sizes := map[string]truth.Size{ownSize: {Sick: ill.Sick, Healed: ill.Healed, Load: ill.Load}}
	for name, s := range ill.Sizes {
		sizes[name] = s
	}
	servers := map[string][]string{"": nil}
	if c.Server != nil {
		if at := address(c.Server); at != "" {
			servers[c.Server.Name] = c.Server.At(at)
		}
	}
	for _, size := range sizeNames(ill) {
		for _, server := range slices.Sorted(maps.Keys(servers)) {
			for _, loaded := range []bool{false, true} {
				one := func(kind Kind, args []string) {
					t := task{c: c, name: ill.Name, kind: kind, round: round, args: slices.Concat(c.Args, servers[server], args),
						load: either(sizes[size].Load, either(ill.Load, c.Load))}
					if loaded {
						t.beside = halfOfTheMachine()
					}
					tasks = append(tasks, storyTask{t, size, server, loaded})
				}
				one(Sick, sizes[size].Sick)
				one(Healed, sizes[size].Healed)
			}
		}
	}
	return tasks
}

// sizeNames are the sizes of an illness, its own first.
func sizeNames(ill *truth.Illness) []string {
	return append([]string{ownSize}, slices.Sorted(maps.Keys(ill.Sizes))...)
}

// scoreStories makes the runs, or diagnoses those that were kept, and writes the page.
func (o *options) scoreStories(ctx context.Context) error {
	all, err := truth.All(o.lab)
	if err != nil {
		return err
	}
	if o.from != "" {
		s, err := loadStories(o.from)
		if err != nil {
			return err
		}
		return o.storiesPage(s, all)
	}
	cases, err := choose(all, o.cases)
	if err != nil {
		return err
	}
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	tasks := storyPlan(cases, o.rounds, (*truth.Server).Address)
	if err := build(ctx, bed, cases); err != nil {
		return err
	}
	r := &storyRunner{runner: &runner{bed: bed, keep: cmp.Or(o.rejudge, o.keep)}, again: o.rejudge != ""}
	s := &Stories{Schema: schema, Taken: o.taken(ctx)}
	s.Taken.Only = ""
	p := &progress{began: time.Now(), n: len(tasks), tty: isTerminal(os.Stderr)}
	defer p.clear()
	for i := range tasks {
		run := tasks[i].run()
		p.tell(i, run.key())
		err := r.ask(ctx, &tasks[i], &run)
		switch {
		case ctx.Err() != nil:
			return interrupted(i, len(tasks))
		case r.again && errors.Is(err, fs.ErrNotExist):
			continue // it was not kept
		case err != nil:
			run.Failed = r.brief(err)
		}
		run.Thresholds, run.Top = Thresholds{}, Top{} // no part of this page
		s.Runs = append(s.Runs, run)
	}
	s.Taken.TookMins = float64(int(time.Since(p.began).Minutes()*10)) / 10
	if len(s.Runs) == 0 {
		return errors.New("there are no runs: none of these cases has sizes, or none was kept")
	}
	if err := s.save(filepath.Join(filepath.Dir(o.out), "stories.json")); err != nil {
		return err
	}
	return o.storiesPage(s, all)
}

// A storyRunner has gowhy answer; what was kept is not recorded again.
type storyRunner struct {
	*runner
	again bool // record nothing
}

func (r *storyRunner) ask(ctx context.Context, t *storyTask, run *StoryRun) error {
	if r.keep != "" {
		path := filepath.Join(r.keep, run.file())
		if _, err := os.Stat(path); err == nil || r.again {
			if err != nil {
				return err
			}
			return r.diagnose(ctx, t.task, path, &run.Answer)
		}
	}
	program, err := r.bed.Build(ctx, t.c.Dir)
	if err != nil {
		return err
	}
	job := testbed.Job{Program: program, Args: t.args, Time: t.c.Time, Ready: t.c.Ready, Load: t.load, Beside: t.beside, Limit: t.c.Time + storyLimit}
	if r.keep != "" {
		job.Out = filepath.Join(r.keep, run.file())
	}
	rec, err := r.bed.Record(ctx, job)
	if err != nil {
		return err
	}
	if r.keep == "" {
		defer os.Remove(rec.Path)
	}
	run.Bytes, run.RecordSeconds = rec.Size, seconds(rec.Took)
	return r.diagnose(ctx, t.task, rec.Path, &run.Answer)
}

// storyLimit ends a run: the largest take 20 s with nothing beside them.
const storyLimit = 3 * time.Minute

// key is what the answers of a row have in common, and the state of the run.
func (r *StoryRun) key() string {
	return strings.Join([]string{r.Case, r.Name, r.Size, cmp.Or(r.Server, "own"), string(r.Kind)}, "/")
}

func (r *StoryRun) file() string {
	name := strings.NewReplacer("/", "-", " ", "-", ",", "").Replace(r.key())
	if r.Beside {
		name += "-beside"
	}
	return fmt.Sprintf("%s-%d.gowhy", name, r.Round)
}

// A storyRow is how often gowhy is right about an illness at one size and server.
type storyRow struct {
	ill                *truth.Illness
	of                 string // its case
	size, server       string
	sick, healed       [2]Share // with nothing beside it, and beside a load
	all, quiet, loaded Share
	wrong              []string
}

// storyRows judges the runs. Sick ones are right when the first finding is the cause and
// names a guilty function, healed ones when no finding accuses the program.
func storyRows(s *Stories, cases []*truth.Case) (rows []storyRow) {
	for _, c := range cases {
		for i := range c.Illnesses {
			ill := &c.Illnesses[i]
			if len(ill.Sizes) == 0 {
				continue
			}
			for _, size := range sizeNames(ill) {
				for _, server := range serverNames(c) {
					row := storyRow{ill: ill, of: c.Name, size: size, server: server}
					for j := range s.Runs {
						if r := &s.Runs[j]; r.Case == c.Name && r.Name == ill.Name && r.Size == size && r.Server == server {
							row.judge(r)
						}
					}
					if row.all.N > 0 {
						rows = append(rows, row)
					}
				}
			}
		}
	}
	return rows
}

func serverNames(c *truth.Case) []string {
	if c.Server == nil {
		return []string{""}
	}
	return []string{"", c.Server.Name}
}

func (row *storyRow) judge(r *StoryRun) {
	beside, right := 0, false
	if r.Beside {
		beside = 1
	}
	switch {
	case r.Kind == Sick:
		j := judgeSick(&r.Answer, row.ill)
		right = r.Failed == "" && j.rank == 1 && (j.places || !j.asked)
		row.sick[beside].add(right)
	default:
		j := judgeWell(&r.Answer, row.ill.Left)
		right = r.Failed == "" && len(j.alarms) == 0
		row.healed[beside].add(right)
	}
	row.all.add(right)
	if r.Beside {
		row.loaded.add(right)
	} else {
		row.quiet.add(right)
	}
	if !right {
		row.wrong = append(row.wrong, fmt.Sprintf("%s (%s): %s", r.file(), r.Kind, spoken(&r.Answer)))
	}
}

func (s *Stories) save(path string) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func loadStories(path string) (*Stories, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := new(Stories)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if s.Schema != schema {
		return nil, fmt.Errorf("%s has schema %d, not %d\nhint: make it again with go run ./lab/score -stories", path, s.Schema, schema)
	}
	return s, nil
}
