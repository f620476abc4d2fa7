// Score runs every case of the lab sick, healed and healthy through gowhy and
// writes down how often gowhy is right: lab/SCORE.md, from lab/score.json.
//
//	go run ./lab/score                     every case, five times, with experiments
//	go run ./lab/score -cases zonedns,top  only these
//	go run ./lab/score -short              each run once, without doses and experiments
//	go run ./lab/score -from lab/score.json   the page again, from saved results
//	go run ./lab/score -waits              programs that wait, by kind of evidence: lab/WAITS.md
//	go run ./lab/score -holders            programs that hold memory: lab/HOLDERS.md
//	go run ./lab/score -account            how far the account of memory adds up: lab/HOLDERS.md
//	go run ./lab/score -stories            the case studies at three sizes and on real servers: lab/STORIES.md
//	go run ./lab/score -same               whether ten programs get the same answer each time: lab/SCORE.md
//	go run ./lab/score -live               what gowhy top says of them while they run: lab/LIVE.md
//
// It hides how an answer is judged by what is true of the case, and how the two
// baselines read the same evidence. Making runs ([runner]), judging them
// ([score]) and writing the page ([writePage]) are apart: what was saved is
// judged again without running anything. Its types are [Results] and [Score].
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/lab/internal/specimen"
	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// options are the flags.
type options struct {
	rounds        int
	cases         string
	short, verify bool
	pairs         int
	busyRepeats   int
	out           string
	from, into    string // files of results
	prove         bool
	only          string // name of experiments
	keep, rejudge string // folders of recordings
	quiet         bool   // specimens with nothing beside them only
	seed          uint64
	lab           string // folder of the cases
	field         bool   // the specimens of lab/field/pairs instead
	judge         string // file of answers about those, of any tool
	watch         bool   // the programs while they run instead
	waits         bool   // the programs of lab/waits instead
	holders       bool   // the programs of lab/holders instead
	account       bool   // how far the account of memory adds up instead
	releases      string // of Go, that build these
	stories       bool   // the case studies at several sizes and on real servers instead
	same          bool   // the same programs again and again instead
	live          liveOptions
	say           io.Writer
}

func main() {
	o := options{say: os.Stdout}
	flag.IntVar(&o.rounds, "runs", 5, "how `often` each run is made")
	flag.StringVar(&o.cases, "cases", "", "only these `CASES`, separated by commas")
	flag.BoolVar(&o.short, "short", false, "each run once, without doses and experiments")
	flag.BoolVar(&o.verify, "verify", true, "make the experiments, too; -short makes none")
	flag.IntVar(&o.pairs, "pairs", 10, "how many `pairs` of runs an experiment has at most")
	flag.IntVar(&o.busyRepeats, "repeats", 2, "how `often` a run is made again because others had the machine")
	flag.StringVar(&o.out, "o", "", "write the page to this `FILE`, and the results beside it as score.json (default SCORE.md of the lab)")
	flag.StringVar(&o.from, "from", "", "run nothing: write the page again from this `FILE` of results")
	flag.StringVar(&o.into, "into", "", "put the results into this `FILE` of results, in the place of the same cases' there")
	flag.BoolVar(&o.prove, "prove", false, "make the experiments only")
	flag.StringVar(&o.only, "only", "", "of -prove, only experiments with this `NAME`")
	flag.StringVar(&o.keep, "keep", "", "keep all recordings in this `DIRECTORY`")
	flag.StringVar(&o.rejudge, "again", "", "make no runs: diagnose the recordings that -keep left in this `DIRECTORY` again; with -into")
	flag.Uint64Var(&o.seed, "seed", 0, "`NUMBER` of the random order (default any)")
	flag.BoolVar(&o.field, "field", false, "record and judge the specimens of lab/field/pairs instead of the cases, quiet and beside a load")
	flag.BoolVar(&o.quiet, "quiet", false, "with -field: nothing beside them only; what is known beside a load stays")
	flag.StringVar(&o.judge, "judge", "", "run nothing: judge the answers about the specimens of lab/field/pairs in this `FILE`, of any tool")
	flag.BoolVar(&o.watch, "live", false, "have gowhy top watch the cases while they run, and write LIVE.md and live.json")
	flag.BoolVar(&o.waits, "waits", false, "run the programs of lab/waits instead, and write WAITS.md and waits.json; -cases may have names like mutex-*")
	flag.BoolVar(&o.holders, "holders", false, "run the programs of lab/holders instead, and write HOLDERS.md and holders.json")
	flag.BoolVar(&o.account, "account", false, "ask what the memory of forty programs is instead, and write account.json and HOLDERS.md")
	flag.StringVar(&o.releases, "releases", ownRelease, "with -holders: build them with these `RELEASES` of Go, separated by commas: local, go1.22.12")
	flag.BoolVar(&o.stories, "stories", false, "run the case studies at several sizes, sick and healed, on the servers of lab/up too, and write STORIES.md and stories.json;\nwith -keep, what is kept there already is not run again")
	flag.BoolVar(&o.same, "same", false, "record ten programs -runs times each, quiet and beside a load, and write how often the answer is the same;\n-cases may have CASE:RUN of the lab and SPECIMEN:SIDE of lab/field/pairs")
	flag.DurationVar(&o.live.sick, "live-time", 40*time.Second, "how long a sick program is watched; 0 watches none")
	flag.DurationVar(&o.live.well, "live-healthy", liveQuiet, "how long a healed or healthy one is; 0 watches none")
	flag.IntVar(&o.live.sample, "live-cases", 0, "only `N` sick programs and N well ones, chosen by -seed; 0 is all")
	flag.BoolVar(&o.live.fresh, "live-new", false, "only those that the results of -into do not have")
	flag.IntVar(&o.live.atOnce, "live-at-once", 0, "`N` well programs at the same time, whatever they use; 0 puts only those together that use little")
	flag.StringVar(&o.live.trace, "live-trace", "sick", "`WHICH` programs are watched a second time, with execution traces: none, sick or all; only is sick ones, and these not without")
	flag.StringVar(&o.lab, "lab", "", "`DIRECTORY` of the cases (default the lab of this checkout)")
	flag.Usage = usage
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		stop()
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprint(os.Stderr, `  go run ./lab/score                        every case, five times, with experiments
  go run ./lab/score -cases zonedns,top     only these cases
  go run ./lab/score -short -o /tmp/S.md    each run once, somewhere else
  go run ./lab/score -from lab/score.json   the page again, from saved results
  go run ./lab/score -cases top -into lab/score.json   one case anew
  go run ./lab/score -prove -into lab/score.json       the experiments anew
  go run ./lab/score -again DIR -into lab/score.json   other rules, the same recordings
  go run ./lab/score -live                  what gowhy top says while they run
  go run ./lab/score -waits                 programs that wait, from each kind of evidence
  go run ./lab/score -holders               programs that hold memory, while they run and from cores
  go run ./lab/score -account               how far the account of memory adds up
  go run ./lab/score -stories -runs 2 -keep DIR   the case studies at three sizes, on the servers of lab/up
  go run ./lab/score -stories -cases top -into lab/stories.json   one of these cases anew
  go run ./lab/score -same -keep DIR     whether programs get the same answer each time
  go run ./lab/score -field -keep DIR       programs that nobody here wrote
  go run ./lab/score -field -quiet -cases NAMES   some of these with nothing beside them
  go run ./lab/score -field -again DIR      other rules, the same recordings of these
  go run ./lab/score -judge FILE            how often the answers of any tool are right

Runs every case of the lab sick, healed and healthy through gowhy record and
gowhy diagnose, and writes how often gowhy is right. GOWHY=FILE in the
environment is the gowhy to use instead of the one of this checkout.

`)
	flag.PrintDefaults()
}

func (o *options) run(ctx context.Context) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not understood; cases are chosen by -cases", flag.Arg(0))
	}
	if o.rounds < 1 || o.rounds > 100 || o.pairs < 6 || o.pairs > 1000 || o.busyRepeats < 0 || o.busyRepeats > 100 {
		return errors.New("-runs is 1 to 100, -pairs 6 to 1000 and -repeats 0 to 100")
	}
	if err := o.places(); err != nil {
		return err
	}
	if o.judge != "" {
		return o.judgeAnswers()
	}
	if o.watch {
		return o.scoreLive(ctx)
	}
	if o.waits {
		return o.scoreWaits(ctx)
	}
	if o.holders {
		return o.scoreHolders(ctx)
	}
	if o.account {
		return o.scoreAccount(ctx)
	}
	if o.stories {
		if o.prove || o.only != "" || o.keep != "" && o.rejudge != "" {
			return errors.New("-stories goes with -runs, -cases, -keep or -again, -into, -from, -o and -lab")
		}
		return o.scoreStories(ctx)
	}
	if o.same {
		if o.short || o.prove || o.into != "" || o.from != "" || o.only != "" || o.keep != "" && o.rejudge != "" {
			return errors.New("-same goes with -runs, -cases, -keep or -again, -o and -lab")
		}
		return o.scoreRepeats(ctx)
	}
	if o.field {
		if o.short || o.prove || o.into != "" || o.from != "" || o.only != "" || o.keep != "" && o.rejudge != "" {
			return errors.New("-field goes with -keep or -again, -cases, -o and -lab")
		}
		return o.scoreField(ctx)
	}
	all, faults := truth.ReadAll(o.lab)
	if faults != nil && (o.cases == "" || o.from != "") {
		return faults
	}
	if o.from != "" {
		return o.again(all)
	}
	switch {
	case o.prove && o.into == "":
		return errors.New("-prove makes experiments only: -into lab/score.json puts them beside answers")
	case o.rejudge != "" && (o.into == "" || o.prove || o.short || o.keep != ""):
		return errors.New("-again needs -into lab/score.json, whose runs it diagnoses again, and neither makes runs nor experiments")
	case o.only != "" && !o.prove:
		return errors.New("-only is for -prove")
	case o.prove && (o.short || !o.verify):
		return errors.New("-prove makes experiments, which -short and -verify=false leave out")
	}
	cases, err := choose(all, o.cases)
	if err != nil {
		return errors.Join(err, faults) // it may be the one with the faults
	}
	var old *Results
	if o.into != "" { // what cannot be read is better known now
		if old, err = load(o.into); err != nil {
			return err
		}
	}
	r := old
	if o.rejudge != "" {
		err = o.diagnoseAgain(ctx, old, cases)
	} else {
		r, err = o.results(ctx, cases)
	}
	if err != nil {
		return err
	}
	if old != nil && o.rejudge == "" {
		old.renew(r)
		r = old
	}
	if err := r.save(o.resultsFile()); err != nil {
		return err
	}
	return o.page(r, all)
}

// places fills in where things are.
func (o *options) places() error {
	if o.lab == "" {
		root, err := testbed.Checkout()
		if err != nil {
			return err
		}
		o.lab = filepath.Join(root, "lab")
	}
	page := "SCORE.md"
	switch {
	case o.watch:
		page = "LIVE.md"
	case o.waits:
		page = "WAITS.md"
	case o.holders, o.account:
		page = "HOLDERS.md"
	case o.stories:
		page = "STORIES.md"
	}
	o.out = cmp.Or(o.out, filepath.Join(o.lab, page))
	o.seed = cmp.Or(o.seed, 1+rand.Uint64N(maxSeed))
	if o.short {
		o.rounds, o.verify = 1, false
	}
	if o.from == "" { // better now than after the last run
		if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
			return err
		}
	}
	if o.keep == "" {
		return nil
	}
	var err error
	if o.keep, err = filepath.Abs(o.keep); err != nil {
		return err
	}
	return os.MkdirAll(o.keep, 0o755)
}

func (o *options) resultsFile() string {
	name := "score.json"
	if o.watch {
		name = "live.json"
	}
	return filepath.Join(filepath.Dir(o.out), name)
}

func (o *options) reasonsFile() string { return filepath.Join(o.lab, "score", "reasons.yaml") }

// again writes the page of saved results.
func (o *options) again(cases []*truth.Case) error {
	r, err := load(o.from)
	if err != nil {
		return err
	}
	return o.page(r, cases)
}

// pageAgain writes the page of the results that lie beside it.
func (o *options) pageAgain() error {
	all, faults := truth.ReadAll(o.lab)
	if faults != nil {
		return faults
	}
	r, err := load(o.resultsFile())
	if err != nil {
		return err
	}
	return o.page(r, all)
}

// page judges results, writes the page and says what is in its head.
func (o *options) page(r *Results, cases []*truth.Case) (err error) {
	s, err := score(r, cases)
	if err != nil {
		return err
	}
	reasons, err := truth.Reasons(o.reasonsFile())
	if err != nil {
		return err
	}
	field, err := loadField(o.fieldFile())
	if err != nil {
		return err
	}
	specimens, err := specimen.ReadAll(filepath.Join(o.lab, "field", "pairs", "testdata"))
	if err != nil {
		return err
	}
	waits, known, err := o.savedWaits()
	if err != nil {
		return err
	}
	holders, err := o.savedHolders()
	if err != nil {
		return err
	}
	repeats, err := loadRepeats(o.repeatsFile())
	if err != nil {
		return err
	}
	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	p := page{repeated: repeats, r: r, s: s, reasons: reasons, answers: field, specimens: specimens, waiting: waits, known: known, holding: holders}
	if err := errors.Join(p.write(f), f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(o.say, "wrote %s\n", o.out)
	for _, b := range s.bars() {
		mark := "reached"
		if !b.met {
			mark = "MISSED "
		}
		fmt.Fprintf(o.say, "  %s  %-48s %s, wanted %s\n", mark, b.what, b.have, b.want)
	}
	for _, w := range s.Wrong {
		if reason(reasons, w) == "" {
			fmt.Fprintf(o.say, "  wrong, and %s: %s#%d: wanted %s; said %s\n", notLookedAt, w.Key, w.Round, w.Want, printable(w.Said))
		}
	}
	return nil
}

// printable keeps what a program's names say from the terminal.
func printable(s string) string { return strings.ReplaceAll(safe(s), `\`, "") }

// results makes all runs and experiments.
func (o *options) results(ctx context.Context, cases []*truth.Case) (*Results, error) {
	bed, err := testbed.New("")
	if err != nil {
		return nil, err
	}
	defer bed.Close()
	r := &Results{Schema: schema, Taken: o.provenance(ctx)}
	var tasks []task
	if !o.prove {
		tasks = plan(cases, o.rounds, !o.short, o.seed)
	}
	var all []proof
	if o.verify {
		all = proofs(cases)
		if o.only != "" {
			all = slices.DeleteFunc(all, func(p proof) bool { return p.name != o.only })
		}
	}
	fmt.Fprintf(os.Stderr, "score: %d runs and %d experiments of %d cases, about %v; seed %d\n", len(tasks), len(all), len(cases), estimate(tasks, all, o.pairs).Round(time.Minute), o.seed)
	if err := build(ctx, bed, cases); err != nil {
		return nil, err
	}
	p := &progress{began: time.Now(), n: len(tasks) + len(all), tty: isTerminal(os.Stderr)}
	defer p.clear()
	runner := &runner{bed: bed, keep: o.keep, busyRepeats: o.busyRepeats}
	for i, t := range tasks {
		a := t.answer()
		p.tell(i, key(&a))
		r.Answers = append(r.Answers, runner.do(ctx, t))
		if ctx.Err() != nil {
			return nil, interruptedError(i, p.n)
		}
	}
	for i, e := range all {
		p.tell(len(tasks)+i, e.c.Name+"/"+e.name+"/"+string(e.kind))
		r.Trials = append(r.Trials, runner.prove(ctx, e, o.pairs, o.seed))
		if ctx.Err() != nil {
			return nil, interruptedError(len(tasks)+i, p.n)
		}
	}
	r.sort()
	r.Taken.TookMins = float64(int(time.Since(p.began).Minutes()*10)) / 10
	return r, nil
}

// diagnoseAgain lets the present rules answer from the recordings that are kept. What
// the runs were, and that gowhy asked for them to be made again, stays.
func (o *options) diagnoseAgain(ctx context.Context, r *Results, cases []*truth.Case) error {
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	if _, err := bed.Gowhy(ctx); err != nil {
		return err
	}
	kept, runner := &runner{keep: o.rejudge}, &runner{bed: bed}
	p := &progress{began: time.Now(), n: len(r.Answers), tty: isTerminal(os.Stderr)}
	defer p.clear()
	found := 0
	for i := range r.Answers {
		a := &r.Answers[i]
		c := slices.IndexFunc(cases, func(c *truth.Case) bool { return c.Name == a.Case })
		path := kept.recordingPath(a)
		if _, err := os.Stat(path); err != nil || c < 0 {
			continue
		}
		p.tell(i, key(a))
		found++
		t := task{c: cases[c], beside: besideOf(cases[c], a)}
		took := a.DiagnoseSeconds // when nothing else ran
		if err := runner.diagnose(ctx, t, path, a); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		a.DiagnoseSeconds = took
	}
	if found == 0 {
		return fmt.Errorf("%s has none of the recordings: -keep leaves them", o.rejudge)
	}
	t := o.provenance(ctx)
	t.Only, t.TookMins = fmt.Sprintf("diagnoses of the same %d recordings", found), float64(int(time.Since(p.began).Minutes()*10))/10
	r.Anew = append(r.Anew, t)
	return nil
}

// interruptedError returns the end of a score that would not be one: what is left out
// could have been what is wrong.
func interruptedError(done, of int) error {
	return fmt.Errorf("interrupted after %d of %d runs and experiments; nothing was written", done, of)
}

// build builds everything before anything is measured.
func build(ctx context.Context, bed *testbed.Bed, cases []*truth.Case) error {
	if _, err := bed.Gowhy(ctx); err != nil {
		return err
	}
	for _, c := range cases {
		if _, err := bed.Build(ctx, c.Dir); err != nil {
			return err
		}
	}
	return nil
}

// provenance says where and when this is.
func (o *options) provenance(ctx context.Context) Provenance {
	t := Provenance{
		Date: time.Now().Format(time.DateOnly), Commit: "unknown", Go: runtime.Version(), CPU: "unknown", Kernel: runtime.GOOS,
		Cores: runtime.NumCPU(), Rounds: o.rounds, Seed: o.seed, Cases: o.cases,
	}
	switch {
	case o.prove:
		t.Only = "experiments"
		if o.only != "" {
			t.Only = "the experiment " + o.only
		}
	case !o.verify:
		t.Only = "answers"
	}
	git := func(args ...string) string {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", o.lab}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	if rev := git("rev-parse", "--short=12", "HEAD"); rev != "" {
		t.Commit = rev
		if git("status", "--porcelain") != "" {
			t.Commit += " with changes"
		}
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				t.CPU = strings.TrimLeft(strings.TrimSpace(name), ": \t")
				break
			}
		}
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		t.Kernel = "Linux " + strings.TrimSpace(string(b))
	}
	return t
}

// isTerminal reports whether somebody looks at a file while it is written.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
