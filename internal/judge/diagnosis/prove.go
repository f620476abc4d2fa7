package diagnosis

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
)

// prove completes a finding with what its rule need not know: what the bound
// promises of each metric, the commands to paste, and what they do in words.
// A rule gives the experiment, and in Prove why there is none where no run of
// the program can decide.
func (r *runner) prove(f *Finding) {
	w := proofWriter{m: r.m, rule: f.Rule, e: f.Experiment}
	if f.Experiment == nil {
		if f.Prove != "" {
			f.Try, f.Missing = w.pasteable(w.recordAgain())
			f.Prove = sentences(f.Prove, f.Missing)
		}
		return
	}
	e := *f.Experiment // the rule may have given one value to several findings
	for _, p := range f.Bound.promises(r.m) {
		if !slices.ContainsFunc(e.Promised, func(q Promise) bool { return q.Metric == p.Metric }) {
			e.Promised = append(slices.Clip(e.Promised), p)
		}
	}
	f.Experiment, w.e = &e, &e
	f.Try, f.Missing = w.pasteable(w.commands())
	f.Prove = sentences(w.says(f), e.Note, f.Missing)
}

// Serves reports whether the program answers requests rather than ending by
// itself: an experiment needs a load beside it then.
func Serves(m *model.Model) bool {
	if m.Load != nil && len(m.Load.Benchmarks) == 0 || m.Run.URL != "" {
		return true
	}
	o := m.Operations()
	return o != nil && o.Source == model.Trace && m.Tasks == nil
}

// ThroughputMetric returns the metric in which a larger throughput shows: operations per
// second where a load asks for them, and elapsed time where the program has a
// fixed work to do.
func ThroughputMetric(m *model.Model) Metric {
	if Serves(m) {
		return OpsPerSec
	}
	return Elapsed
}

// A proofWriter composes commands from an experiment and what is known of the
// run. What is not known leaves a blank, and commands with one are not printed.
type proofWriter struct {
	m    *model.Model
	rule string
	e    *Experiment
}

// The blanks, none of which a command line or a file's name holds: see printable.
const (
	noCommand   = "\x00command"
	noArguments = "\x00arguments"
	noPackage   = "\x00package"
	noURL       = "\x00url"
	noServer    = "\x00server"
	noQueries   = "\x00queries"
	noPlace     = "\x00place"
	noModule    = "\x00module"
)

// blanks are what a command lacks, in the words of a sentence.
var blanks = [][2]string{
	{noPackage, "the program's main package (--package)"},
	{noCommand, "its command line (after --)"},
	{noArguments, "its arguments (after -- {binary})"},
	{noURL, "the address that the load asks for (--load, --ready)"},
	{noServer, "the address of the server to record (--url)"},
	{noQueries, "a load of queries that ends (--load), and a line that the program prints when it is ready (--ready)"},
	{noModule, "the module to upgrade (--upgrade)"},
	{noPlace, "which argument of the command to vary"},
}

// pasteable returns the commands when they have no blank. Else it returns a sentence
// that says what is missing.
func (w *proofWriter) pasteable(commands []string) (whole []string, missing string) {
	all := strings.Join(commands, " ")
	var lack []string
	for _, b := range blanks {
		if strings.Contains(all, b[0]) {
			lack = append(lack, b[1])
		}
	}
	if len(lack) == 0 {
		return commands, ""
	}
	tool, _, _ := strings.Cut(strings.TrimPrefix(commands[len(commands)-1], "gowhy "), " ")
	if strings.HasPrefix(commands[0], "gowhy record ") {
		tool = "record"
	}
	words := listed(lack)
	if rest, ok := strings.CutPrefix(words, "its "); ok {
		words = "the program's " + rest
	}
	return nil, "Tell gowhy " + tool + " " + words + ": this evidence does not say."
}

// listed joins the members of a list as a sentence does.
func listed(list []string) string {
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + " and " + list[n]
	}
	return strings.Join(list, "")
}

func (w *proofWriter) commands() []string {
	switch w.e.Change() {
	case ChangeTune:
		return []string{w.tune()}
	case ChangeBuild:
		return w.twoBinaries()
	}
	release := w.e.Change() == ChangeRelease
	code := release || w.e.Change() == ChangeCode
	if re := w.benchmarks(); code && re != "" && w.ofTest() {
		return []string{"gowhy verify" + w.other() + " --package " + w.mainPackage() + " --bench " + shell.Word(re)}
	}
	if files := w.files(); files != "" {
		if code && !release && w.fixed() {
			return []string{"gowhy verify " + files + " --apply " + w.rule + w.flags() + w.load()}
		}
		return []string{"gowhy verify " + files + " --apply " + w.rule + w.rest(code)}
	}
	if !code {
		return []string{"gowhy verify --primary " + shell.Word(string(w.e.Primary)) + w.knobs() + w.load() + " -- " + w.command()}
	}
	return []string{"gowhy verify --primary " + shell.Word(string(w.e.Primary)) + w.other() + " --package " + w.mainPackage() + w.load() + " -- " + w.with("{binary}")}
}

// other writes the flags for the arm that the working tree, as it is, is compared with.
func (w *proofWriter) other() (s string) {
	if w.e.Change() != ChangeRelease {
		return " --base HEAD"
	}
	for _, m := range w.e.Upgrade {
		s += " --upgrade " + shown(m, noModule)
	}
	if w.e.Go != "" {
		s += " --go " + shown(w.e.Go, noModule)
	}
	return s
}

// files returns the evidence, to be read once more; empty when it cannot be.
func (w *proofWriter) files() string {
	files, _ := pasteableFiles(&w.m.Run)
	return files
}

// pasteableFiles returns the files of a run as a command takes them, if there are any and it can.
func pasteableFiles(run *model.Run) (files string, ok bool) {
	for _, f := range run.Files {
		if strings.HasPrefix(f, "-") || strings.HasPrefix(f, "/dev/") || !printable(f) {
			return "", false
		}
	}
	files = shell.Words(run.Files)
	if len(files) == 0 || len(files) > commandMost {
		return "", false
	}
	return files, true
}

// rest writes the flags that verify needs beside a finding, as far as the evidence has them
// not: package, load and command.
func (w *proofWriter) rest(code bool) (s string) {
	if code && w.mainPackage() == noPackage {
		s = " --package " + noPackage
	}
	s += w.load()
	switch {
	case code && w.arguments() == noArguments:
		s += " -- {binary} " + noArguments
	case !w.known():
		s += " -- " + noCommand
	}
	return s
}

// fixed reports whether the program can run with its problem fixed, and is known.
func (w *proofWriter) fixed() bool {
	return len(w.m.Run.Fixed) > 0 && w.known() && !slices.ContainsFunc(w.m.Run.Fixed, func(f string) bool { return !printable(f) })
}

// flags returns those for the arguments that fix the program.
func (w *proofWriter) flags() (s string) {
	for _, f := range w.m.Run.Fixed {
		s += " --flag " + shell.Word(f)
	}
	return s
}

// knobs returns the flags for Set, as NAME=OLD:NEW where Now has the variable.
func (w *proofWriter) knobs() string {
	var b strings.Builder
	for _, s := range w.e.Set {
		name, value, _ := strings.Cut(s, "=")
		for _, n := range w.e.Now {
			if old, ok := strings.CutPrefix(n, name+"="); ok {
				value = old + ":" + value
			}
		}
		b.WriteString(" --knob " + shell.Word(name+"="+value))
	}
	return b.String()
}

// tune has the command with a place for the knob's value: the argument that
// had it in the run, if there is just one.
func (w *proofWriter) tune() string {
	name, _, _ := strings.Cut(w.e.Tune, "=")
	goal := "min(" + string(w.e.Primary) + ")"
	if w.e.Primary.Greater() {
		goal = "max(" + string(w.e.Primary) + ")"
	}
	command := w.command()
	if strings.ToUpper(name) != name { // else a variable of the environment, which needs no place
		if args, ok := w.withPlace(name); ok {
			command = shell.Words(args)
		} else {
			command += " " + noPlace
		}
	}
	return "gowhy tune --knob " + shell.Word(w.e.Tune) + " --goal '" + goal + "'" + w.load() + " -- " + command
}

// withPlace returns the command with {name} where the knob's value is.
func (w *proofWriter) withPlace(name string) (args []string, ok bool) {
	if !w.known() || w.e.At == 0 {
		return nil, false
	}
	args, found := slices.Clone(w.m.Run.Command), 0
	value := strconv.Itoa(w.e.At)
	for i := range args[1:] {
		a := &args[i+1]
		switch flag, v, _ := strings.Cut(*a, "="); {
		case *a == value:
			*a = "{" + name + "}"
			found++
		case v == value:
			*a = flag + "={" + name + "}"
			found++
		}
	}
	return args, found == 1
}

// twoBinaries builds the program anew beside the old one.
func (w *proofWriter) twoBinaries() []string {
	old, fresh := w.command(), w.with("./rebuilt")
	return []string{
		"go build -o rebuilt " + w.mainPackage(),
		"gowhy verify --primary " + shell.Word(string(w.e.Primary)) + " --a " + shell.Word(old) + " --b " + shell.Word(fresh) + w.load(),
	}
}

// recordAgain is for what shows in a recording of the fixed program and in no
// comparison of runs.
func (w *proofWriter) recordAgain() []string {
	run := &w.m.Run
	// As long as the first time: what grows slowly or happens seldom must be seen.
	record := fmt.Sprintf("gowhy record -d %.0fs -o after.gowhy ", max(10, math.Ceil(run.Duration.Seconds())))
	switch {
	case run.URL != "":
		record += "--url " + shown(run.URL, noServer)
	default:
		record += "-- " + w.command()
	}
	if run.Recording != "" && printable(run.Recording) && !strings.HasPrefix(run.Recording, "-") {
		return []string{record, "gowhy compare " + shell.Word(run.Recording) + " after.gowhy"}
	}
	return []string{record, "gowhy diagnose after.gowhy"}
}

// load returns a load beside a program that would wait for one: at the rate that it
// was recorded under, or as much as it bears where that is not known or the
// question.
func (w *proofWriter) load() string {
	if !Serves(w.m) {
		return ""
	}
	if w.m.Load != nil && w.m.Load.Names {
		return " --load " + noQueries
	}
	address := noURL
	if l := w.m.Load; l != nil && l.URL != "" {
		address = shown(l.URL, noURL)
	}
	inner := "gowhy load " + address + " " + w.howMuch() + " -d 5s"
	if address == noURL {
		return " --load " + noURL
	}
	return " --load " + shell.Word(inner) + " --ready " + address
}

// howMuch returns the flags for the load that there was: a closed loop again where it was
// one, or where the rate is the question, over as many connections.
func (w *proofWriter) howMuch() string {
	l := w.m.Load
	rate := w.m.Operations().PerSecond(w.m.Run.Duration)
	if l != nil && !l.Known && l.Rate > 0 {
		rate = l.Rate // it may have been shorter than the recording
	}
	if l != nil && l.Offered > 0 {
		rate = l.Offered
	}
	connections := ""
	if l != nil && l.Connections > 0 {
		connections = fmt.Sprintf(" -c %d", l.Connections)
	}
	if w.e.Primary.Greater() || l != nil && l.Closed || rate < 1 || rate >= rateMost {
		return "--closed" + connections
	}
	return fmt.Sprintf("--rate %.0f", rate) + connections
}

// rateMost is more operations a second than one generator sends.
const rateMost = 1e7

// commandMost is the longest command line, in bytes, that anybody wants pasted.
const commandMost = 2048

// known reports whether the command line is known and can be written in one
// line of a shell.
func (w *proofWriter) known() bool {
	c := w.m.Run.Command
	if len(c) == 0 || c[0] == "" || w.ofTest() {
		return false
	}
	n := 0
	for _, a := range c {
		n += len(a)
		if !printable(a) {
			return false
		}
	}
	return n <= commandMost
}

// ofTest reports whether the program is the binary of `go test`, which is gone
// when the tests are over.
func (w *proofWriter) ofTest() bool {
	c := w.m.Run.Command
	return len(c) > 0 && strings.HasSuffix(c[0], ".test") && strings.Contains(c[0], "/go-build")
}

// benchmarks returns the expression that the tests were given for benchmarks to run;
// empty when they ran none.
func (w *proofWriter) benchmarks() string {
	for _, a := range w.m.Run.Command {
		if re, ok := strings.CutPrefix(a, "-test.bench="); ok && printable(re) {
			return re
		}
	}
	return ""
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
}

func (w *proofWriter) command() string {
	if !w.known() {
		return noCommand
	}
	return shell.Words(w.m.Run.Command)
}

// starters start other programs, so that the arguments are not the program's.
var starters = []string{"go", "sh", "bash", "dash", "zsh", "make", "env", "sudo", "nice", "taskset", "timeout", "docker", "systemd-run"}

func (w *proofWriter) arguments() string {
	if !w.known() || slices.Contains(starters, path.Base(w.m.Run.Command[0])) {
		return noArguments
	}
	return shell.Words(w.m.Run.Command[1:])
}

// with returns the command with another program.
func (w *proofWriter) with(program string) string {
	return strings.TrimRight(program+" "+w.arguments(), " ")
}

// mainPackage returns the package that the program was built from. What was built
// of files has no path that the go command knows again.
func (w *proofWriter) mainPackage() string {
	if b := w.m.Build; b != nil && b.Path != "" && b.Path != "command-line-arguments" {
		return shown(strings.TrimSuffix(b.Path, ".test"), noPackage)
	}
	return noPackage
}

// shown returns a word of the evidence in a command, or what stands for it when
// nobody could paste it.
func shown(s, stands string) string {
	if strings.HasPrefix(s, "-") || !printable(s) || len(s) > commandMost {
		return stands
	}
	return shell.Word(s)
}

// says tells what the commands do and what must come of it.
func (w *proofWriter) says(f *Finding) string {
	e := w.e
	does := ""
	switch e.Change() {
	case ChangeTune:
		name, _, _ := strings.Cut(e.Tune, "=")
		does = fmt.Sprintf("It tries values of %s, in turns, and recommends the smallest that does as well as the best in %s.", name, e.Primary.Words())
		return does
	case ChangeKnob:
		does = "It runs the program as it is and with " + strings.Join(e.Set, " and ") + ", in turns: "
	case ChangeBuild:
		does = "It runs the old binary and the rebuilt one, in turns: "
	case ChangeRelease:
		newer := slices.Clone(e.Upgrade)
		if e.Go != "" {
			newer = append(newer, "Go "+e.Go)
		}
		does = "It builds the working tree as it is and with " + strings.Join(newer, " and ") + ", and runs both, in turns: "
	case ChangeCode:
		if w.fixed() && w.files() != "" {
			does = "It runs the program as it is and with " + shell.Words(w.m.Run.Fixed) + ", in turns: "
			break
		}
		does = "After the change, it builds the last commit and the working tree and runs both, in turns: "
	}
	does += e.Primary.Words() + " must " + w.moves(f) + "."
	if e.Else != "" {
		does += " Where that cannot be counted, " + e.Else.Words() + " decides."
	}
	return does
}

// moves says which way the primary metric goes, and how far at most.
func (w *proofWriter) moves(f *Finding) string {
	direction := "fall"
	if w.e.Primary.Greater() {
		direction = "rise"
	}
	p, ok := f.PredictedFor(w.e.Primary)
	if !ok {
		return direction
	}
	if w.e.Primary.Greater() {
		return fmt.Sprintf("%s, to at most %.3g times", direction, p.Best)
	}
	return fmt.Sprintf("%s, by at most %.3g%%", direction, 100*(1-math.Min(1, p.Best)))
}

func sentences(s ...string) string {
	return strings.Join(slices.DeleteFunc(s, func(s string) bool { return s == "" }), " ")
}
