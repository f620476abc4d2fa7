package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/lab/internal/specimen"
	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// One program recorded often, with nothing beside it and beside a load that takes half of
// the machine: does gowhy say the same each time, and does what it is sure of stand?

// repeatedPrograms are those that are recorded when none are asked for, as CASE:RUN of
// the lab and SPECIMEN:SIDE of lab/field/pairs: sick and well, five of them third-party.
var repeatedPrograms = []string{
	"filepool:crowd", "ruleengine:rules compiled for every message", "zonedns:half the rate", "consumer:healed", "top:once-a-second",
	"bsonevents:sick", "colorwrites:sick", "dnsnames:sick", "goyamlparser:sick", "hcllexer:well",
}

// Repeats are the answers, saved as repeats.json.
type Repeats struct {
	Schema  int            `json:"schema"`
	Taken   Provenance     `json:"taken"`
	Answers []RepeatAnswer `json:"answers"`
}

// A RepeatAnswer is what was said of one recording.
type RepeatAnswer struct {
	Program  string             `json:"program"`
	Beside   bool               `json:"beside,omitempty"`
	Round    int                `json:"round"`
	Verdict  string             `json:"verdict"`
	Findings []specimen.Finding `json:"findings"`
	Failed   string             `json:"failed,omitempty"`
}

func (o *options) repeatsFile() string { return filepath.Join(filepath.Dir(o.out), "repeats.json") }

// A repeatable is a program that can be recorded again and again.
type repeatable struct {
	name   string
	job    func(ctx context.Context) (testbed.Job, error) // builds it
	beside []string                                       // that always runs meanwhile
}

// repeatables finds programs by their names.
func (o *options) repeatables(names []string, bed *testbed.Bed, cache string) (list []repeatable, err error) {
	cases, err := truth.ReadAll(o.lab)
	if err != nil {
		return nil, err
	}
	specimens, err := specimen.ReadAll(filepath.Join(o.lab, "field", "pairs", "testdata"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		of, run, ok := strings.Cut(name, ":")
		if !ok {
			return nil, fmt.Errorf("%q is not CASE:RUN or SPECIMEN:SIDE, as in %s", name, repeatedPrograms[0])
		}
		r := repeatable{name: name}
		if i := slices.IndexFunc(cases, func(c *truth.Case) bool { return c.Name == of }); i >= 0 {
			r.job, r.beside, err = caseJob(cases[i], run, bed)
		} else if i := slices.IndexFunc(specimens, func(s *specimen.Specimen) bool { return s.Name == of }); i >= 0 {
			r.job, err = specimenJob(specimens[i], run, cache)
		} else {
			err = fmt.Errorf("there is no case and no specimen %q", of)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// caseJob returns a run of a case: an illness, sick, or a healthy run.
func caseJob(c *truth.Case, name string, bed *testbed.Bed) (job func(context.Context) (testbed.Job, error), beside []string, err error) {
	var args, load []string
	if ill := c.Illness(name); ill != nil {
		args, load, beside = ill.Sick, ill.Load, ill.Beside
	} else if run := c.Run(name); run != nil {
		args, load, beside = run.Args, run.Load, run.Beside
	} else {
		return nil, nil, fmt.Errorf("%s has no illness and no healthy run %q", c.Name, name)
	}
	return func(ctx context.Context) (testbed.Job, error) {
		program, err := bed.Build(ctx, c.Dir)
		return testbed.Job{Program: program, Args: slices.Concat(c.Args, args), Time: c.Time, Ready: c.Ready, Load: union(load, c.Load)}, err
	}, union(beside, c.Beside), nil
}

func specimenJob(s *specimen.Specimen, name, cache string) (func(context.Context) (testbed.Job, error), error) {
	sides := s.Sides()
	i := slices.IndexFunc(sides, func(side specimen.Side) bool { return side.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("the specimen %s has no side %q", s.Name, name)
	}
	return func(ctx context.Context) (testbed.Job, error) {
		program, err := s.Build(ctx, cache, name)
		return s.Job(sides[i], program, ""), err
	}, nil
}

// scoreRepeats records and diagnoses, or diagnoses what was kept, and writes the page.
func (o *options) scoreRepeats(ctx context.Context) error {
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	names := repeatedPrograms
	if o.cases != "" {
		names = strings.Split(o.cases, ",")
	}
	programs, err := o.repeatables(names, bed, filepath.Join(cache, "gowhy-field", "pairs"))
	if err != nil {
		return err
	}
	r := &Repeats{Schema: schema, Taken: o.provenance(ctx)}
	p := &progress{began: time.Now(), n: 2 * o.rounds * len(programs), tty: isTerminal(os.Stderr)}
	defer p.clear()
	asker := repeatRunner{bed: bed, keep: cmp.Or(o.rejudge, o.keep), again: o.rejudge != ""}
	// Rounds outside: a slow hour of the machine is then spread over all programs.
	for round := 1; round <= o.rounds; round++ {
		for _, beside := range []bool{false, true} {
			for _, program := range programs {
				p.tell(len(r.Answers), program.name)
				a := RepeatAnswer{Program: program.name, Beside: beside, Round: round}
				err := asker.ask(ctx, program, &a)
				switch {
				case ctx.Err() != nil:
					return interruptedError(len(r.Answers), p.n)
				case asker.again && errors.Is(err, fs.ErrNotExist):
					continue // it was not kept
				case err != nil:
					a.Failed = (&runner{bed: bed}).brief(err)
				}
				r.Answers = append(r.Answers, a)
			}
		}
	}
	r.Taken.TookMins = float64(int(time.Since(p.began).Minutes()*10)) / 10
	if err := r.save(o.repeatsFile()); err != nil {
		return err
	}
	for _, s := range samenessOf(r) {
		fmt.Fprintf(o.say, "  %s: %s the same quiet, %s beside a load, %s sure, %d contradictions\n", s.program, fraction(s.Quiet), fraction(s.Beside), fraction(s.Sure), len(s.contradicting))
	}
	return o.pageAgain()
}

// A repeatRunner has gowhy answer; what was kept is not recorded again.
type repeatRunner struct {
	bed   *testbed.Bed
	keep  string
	again bool // record nothing
}

func (r *repeatRunner) ask(ctx context.Context, p repeatable, a *RepeatAnswer) error {
	path := filepath.Join(r.keep, a.file())
	if r.keep == "" {
		path = filepath.Join(r.bed.Dir(), a.file())
		defer os.Remove(path)
	}
	if _, err := os.Stat(path); err != nil {
		if r.again {
			return err
		}
		job, err := p.job(ctx)
		if err != nil {
			return err
		}
		job.Out, job.Beside = path, p.beside
		if a.Beside {
			job.Beside = halfOfTheMachine()
		}
		if _, err := r.bed.Record(ctx, job); err != nil {
			return err
		}
	}
	_, err := r.bed.Answer(ctx, a, "diagnose", "--format", "json", path)
	return err
}

// file returns the name of the recording.
func (a *RepeatAnswer) file() string {
	name := strings.NewReplacer(":", "-", " ", "-", "/", "-").Replace(a.Program)
	if a.Beside {
		name += "-beside"
	}
	return fmt.Sprintf("%s-%d.gowhy", name, a.Round)
}

// loadRepeats reads saved answers; nil when there are none.
func loadRepeats(path string) (*Repeats, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(Repeats)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Schema != schema {
		return nil, fmt.Errorf("%s: schema %d; wanted %d", path, r.Schema, schema)
	}
	return r, nil
}

// save writes one answer a line.
func (r *Repeats) save(path string) (err error) {
	slices.SortStableFunc(r.Answers, func(a, b RepeatAnswer) int {
		return cmp.Or(cmp.Compare(a.Program, b.Program), compareBool(a.Beside, b.Beside), cmp.Compare(a.Round, b.Round))
	})
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	taken, err := json.Marshal(r.Taken)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\"schema\": %d,\n\"taken\": %s,\n\"answers\": [\n", schema, taken); err != nil {
		return err
	}
	if err := lines(w, r.Answers); err != nil {
		return err
	}
	_, err = w.WriteString("]}\n")
	return err
}

// first returns the first answer: the first finding that accuses, or else the verdict.
func (a *RepeatAnswer) first() *specimen.Finding {
	if len(a.Findings) == 0 || a.Findings[0].Remark { // remarks rank last
		return nil
	}
	return &a.Findings[0]
}

// sure reports whether the answer is one that a reader may act on: a cause with high
// confidence, or that the program is well or at rest. All else says that it is unsure.
func (a *RepeatAnswer) sure() bool {
	if f := a.first(); f != nil {
		return f.Confidence == "high"
	}
	return a.Verdict == "healthy" || a.Verdict == "idle"
}

// same reports whether two answers begin with the same cause at a function that both
// name, or say the same of a program without one.
func (a *RepeatAnswer) same(b *RepeatAnswer) bool {
	x, y := a.first(), b.first()
	if x == nil || y == nil {
		return x == y && a.Verdict == b.Verdict
	}
	return sameCause(x, y)
}

func sameCause(x, y *specimen.Finding) bool {
	if x.Rule != y.Rule {
		return false
	}
	return len(x.Where) == 0 || len(y.Where) == 0 || slices.ContainsFunc(x.Where, func(f string) bool { return slices.Contains(y.Where, f) })
}

// denies reports whether a does not know at all what b begins with: then a reader of both
// has two programs before him.
func (a *RepeatAnswer) denies(b *RepeatAnswer) bool {
	y := b.first()
	if y == nil {
		return a.first() != nil || a.Verdict != b.Verdict
	}
	return !knows(a.Findings, y)
}

// knows reports whether a cause is anywhere among findings.
func knows(findings []specimen.Finding, y *specimen.Finding) bool {
	return slices.ContainsFunc(findings, func(f specimen.Finding) bool { return sameCause(&f, y) || knows(f.Symptoms, y) })
}

// A sameness is how alike the answers about one program are.
type sameness struct {
	program string
	// Quiet and Beside are, of answers that are sure, those that are the usual one.
	Quiet, Beside Share
	Sure          Share // of all answers
	Same          Share // of all answers, sure or not
	Failed        int
	usual         *RepeatAnswer
	contradicting []*RepeatAnswer // sure, and deny the usual one
}

// samenessOf judges the answers about each program.
func samenessOf(r *Repeats) (list []sameness) {
	for i := range r.Answers {
		name := r.Answers[i].Program
		if slices.ContainsFunc(list, func(s sameness) bool { return s.program == name }) {
			continue
		}
		var answers []*RepeatAnswer
		for j := range r.Answers {
			if a := &r.Answers[j]; a.Program == name {
				answers = append(answers, a)
			}
		}
		list = append(list, sameAnswers(name, answers))
	}
	return list
}

func sameAnswers(name string, answers []*RepeatAnswer) sameness {
	s := sameness{program: name}
	var all, sure []*RepeatAnswer
	for _, a := range answers {
		if a.Failed != "" {
			s.Failed++
			continue
		}
		all = append(all, a)
		if s.Sure.add(a.sure()); a.sure() {
			sure = append(sure, a)
		}
	}
	if s.usual = usual(sure); s.usual == nil {
		s.usual = usual(all)
	}
	for _, a := range all {
		s.Same.add(a.same(s.usual))
	}
	for _, a := range sure {
		of := &s.Quiet
		if a.Beside {
			of = &s.Beside
		}
		of.add(a.same(s.usual))
		if a.denies(s.usual) {
			s.contradicting = append(s.contradicting, a)
		}
	}
	return s
}

// usual returns the answer that most others are the same as; nil of none.
func usual(answers []*RepeatAnswer) (best *RepeatAnswer) {
	most := 0
	for _, a := range answers {
		n := 0
		for _, b := range answers {
			if a.same(b) {
				n++
			}
		}
		if n > most {
			best, most = a, n
		}
	}
	return best
}

// words returns an answer in a line.
func (a *RepeatAnswer) words() string {
	f := a.first()
	if f == nil {
		return a.Verdict
	}
	return f.Rule + at(f.Where)
}

func at(where []string) string {
	if len(where) == 0 {
		return ""
	}
	return " in " + where[0]
}

// repeats is the section about answers that are to be the same each time.
func (p *page) repeats(r *Repeats) {
	if r == nil {
		return
	}
	p.line("## The same answer each time")
	p.line("")
	list := samenessOf(r)
	var quiet, beside, sure, same Share
	contradictions := 0
	var rows [][]string
	for _, s := range list {
		quiet.plus(s.Quiet)
		beside.plus(s.Beside)
		sure.plus(s.Sure)
		same.plus(s.Same)
		contradictions += len(s.contradicting)
		usual := "none"
		if s.usual != nil {
			usual = s.usual.words()
		}
		rows = append(rows, []string{safe(s.program), safe(usual), fraction(s.Quiet), fraction(s.Beside), fraction(s.Sure), fraction(s.Same), fmt.Sprint(len(s.contradicting)), fmt.Sprint(s.Failed)})
	}
	rows = append(rows, []string{"all", "", share(quiet), share(beside), share(sure), share(same), fmt.Sprint(contradictions), ""})
	p.line("%d programs, each recorded %d times with nothing beside it and as often beside a load", len(list), r.Taken.Rounds)
	p.line("that takes half of the machine. An answer is sure when its first cause has high confidence,")
	p.line("or the program is called healthy or idle. Of those that are sure it is counted how many")
	p.line("begin with the usual one, the same rule at a function that both name; to reach are 19 of 20.")
	p.line("One that does not know the usual cause at all contradicts it; to reach is none. Made by")
	p.line("`go run ./lab/score -same` on %s with %s, commit %s.", r.Taken.Date, safe(r.Taken.Go), safe(r.Taken.Commit))
	p.table(2, []string{"program", "usual answer", "the same, quiet", "the same, beside a load", "sure at all", "the same, sure or not", "contradictions", "no answer"}, rows)
	rows = nil
	for _, s := range list {
		for _, a := range s.contradicting {
			rows = append(rows, []string{safe(a.file()), safe(s.usual.words()), safe(a.words())})
		}
	}
	if len(rows) > 0 {
		p.line("Contradictions:")
		p.table(3, []string{"recording", "usual", "said"}, rows)
	}
}
