package trial

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// A Change is what tells arm B from arm A, and what became of them.
type Change struct {
	A, B          string   // command lines
	Knobs, KnobsA []string // NAME=VALUE of B, or NAME=OLD:NEW; of A
	Env, Flags    []string // of B
	Base, Head    string   // revisions of git
	Upgrade       []string // MODULE@VERSION that B is built with
	Go            string   // the release of Go that B is built with, like 1.26.3
	Package       string   // to build
	Bench         string   // regular expression of benchmarks
	Benchtime     string   // as for go test

	// Of a recording whose finding is tried.
	dir      string   // where the program ran; empty is the current directory
	test     bool     // it is a test binary
	recorded []string // its environment, as far as it concerns the runtime
	also     []string // sources that counted runs need to find it once more

	// Of settings and build.
	setA, setB       map[string]string
	nameA, nameB     string
	revisionA        string
	binaryA, binaryB string   // the same when only settings change; empty when nothing is built
	differs          []string // what B is built with and A is not
	identical        bool     // nothing tells B from A
}

// Given reports whether anything says what changes.
func (ch *Change) Given() bool {
	return ch.A+ch.B+ch.Base+ch.Head != "" || ch.upgrades() || len(ch.Knobs)+len(ch.Env)+len(ch.Flags) > 0
}

// upgrades reports whether B is built of the same source with something newer.
func (ch *Change) upgrades() bool { return len(ch.Upgrade) > 0 || ch.Go != "" }

// builds reports whether anything has to be built.
func (ch *Change) builds() bool { return ch.Base != "" || ch.Bench != "" || ch.upgrades() }

// placeBinary stands in a command for what was built.
const placeBinary = "binary"

// benchtimeForm reports whether go test takes s for -benchtime.
func benchtimeForm(s string) bool {
	if times, ok := strings.CutSuffix(s, "x"); ok {
		n, err := strconv.ParseUint(times, 10, 31)
		return err == nil && n > 0
	}
	d, err := time.ParseDuration(s)
	return err == nil && d > 0
}

// An arm is one side of a comparison, ready to run.
type arm struct {
	about   experiment.Arm
	subject runner
	found   []*diagnosis.Diagnosis // of the counted runs
}

// A runner runs an arm; package subject has those for programs and benchmarks.
type runner interface {
	Run(context.Context) (experiment.Sample, error)
	Count(context.Context) (experiment.Sample, *model.Model, error)
	Close() error
}

func (a *arm) close() { _ = a.subject.Close() } // ends what still runs, nothing is lost

// Check refuses combinations of flags that mean nothing.
func (ch *Change) Check(command []string) error {
	two := ch.A != "" || ch.B != ""
	switch {
	case two && (ch.A == "" || ch.B == ""):
		return usageError("gowhy verify --a './old -n 1000' --b './new -n 1000'", "only one of --a and --b was given")
	case two && len(command) > 0:
		return usageError("give one of them", "both --a, --b and a command after -- were given")
	case two && ch.builds():
		return usageError("give one of them", "both --a, --b and a package to build were given")
	case ch.Head != "" && ch.Base == "":
		return usageError("--base HEAD --head "+shell.Word(ch.Head), "--head was given without --base")
	case ch.upgrades() && ch.Base != "":
		return usageError("give one of them", "both --base and --upgrade or --go were given")
	case ch.Package != "" && !ch.builds():
		return usageError("--base HEAD --package "+shell.Word(ch.Package), "--package was given, but nothing is to be built")
	case ch.Benchtime != "" && ch.Bench == "":
		return usageError("--bench . --benchtime "+shell.Word(ch.Benchtime), "--benchtime was given without --bench")
	case ch.Bench != "" && len(command) > 0:
		return usageError("give one of them", "both --bench and a command after -- were given")
	case ch.builds() && ch.Bench == "" && len(command) > 0 && !subject.HasPlace(command, placeBinary):
		return usageError("-- "+strings.TrimSpace("{binary} "+shell.Words(command[1:])), "the command does not say where what was built goes")
	case ch.Benchtime != "" && !benchtimeForm(ch.Benchtime):
		return usageError("--benchtime 2s   or   --benchtime 100x", "--benchtime %q is neither a time nor a number of runs", ch.Benchtime)
	case ch.Bench != "" && !ch.Given():
		return usageError("gowhy verify --base HEAD --bench "+shell.Word(ch.Bench), "specify what differs between A and B")
	case !ch.Given():
		return usageError(Hint(command), "specify what differs between A and B")
	case !two && !ch.builds() && len(command) == 0:
		return usageError("gowhy verify --knob GOMAXPROCS=2 -- ./app -n 1000", "no command was given")
	case ch.Go != "" && !goRelease.MatchString(ch.Go):
		return usageError("--go 1.26.3", "--go %q is no release of Go", ch.Go)
	}
	for _, m := range ch.Upgrade {
		if name, version, _ := strings.Cut(m, "@"); name == "" || version == "" || name[0] == '-' {
			return usageError("--upgrade "+shell.Word(cmp.Or(strings.Trim(name, "-"), "MODULE")+"@latest"), "--upgrade %q is no MODULE@VERSION", m)
		}
	}
	return nil
}

// goRelease are the names of releases of Go, as their toolchains have them.
var goRelease = regexp.MustCompile(`^(go)?1\.\d+(\.\d+|(beta|rc)\d+)?$`)

// arms makes both sides: parses what changes, builds what has to be built and
// puts the settings in their places.
func (t *Setup) arms(ctx context.Context, dir string, say Line) (a, b *arm, err error) {
	ch := &t.Change
	if err := ch.settings(); err != nil {
		return nil, nil, err
	}
	pa, pb, err := ch.programs(t.Command)
	if err != nil {
		return nil, nil, err
	}
	if err := ch.build(ctx, dir, say); err != nil {
		return nil, nil, err
	}
	ch.identical = ch.binaryA == ch.binaryB && slices.Equal(pa.Command, pb.Command) && slices.Equal(pa.Env, pb.Env)
	if ch.identical && t.Apply != "" { // a fix that changes nothing was not meant
		return nil, nil, usageError(Hint(t.Command), "A and B are the same: %s", layout.Safe(experiment.Arm{Command: pa.Command, Env: pa.Env}.String()))
	}
	if a, err = t.arm(ctx, pa, ch.nameA, ch.binaryA, say); err != nil {
		return nil, nil, err
	}
	a.about.Revision = ch.revisionA
	if b, err = t.arm(ctx, pb, ch.nameB, ch.binaryB, say); err != nil {
		a.close()
		return nil, nil, err
	}
	b.about.Revision, b.about.Differs = ch.Head, ch.differs
	return a, b, nil
}

// arm makes one side of a program.
func (t *Setup) arm(ctx context.Context, p subject.Program, name, binary string, say Line) (*arm, error) {
	a := &arm{about: experiment.Arm{Name: name, Command: p.Command, Env: p.Env, Dir: p.Dir}}
	if t.Change.Bench != "" {
		dir, err := t.Change.packageDir(ctx)
		if err != nil {
			return nil, err
		}
		s, err := subject.NewBenchmark(subject.BenchSpec{Binary: binary, Bench: t.Change.Bench, Benchtime: t.Change.Benchtime,
			Dir: dir, Env: p.Env, Time: t.Time, Log: say.Log})
		if err != nil {
			return nil, err
		}
		a.subject = s
		return a, nil
	}
	if binary != "" {
		var err error
		if p, err = p.WithSettings(map[string]string{placeBinary: binary}); err != nil {
			return nil, err
		}
	}
	spec, err := t.spec(say.Log)
	if err != nil {
		return nil, err
	}
	spec.Program, spec.Also = p, t.Change.also
	s, err := subject.New(spec)
	if err != nil {
		return nil, err
	}
	a.subject = s
	return a, nil
}

// packageDir returns where a package's tests run: in its directory, where their data is.
func (ch *Change) packageDir(ctx context.Context) (string, error) {
	local := filepath.FromSlash(ch.Package)
	switch {
	case filepath.IsAbs(local):
		return local, nil
	case ch.Package == "" || ch.Package[0] == '.':
		return filepath.Join(ch.dir, local), nil
	}
	return subject.PackageDir(ctx, ch.dir, ch.Package)
}

// settings parses the knobs.
func (ch *Change) settings() error {
	ch.setA, ch.setB = map[string]string{}, map[string]string{}
	for _, k := range ch.KnobsA {
		name, value, err := ParseSetting("a-knob", k)
		if err != nil {
			return err
		}
		ch.setA[name] = value
	}
	for _, k := range ch.Knobs {
		name, value, err := ParseSetting("knob", k)
		if err != nil {
			return err
		}
		if m := oldAndNew.FindStringSubmatch(value); m != nil {
			ch.setA[name], value = m[1], m[2]
		}
		ch.setB[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(ch.setA)) {
		if _, ok := ch.setB[name]; !ok {
			ch.setB[name] = ch.setA[name] // a place has to be filled in both
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ch.setB)) {
		if _, ok := ch.setA[name]; !ok && !subject.Variable(name) {
			return usageError(fmt.Sprintf("--knob %s=OLD:%s   or   --a-knob %s=OLD", name, ch.setB[name], name), "specify what %q is without the change", name)
		}
	}
	return nil
}

// oldAndNew are both values of a knob: numbers, perhaps with a unit, and those
// words that knobs of the runtime take for numbers. An address is not taken
// for two values.
var oldAndNew = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?[A-Za-z%]*|off|on|true|false):([0-9]+(?:\.[0-9]+)?[A-Za-z%]*|off|on|true|false)$`)

// programs returns the commands of both arms, with {binary} left in them.
func (ch *Change) programs(command []string) (a, b subject.Program, err error) {
	switch {
	case ch.A != "":
		if a, err = subject.Parse(ch.A); err == nil {
			b, err = subject.Parse(ch.B)
		}
		if err != nil {
			return a, b, err
		}
	default:
		if ch.builds() && ch.Bench == "" && len(command) == 0 {
			command = []string{"{" + placeBinary + "}"}
		}
		a = subject.Program{Command: command, Dir: ch.dir, Env: ch.recorded}
		b = a
	}
	// What stands for a built program is filled in last: a report has no use
	// for the name of a temporary file.
	if a, err = ch.with(a, ch.setA); err != nil {
		return a, b, err
	}
	if b, err = ch.with(b, ch.setB); err != nil {
		return a, b, err
	}
	return a, ch.added(b), ch.checkEnv()
}

// with puts settings into a program. With two commands those that only one has
// a place for are the other's no less.
func (ch *Change) with(p subject.Program, settings map[string]string) (subject.Program, error) {
	if ch.Bench == "" {
		return p.WithSettings(settings)
	}
	for name := range settings {
		if !subject.Variable(name) {
			return p, usageError("--knob GOGC=200", "a benchmark has no {%s}; what can be set for it are variables of the environment", name)
		}
	}
	p.Command = []string{"go", "test", "-run", "^$", "-bench", ch.Bench} // what it amounts to
	if ch.Benchtime != "" {
		p.Command = append(p.Command, "-benchtime", ch.Benchtime)
	}
	if ch.Package != "" {
		p.Command = append(p.Command, ch.Package)
	}
	return p.WithSettings(settings)
}

// added is B with what --env and --flag add.
func (ch *Change) added(p subject.Program) subject.Program {
	for _, kv := range ch.Env {
		name, value, _ := strings.Cut(kv, "=")
		if with, err := p.WithSettings(map[string]string{name: value}); err == nil && subject.Variable(name) {
			p = with // GODEBUG is added to
			continue
		}
		p.Env = append(slices.Clip(p.Env), kv)
	}
	p.Command = append(slices.Clip(p.Command), ch.Flags...)
	return p
}

func (ch *Change) checkEnv() error {
	for _, kv := range ch.Env {
		if _, _, err := ParseSetting("env", kv); err != nil {
			return err
		}
	}
	if len(ch.Flags) > 0 && ch.Bench != "" {
		return usageError("--env GOGC=200", "a benchmark takes no --flag")
	}
	return nil
}

// build makes the binaries of two revisions or with two releases, or the one of a benchmark.
func (ch *Change) build(ctx context.Context, dir string, say Line) (err error) {
	if !ch.builds() {
		return nil
	}
	b := cmp.Or(ch.Head, "the working tree")
	if ch.upgrades() {
		return ch.buildUpgraded(ctx, dir, say)
	}
	if ch.Base == "" {
		ch.nameA, ch.nameB = "", ""
		ch.binaryB, err = ch.buildOne(ctx, subject.BuildSpec{}, filepath.Join(dir, "app"), b, say)
		ch.binaryA = ch.binaryB
		return err
	}
	ch.nameA, ch.nameB, ch.revisionA = ch.Base, b, ch.Base
	also := len(ch.Knobs)+len(ch.Env)+len(ch.Flags) > 0
	if !also && ch.Head == "" && subject.SameTree(cmp.Or(ch.dir, "."), ch.Base) {
		return usageError(fmt.Sprintf("make the change first, then run this again; --head %s compares it with itself", shell.Word(ch.Base)), "the working tree is what %s is: there is nothing to compare", ch.Base)
	}
	if ch.binaryA, err = ch.buildOne(ctx, subject.BuildSpec{Revision: ch.Base}, filepath.Join(dir, "a", "app"), ch.Base, say); err != nil {
		return err
	}
	if ch.Head == ch.Base { // whoever names one revision twice means it
		ch.binaryB = ch.binaryA
		return nil
	}
	if ch.binaryB, err = ch.buildOne(ctx, subject.BuildSpec{Revision: ch.Head}, filepath.Join(dir, "b", "app"), b, say); err != nil {
		return err
	}
	same, err := sameFiles(ch.binaryA, ch.binaryB)
	if err != nil || !same || also {
		return err
	}
	hint := "git diff --stat " + shell.Words(slices.DeleteFunc([]string{ch.Base, ch.Head}, func(s string) bool { return s == "" }))
	return usageError(hint, "%s and %s build the same program: there is nothing to compare", ch.Base, b)
}

// buildUpgraded makes the binary of the working tree, and that with what is newer. A module may ask for
// newer ones of others, so that what differs is read from the binaries.
func (ch *Change) buildUpgraded(ctx context.Context, dir string, say Line) (err error) {
	release := strings.TrimPrefix(ch.Go, "go")
	newer := slices.Clone(ch.Upgrade)
	if release != "" {
		newer = append(newer, "Go "+release)
	}
	words := strings.Join(newer, " and ")
	ch.nameA, ch.nameB = "as it is", "with "+words
	now := subject.BuildSpec{Alone: len(ch.Upgrade) > 0}
	if ch.binaryA, err = ch.buildOne(ctx, now, filepath.Join(dir, "a", "app"), "the working tree", say); err != nil {
		return err
	}
	then := subject.BuildSpec{Modules: ch.Upgrade, Go: release}
	if ch.binaryB, err = ch.buildOne(ctx, then, filepath.Join(dir, "b", "app"), "it with "+words, say); err != nil {
		return err
	}
	if ch.differs, err = subject.Differing(ch.binaryA, ch.binaryB); err != nil {
		return err
	}
	if len(ch.differs) == 0 && len(ch.Knobs)+len(ch.Env)+len(ch.Flags) == 0 {
		return usageError("go version -m BINARY   # what it is built with", "the program has %s already, or does not use it: there is nothing to compare", words)
	}
	return nil
}

// buildOne builds the package as a spec says; name is what for, in words.
func (ch *Change) buildOne(ctx context.Context, of subject.BuildSpec, out, name string, say Line) (string, error) {
	test := ch.test || ch.Bench != ""
	if test {
		out += ".test" // a recorder knows tests by it
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
		return "", err
	}
	say.Step("building %s…", name)
	defer say.Clear()
	of.Dir, of.Package, of.Test, of.Out = ch.dir, ch.Package, test, out
	return subject.BuildRevision(ctx, of)
}

// sameFiles reports whether two files have the same bytes.
func sameFiles(a, b string) (bool, error) {
	x, errA := digest(a)
	y, errB := digest(b)
	return x == y, cmp.Or(errA, errB)
}

func digest(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return [sha256.Size]byte(h.Sum(nil)), err
}
