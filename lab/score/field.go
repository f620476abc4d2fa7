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
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/lab/internal/specimen"
	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// Field is what gowhy said of the specimens of lab/field/pairs, saved as field.json
// beside score.json.
type Field struct {
	Schema  int               `json:"schema"`
	Taken   Provenance        `json:"taken"`
	Anew    []Provenance      `json:"anew,omitempty"` // of cases that were asked for alone later
	Answers []specimen.Answer `json:"answers"`
}

func (o *options) fieldFile() string { return filepath.Join(filepath.Dir(o.out), "field.json") }

// loadField reads saved answers; nil when there are none.
func loadField(path string) (*Field, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := new(Field)
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.Schema != schema {
		return nil, fmt.Errorf("%s: schema %d; wanted %d", path, f.Schema, schema)
	}
	return f, nil
}

// save writes one answer a line: a run that changed is a line that changed.
func (f *Field) save(path string) (err error) {
	slices.SortStableFunc(f.Answers, func(a, b specimen.Answer) int {
		return cmp.Or(cmp.Compare(a.Specimen, b.Specimen), cmp.Compare(a.Side, b.Side), compareBool(a.Beside, b.Beside))
	})
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := writeHead(w, f.Taken, f.Anew); err != nil {
		return err
	}
	if err := lines(w, f.Answers); err != nil {
		return err
	}
	_, err = w.WriteString("]}\n")
	return err
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// specimens returns those of the lab, or those that were asked for.
func (o *options) specimens() (chosen []*specimen.Specimen, err error) {
	all, err := specimen.ReadAll(filepath.Join(o.lab, "field", "pairs", "testdata"))
	if err != nil || o.cases == "" {
		return all, err
	}
	for _, name := range strings.Split(o.cases, ",") {
		i := slices.IndexFunc(all, func(s *specimen.Specimen) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no specimen %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// quietly is what was made anew where nothing was beside the specimens.
const quietly = "quiet answers"

// scoreField records and diagnoses specimens, or diagnoses what was kept again, and
// writes the page with their figures.
func (o *options) scoreField(ctx context.Context) error {
	chosen, err := o.specimens()
	if err != nil {
		return err
	}
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	old, err := loadField(o.fieldFile())
	if err != nil {
		return err
	}
	f := &Field{Schema: schema, Taken: o.provenance(ctx)}
	r := fieldRunner{bed: bed, cache: filepath.Join(cache, "gowhy-field", "pairs"), keep: cmp.Or(o.rejudge, o.keep), again: o.rejudge != ""}
	loads := []bool{false, true}
	if o.quiet {
		loads, f.Taken.Only = loads[:1], quietly
	}
	p := &progress{began: time.Now(), n: len(loads) * len(chosen), tty: isTerminal(os.Stderr)}
	defer p.clear()
	for i, beside := range loads {
		for j, s := range chosen {
			done := i*len(chosen) + j
			p.tell(done, s.Name)
			f.Answers = append(f.Answers, r.all(ctx, s, beside)...)
			if ctx.Err() != nil {
				return interruptedError(done, p.n)
			}
		}
	}
	f.Taken.TookMins = float64(int(time.Since(p.began).Minutes()*10)) / 10
	if old != nil && o.cases != "" { // what was not asked for stays
		if r.again {
			f.Taken.Only = "diagnoses"
		}
		f.Taken, f.Anew = old.Taken, append(slices.DeleteFunc(old.Anew, func(a Provenance) bool {
			return a.Cases == f.Taken.Cases && (a.Only == f.Taken.Only || !r.again && !o.quiet)
		}), f.Taken)
		f.Answers = append(f.Answers, slices.DeleteFunc(old.Answers, func(a specimen.Answer) bool {
			if r.again { // what was not kept could not be asked
				return slices.ContainsFunc(f.Answers, func(b specimen.Answer) bool {
					return a.Specimen == b.Specimen && a.Side == b.Side && a.Beside == b.Beside
				})
			}
			return (!o.quiet || !a.Beside) && slices.ContainsFunc(chosen, func(s *specimen.Specimen) bool { return s.Name == a.Specimen })
		})...)
	}
	if err := f.save(o.fieldFile()); err != nil {
		return err
	}
	return o.pageAgain()
}

// judgeAnswers prints how often the answers in a file are right.
func (o *options) judgeAnswers() error {
	all, err := o.specimens()
	if err != nil {
		return err
	}
	f, err := loadField(o.judge)
	if err != nil {
		return err
	}
	if f == nil {
		return fmt.Errorf("there is no file %s", o.judge)
	}
	var p page
	p.field(f, all)
	_, err = fmt.Fprint(o.say, p.String())
	return err
}

// A fieldRunner asks gowhy about specimens.
type fieldRunner struct {
	bed         *testbed.Bed
	cache, keep string
	again       bool // diagnose what was kept and record nothing
}

// all returns the answers to all sides of a specimen; one that could not be run says why.
func (r *fieldRunner) all(ctx context.Context, s *specimen.Specimen, beside bool) (answers []specimen.Answer) {
	for _, side := range s.Sides() {
		a, err := r.one(ctx, s, side, beside)
		if errors.Is(err, fs.ErrNotExist) && r.again {
			continue // it was not kept
		}
		if a == nil || err != nil {
			a = &specimen.Answer{Specimen: s.Name, Side: side.Name}
			a.Failed = (&runner{bed: r.bed}).brief(err)
		}
		a.Beside = beside
		answers = append(answers, *a)
	}
	return answers
}

func (r *fieldRunner) one(ctx context.Context, s *specimen.Specimen, side specimen.Side, beside bool) (*specimen.Answer, error) {
	name := s.Name + "-" + side.Name
	if beside {
		name += "-beside"
	}
	out := filepath.Join(cmp.Or(r.keep, r.bed.Dir()), name+".gowhy")
	if r.keep != "" { // what was kept is not recorded again
		_, err := os.Stat(out)
		if err == nil {
			return withTop(s, out)(s.Diagnose(ctx, r.bed, side, out))
		}
		if r.again {
			return nil, err
		}
	} else {
		defer os.Remove(out)
	}
	var with []string
	if beside {
		with = halfOfTheMachine()
	}
	return withTop(s, out)(s.Ask(ctx, r.bed, r.cache, side, out, with))
}

// withTop adds to an answer what pprof -top says of the same recording.
func withTop(s *specimen.Specimen, recording string) func(*specimen.Answer, error) (*specimen.Answer, error) {
	return func(a *specimen.Answer, err error) (*specimen.Answer, error) {
		if a == nil || err != nil {
			return a, err
		}
		top, err := topOf(recording, func(name string) bool {
			return strings.HasPrefix(name, "main.") || strings.HasPrefix(name, s.Name+".") || strings.HasPrefix(name, s.Name+"/")
		})
		a.Top = top.functions()
		return a, err
	}
}

// halfOfTheMachine returns a command that keeps half of the CPUs busy until it is ended.
func halfOfTheMachine() []string {
	const spin = "while :; do :; done"
	return []string{"sh", "-c", strings.Repeat("("+spin+") & ", max(1, runtime.NumCPU()/2)) + "wait"}
}

// fieldFigures are how often gowhy is right about a half of the field.
type fieldFigures struct {
	half         specimen.Half
	beside       bool
	Strict       Share // of sick sides whose difference counts: the cause is accused before all else
	First, Three Share // named before all else, remarks too; among three
	Green        Share // called healthy or idle
	Top          Share // of those with guilty functions: one is the largest of pprof -top
	Silent       Share // of well sides, about the cause
	False        int   // findings of runs that are healthy
	Well         Share // of lines of what is fine in sick sides: those that are wrong
	Healthy      int   // runs that are
	// Limits that were not exceeded, and estimates in whose interval a repair was.
	Limits, Estimates Share
	Same, Failed      int // pairs that do not differ here; runs without an answer
	wrong             []fieldWrong
	broken            []fieldWrong // promises
}

// A fieldWrong is an answer that is not right.
type fieldWrong struct{ run, want, said string }

// tallyField judges the answers about one half, quiet or beside a load.
func tallyField(f *Field, all []*specimen.Specimen, half specimen.Half, beside bool) (t fieldFigures) {
	t.half, t.beside = half, beside
	for _, s := range all {
		if s.Half() != half {
			continue
		}
		if !s.Counts() {
			t.Same++
			continue
		}
		for i := range f.Answers {
			if a := &f.Answers[i]; a.Specimen == s.Name && a.Beside == beside {
				t.add(s, a)
			}
		}
	}
	return t
}

func (t *fieldFigures) add(s *specimen.Specimen, a *specimen.Answer) {
	j := s.Judge(a)
	said := a.Verdict
	if rules := specimen.Words(a.Findings); rules != "" {
		said += ": " + rules
	}
	wrong := func(want string) {
		t.wrong = append(t.wrong, fieldWrong{s.Name + "/" + a.Side, want, said})
	}
	switch {
	case a.Failed != "":
		t.Failed++
		said = a.Failed
		wrong("an answer")
	case s.Kind == specimen.Healthy:
		t.Healthy++
		if t.False += len(j.False); len(j.False) > 0 {
			wrong("silence")
		}
	case a.Side == "sick":
		t.Strict.add(j.First)
		t.First.add(j.Rank == 1)
		t.Three.add(j.Rank >= 1 && j.Rank <= 3)
		t.Green.add(j.Rank == 0 && (a.Verdict == "healthy" || a.Verdict == "idle"))
		if len(s.Guilty) > 0 && a.Top != nil {
			t.Top.add(s.Names(a.Top))
		}
		if held, known := s.Held(j.Bound); known {
			if j.Bound.Kind == "limit" {
				t.Limits.add(held)
			} else {
				t.Estimates.add(held)
			}
			if !held {
				t.broken = append(t.broken, fieldWrong{s.Name, fmt.Sprintf("%.0f %%", 100*(1-1/s.Differs.Ratio)), promiseWords(j.Bound)})
			}
		}
		for i := range a.Lines {
			t.Well.add(i < len(j.Well))
		}
		if len(j.Well) > 0 {
			said += "; fine: " + strings.Join(j.Well, "; ")
		}
		if j.Rank != 1 {
			wrong(strings.Join(s.Rules, " or ") + " in " + strings.Join(s.Guilty, ", "))
		}
	default:
		t.Silent.add(!j.Named)
		if j.Named {
			wrong("silence about " + strings.Join(s.Rules, ", "))
		}
	}
}

// fieldSpan says which of the specimens some are, whose names have commas between them.
func fieldSpan(names string, all []*specimen.Specimen) string {
	list := strings.Split(names, ",")
	for _, half := range []specimen.Half{specimen.Learning, specimen.Exam} {
		whole := 0
		for _, s := range all {
			if s.Half() != half {
				continue
			}
			if !slices.Contains(list, s.Name) {
				whole = -1
				break
			}
			whole++
		}
		if whole == len(list) {
			return "all of the half " + string(half)
		}
	}
	return list[0] + " to " + list[len(list)-1]
}

// field is the section about programs that nobody here wrote.
func (p *page) field(f *Field, all []*specimen.Specimen) {
	if f == nil {
		return
	}
	p.line("## Programs that nobody here wrote")
	p.line("")
	count := map[specimen.Kind]int{}
	for _, s := range all {
		count[s.Kind]++
	}
	p.line("Of `lab/field/pairs`: %d pairs of released versions of modules before and after a", count[specimen.Modules])
	p.line("documented repair, %d illnesses that reviewers complain of, %d programs shaped like", count[specimen.Reviews], count[specimen.Apps])
	p.line("applications with an illness, and %d healthy programs under three loads. Rules may be made", count[specimen.Healthy])
	p.line("by the half learning; the exam was written by nobody who works on rules, and is only read")
	p.line("here. Each was recorded with nothing beside it and beside")
	p.line("a load that takes half of the machine. Judged on %s with %s, commit %s.", f.Taken.Date, safe(f.Taken.Go), safe(f.Taken.Commit))
	for _, a := range f.Anew {
		did := "recorded anew"
		switch a.Only {
		case "diagnoses":
			did = "diagnosed again"
		case quietly:
			did = "recorded anew with nothing beside"
		}
		p.line("%d of them, %s, were %s on %s with %s, commit %s.", strings.Count(a.Cases, ",")+1, fieldSpan(a.Cases, all), did, a.Date, safe(a.Go), safe(a.Commit))
	}
	var rows [][]string
	var figures []fieldFigures
	for _, half := range []specimen.Half{specimen.Learning, specimen.Exam} {
		for _, beside := range []bool{false, true} {
			t := tallyField(f, all, half, beside)
			figures = append(figures, t)
			name := string(half)
			if beside {
				name += ", half of the machine taken"
			}
			rows = append(rows, []string{name, share(t.Strict), share(t.First), share(t.Three), share(t.Top), share(t.Green), share(t.Silent), alarmWords(t.False, t.Healthy), share(t.Well), fraction(t.Limits) + ", " + fraction(t.Estimates), fmt.Sprint(t.Same), fmt.Sprint(t.Failed)})
		}
	}
	p.table(1, []string{"half", "right cause accused first", "named first, remarks too", "among three", "guilty function the largest of `pprof -top`", "sick called healthy or idle, cause not named", "repaired version silent about it", "false findings in a healthy run", "lines of what is fine that are wrong", "limits and estimates of CPU that held", "no difference here", "no answer"}, rows)
	p.line("To reach, in the half learning, in the exam, and in the exam beside that load: the right")
	p.line("cause accused first in 80, 70 and 62 %% of the sick sides, named first in 92, 85 and 80 %%")
	p.line("and among three in 98, 95 and 92 %%, silence about it in 99, 98 and 98 %% of the repaired ones,")
	p.line("0.05 false findings in a healthy run, 1, 2 and 2 %% of the lines of what is fine wrong, and 95 %%")
	p.line("of the limits and 80 %% of the estimates held.")
	p.line("")
	p.line("A truth that names serialwait is met by waitchain, too, which was split off after most were written.")
	p.line("A line of what is fine is wrong in a sick run whose cause was not named, by a rule")
	p.line("that stands for it. A limit held when the repair saved no more CPU, an estimate when it")
	p.line("saved something in the interval; within 5 %% of all, which is how well that was measured.")
	p.line("")
	p.mechanismTable(f, all)
	for _, t := range figures {
		if t.beside || len(t.wrong) == 0 {
			continue
		}
		p.line("Wrong answers of the half %s, with nothing beside:", string(t.half))
		var rows [][]string
		for _, w := range t.wrong {
			rows = append(rows, []string{safe(w.run), safe(w.want), safe(w.said)})
		}
		p.table(3, []string{"run", "wanted", "said"}, rows)
		if len(t.broken) == 0 {
			continue
		}
		p.line("Promises that did not hold:")
		rows = nil
		for _, w := range t.broken {
			rows = append(rows, []string{safe(w.run), w.want, w.said})
		}
		p.table(3, []string{"pair", "CPU that the repair saved", "promised"}, rows)
	}
}

// promiseWords says what a finding promised.
func promiseWords(b *specimen.Bound) string {
	if b.Kind == "limit" {
		return fmt.Sprintf("at most %.0f %%", 100*b.Share)
	}
	return fmt.Sprintf("%.0f to %.0f %%", 100*b.Share*b.Low/b.Value, 100*b.Share*b.High/b.Value)
}
