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
	Schema int          `json:"schema"`
	Taken  Provenance   `json:"taken"`
	Anew   []Provenance `json:"anew,omitempty"` // what was made again of it since
	Runs   []StoryRun   `json:"runs"`
}

// renew takes what was made again in the place of the same cases' old runs.
func (s *Stories) renew(by *Stories) {
	made := map[string]bool{}
	for i := range by.Runs {
		made[by.Runs[i].Case] = true
	}
	s.Runs = append(slices.DeleteFunc(s.Runs, func(r StoryRun) bool { return made[r.Case] }), by.Runs...)
	s.Anew = append(s.Anew, by.Taken)
}

// A StoryRun is one answer.
type StoryRun struct {
	Case     string    `json:"case"`
	Name     string    `json:"name"` // of the illness
	Kind     Kind      `json:"kind"` // Sick or Healed
	Size     string    `json:"size"`
	Server   string    `json:"server,omitempty"` // real one; "" is what the program brings
	Beside   bool      `json:"beside,omitempty"`
	Round    int       `json:"round"`
	Verdict  string    `json:"verdict"`
	Findings []Finding `json:"findings"`
	Failed   string    `json:"failed,omitempty"`
}

// answer returns the run as others are judged.
func (r *StoryRun) answer() Answer {
	return Answer{Case: r.Case, Name: r.Name, Kind: r.Kind, Dose: 1, Round: r.Round, Verdict: r.Verdict, Findings: ofProgram(r.Findings), Failed: r.Failed}
}

// ofProgram leaves out what is said of the load where gowhy says that others had the
// machine: it cannot serve then what it serves else. What is said to come from that
// stays, behind the rest.
func ofProgram(findings []Finding) []Finding {
	if !busy(findings) {
		return findings
	}
	return withoutLoad(findings)
}

func withoutLoad(findings []Finding) (out []Finding) {
	var symptoms []Finding
	for _, f := range findings {
		if f.Rule == "failures" || f.Rule == "overload" {
			symptoms = append(symptoms, withoutLoad(f.Symptoms)...)
		} else {
			out = append(out, f)
		}
	}
	return append(out, symptoms...)
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
	return StoryRun{Case: t.c.Name, Name: t.name, Kind: t.kind, Size: t.size, Server: t.server, Beside: t.loaded, Round: t.round}
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
			servers[c.Server.Name] = c.Server.ArgsAt(at)
		}
	}
	for _, size := range sizeNames(ill) {
		for _, server := range slices.Sorted(maps.Keys(servers)) {
			for _, loaded := range []bool{false, true} {
				one := func(kind Kind, args []string) {
					t := task{c: c, name: ill.Name, kind: kind, round: round, args: slices.Concat(c.Args, servers[server], args),
						load: union(sizes[size].Load, union(ill.Load, c.Load))}
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

// sizeNames returns the sizes of an illness, its own first.
func sizeNames(ill *truth.Illness) []string {
	return append([]string{ownSize}, slices.Sorted(maps.Keys(ill.Sizes))...)
}

// scoreStories makes the runs, or diagnoses those that were kept, and writes the page.
func (o *options) scoreStories(ctx context.Context) error {
	all, err := truth.ReadAll(o.lab)
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
	s := &Stories{Schema: schema, Taken: o.provenance(ctx)}
	s.Taken.Only = ""
	p := &progress{began: time.Now(), n: len(tasks), tty: isTerminal(os.Stderr)}
	defer p.clear()
	for i := range tasks {
		run := tasks[i].run()
		p.tell(i, run.key())
		err := r.ask(ctx, &tasks[i], &run)
		switch {
		case ctx.Err() != nil:
			return interruptedError(i, len(tasks))
		case r.again && errors.Is(err, fs.ErrNotExist):
			continue // it was not kept
		case err != nil:
			run.Failed = r.brief(err)
		}
		s.Runs = append(s.Runs, run)
	}
	s.Taken.TookMins = float64(int(time.Since(p.began).Minutes()*10)) / 10
	if len(s.Runs) == 0 {
		return errors.New("there are no runs: none of these cases has sizes, or none was kept")
	}
	into := cmp.Or(o.into, filepath.Join(filepath.Dir(o.out), "stories.json"))
	if o.into != "" {
		old, err := loadStories(o.into)
		if err != nil {
			return err
		}
		old.renew(s)
		s = old
	}
	if err := s.save(into); err != nil {
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
			return r.told(ctx, t, path, run)
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
	return r.told(ctx, t, rec.Path, run)
}

// told fills in what is said of a recording.
func (r *storyRunner) told(ctx context.Context, t *storyTask, path string, run *StoryRun) error {
	var a Answer
	if err := r.diagnose(ctx, t.task, path, &a); err != nil {
		return err
	}
	run.Verdict, run.Findings = a.Verdict, withoutPromises(a.Findings)
	return nil
}

// withoutPromises leaves what is not judged here.
func withoutPromises(findings []Finding) []Finding {
	for i := range findings {
		findings[i].Promised = nil
		withoutPromises(findings[i].Symptoms)
	}
	return findings
}

// storyLimit ends a run: the largest take 20 s with nothing beside them.
const storyLimit = 3 * time.Minute

// key returns what the answers of a row have in common, and the state of the run.
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
	a, beside, right := r.answer(), 0, false
	if r.Beside {
		beside = 1
	}
	if r.Kind == Sick {
		j := judgeSick(&a, row.ill)
		right = r.Failed == "" && j.rank == 1 && (j.places || !j.asked)
		row.sick[beside].add(right)
	} else {
		j := judgeWell(&a, row.ill.Left)
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
		row.wrong = append(row.wrong, fmt.Sprintf("%s (%s): %s", r.file(), r.Kind, answerText(&a)))
	}
}

// save writes a line for each run.
func (s *Stories) save(path string) error {
	taken, err := json.Marshal(s.Taken)
	if err != nil {
		return err
	}
	anew, err := json.Marshal(s.Anew)
	if err != nil {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "{\n\"schema\": %d,\n\"taken\": %s,\n\"anew\": %s,\n\"runs\": [", s.Schema, taken, anew)
	for i := range s.Runs {
		run, err := json.Marshal(&s.Runs[i])
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "\n%s", run)
	}
	out.WriteString("\n]\n}\n")
	return os.WriteFile(path, []byte(out.String()), 0o644)
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
