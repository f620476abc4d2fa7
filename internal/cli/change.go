package cli

import (
	"bytes"
	"cmp"
	"context"
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

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/experiment"
	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/shell"
	"github.com/gowhy/gowhy/internal/subject"
	"github.com/gowhy/gowhy/internal/trialreport"
)

// changeFlags say what tells arm B from arm A, and what became of them.
type changeFlags struct {
	a, b             string
	knobs, aKnobs    []string
	envs, more       []string
	base, head, pkg  string
	bench, benchtime string

	// Of a recording whose finding is tried.
	dir      string   // where the program ran; empty is the current directory
	test     bool     // it is a test binary
	recorded []string // its environment, as far as it concerns the runtime
	also     []string // sources that counted runs need to find it once more

	// Of settings and build.
	setA, setB       map[string]string
	nameA, nameB     string
	revisionA        string
	binaryA, binaryB string // the same when only settings change; empty when nothing is built
}

func (f *changeFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.a, "a", "", "the `CMD` as it is")
	cmd.Flags().StringVar(&f.b, "b", "", "the `CMD` as it is to be")
	cmd.Flags().StringArrayVar(&f.knobs, "knob", nil, "B has this `NAME=VALUE`, repeatable; NAME=OLD:NEW for both")
	cmd.Flags().StringArrayVar(&f.aKnobs, "a-knob", nil, "A has this `NAME=VALUE`, repeatable")
	cmd.Flags().StringArrayVar(&f.envs, "env", nil, "B has this `NAME=VALUE` in its environment, repeatable")
	cmd.Flags().StringArrayVar(&f.more, "flag", nil, "B has this `ARGUMENT` at its end, repeatable")
	cmd.Flags().StringVar(&f.base, "base", "", "A is built from this `REVISION` of git")
	cmd.Flags().StringVar(&f.head, "head", "", "B is built from this `REVISION` (default the working tree)")
	cmd.Flags().StringVar(&f.pkg, "package", "", "the `PACKAGE` that is built (default .)")
	cmd.Flags().StringVar(&f.bench, "bench", "", "run the package's benchmarks that match this `REGEXP`")
	cmd.Flags().StringVar(&f.benchtime, "benchtime", "", "how long or how often a benchmark runs, a `TIME` or 100x")
}

// given reports whether anything says what changes.
func (f *changeFlags) given() bool {
	return f.a+f.b+f.base+f.head != "" || len(f.knobs)+len(f.envs)+len(f.more) > 0
}

// placeBinary stands in a command for what was built.
const placeBinary = "{binary}"

func usesBinary(command []string) bool {
	return slices.ContainsFunc(command, func(w string) bool { return strings.Contains(w, placeBinary) })
}

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
	about     experiment.Arm
	subject   runner
	diagnosed []*diagnosis.Diagnosis // of the counted runs
}

// A runner runs an arm; package subject has those for programs and benchmarks.
type runner interface {
	Run(context.Context) (experiment.Sample, error)
	Count(context.Context) (experiment.Sample, *model.Model, error)
	Close() error
}

func (a *arm) close() { _ = a.subject.Close() } // ends what still runs, nothing is lost

// check refuses combinations of flags that mean nothing.
func (f *changeFlags) check(command []string) error {
	two := f.a != "" || f.b != ""
	switch {
	case two && (f.a == "" || f.b == ""):
		return misused("gowhy verify --a './old -n 1000' --b './new -n 1000'", "only one of --a and --b was given")
	case two && len(command) > 0:
		return misused("give one of them", "both --a, --b and a command after -- were given")
	case two && (f.base != "" || f.bench != ""):
		return misused("give one of them", "both --a, --b and a package to build were given")
	case f.head != "" && f.base == "":
		return misused("--base HEAD --head "+shell.Word(f.head), "--head was given without --base")
	case f.pkg != "" && f.base == "" && f.bench == "":
		return misused("--base HEAD --package "+shell.Word(f.pkg), "--package was given, but nothing is to be built")
	case f.benchtime != "" && f.bench == "":
		return misused("--bench . --benchtime "+shell.Word(f.benchtime), "--benchtime was given without --bench")
	case f.bench != "" && len(command) > 0:
		return misused("give one of them", "both --bench and a command after -- were given")
	case f.base != "" && f.bench == "" && len(command) > 0 && !usesBinary(command):
		return misused("-- "+strings.TrimSpace("{binary} "+shell.Words(command[1:])), "the command does not say where what was built goes")
	case f.benchtime != "" && !benchtimeForm(f.benchtime):
		return misused("--benchtime 2s   or   --benchtime 100x", "--benchtime %q is neither a time nor a number of runs", f.benchtime)
	case f.bench != "" && !f.given():
		return misused("gowhy verify --base HEAD --bench "+shell.Word(f.bench), "nothing says what changes")
	case !f.given():
		return misused(changeHint(command), "nothing says what changes")
	case !two && f.base == "" && f.bench == "" && len(command) == 0:
		return misused("gowhy verify --knob GOMAXPROCS=2 -- ./app -n 1000", "no command was given")
	}
	return nil
}

// arms makes both sides: parses what changes, builds what has to be built and
// puts the settings in their places.
func (f *verifyFlags) arms(ctx context.Context, dir string, say *statusLine) (a, b *arm, err error) {
	ch := &f.change
	if err := ch.settings(); err != nil {
		return nil, nil, err
	}
	pa, pb, err := ch.programs(f.command)
	if err != nil {
		return nil, nil, err
	}
	if err := ch.build(ctx, dir, say); err != nil {
		return nil, nil, err
	}
	if ch.binaryA == ch.binaryB && slices.Equal(pa.Command, pb.Command) && slices.Equal(pa.Env, pb.Env) {
		return nil, nil, misused(changeHint(f.command), "A and B are the same: %s", trialreport.Arm(experiment.Arm{Command: pa.Command, Env: pa.Env}))
	}
	if a, err = f.arm(ctx, pa, ch.nameA, ch.binaryA, say); err != nil {
		return nil, nil, err
	}
	a.about.Revision = ch.revisionA
	if b, err = f.arm(ctx, pb, ch.nameB, ch.binaryB, say); err != nil {
		a.close()
		return nil, nil, err
	}
	b.about.Revision = ch.head
	return a, b, nil
}

// arm makes one side of a program.
func (f *verifyFlags) arm(ctx context.Context, p subject.Program, name, binary string, say *statusLine) (*arm, error) {
	a := &arm{about: experiment.Arm{Name: name, Command: p.Command, Env: p.Env, Dir: p.Dir}}
	if f.change.bench != "" {
		dir, err := f.change.packageDir(ctx)
		if err != nil {
			return nil, err
		}
		s, err := subject.NewBenchmark(subject.BenchSpec{Binary: binary, Bench: f.change.bench, Benchtime: f.change.benchtime,
			Dir: dir, Env: p.Env, Time: f.timeLimit, Log: say.log})
		if err != nil {
			return nil, err
		}
		a.subject = s
		return a, nil
	}
	if binary != "" {
		var err error
		if p, err = p.With(map[string]string{strings.Trim(placeBinary, "{}"): binary}); err != nil {
			return nil, err
		}
	}
	spec, err := f.spec(say)
	if err != nil {
		return nil, err
	}
	spec.Program, spec.Also = p, f.change.also
	s, err := subject.New(spec)
	if err != nil {
		return nil, err
	}
	a.subject = s
	return a, nil
}

// packageDir is where a package's tests run: in its directory, where their
// data is.
func (f *changeFlags) packageDir(ctx context.Context) (string, error) {
	local := filepath.FromSlash(f.pkg)
	switch {
	case filepath.IsAbs(local):
		return local, nil
	case f.pkg == "" || f.pkg[0] == '.':
		return filepath.Join(f.dir, local), nil
	}
	return subject.PackageDir(ctx, f.dir, f.pkg)
}

// settings parses the knobs.
func (f *changeFlags) settings() error {
	f.setA, f.setB = map[string]string{}, map[string]string{}
	for _, k := range f.aKnobs {
		name, value, err := parseSetting("a-knob", k)
		if err != nil {
			return err
		}
		f.setA[name] = value
	}
	for _, k := range f.knobs {
		name, value, err := parseSetting("knob", k)
		if err != nil {
			return err
		}
		if m := oldAndNew.FindStringSubmatch(value); m != nil {
			f.setA[name], value = m[1], m[2]
		}
		f.setB[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(f.setA)) {
		if _, ok := f.setB[name]; !ok {
			f.setB[name] = f.setA[name] // a place has to be filled in both
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.setB)) {
		if _, ok := f.setA[name]; !ok && !variable.MatchString(name) {
			return misused(fmt.Sprintf("--knob %s=OLD:%s   or   --a-knob %s=OLD", name, f.setB[name], name), "nothing says what %q is without the change", name)
		}
	}
	return nil
}

// oldAndNew are both values of a knob: numbers, perhaps with a unit, and those
// words that knobs of the runtime take for numbers. An address is not taken
// for two values.
var oldAndNew = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?[A-Za-z%]*|off|on|true|false):([0-9]+(?:\.[0-9]+)?[A-Za-z%]*|off|on|true|false)$`)

// variable is the name of a knob that goes into the environment.
var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func parseSetting(flag, s string) (name, value string, err error) {
	name, value, ok := strings.Cut(s, "=")
	if !settingName.MatchString(name) {
		return "", "", misused("--"+flag+" GOMAXPROCS=2", "--%s %q is not NAME=VALUE", flag, s)
	}
	if !ok {
		return "", "", misused("--"+flag+" "+name+"=VALUE", "--%s %q is not NAME=VALUE", flag, s)
	}
	return name, value, nil
}

// programs returns the commands of both arms, with {binary} left in them.
func (f *changeFlags) programs(command []string) (a, b subject.Program, err error) {
	switch {
	case f.a != "":
		if a, err = subject.Parse(f.a); err == nil {
			b, err = subject.Parse(f.b)
		}
		if err != nil {
			return a, b, err
		}
	default:
		if f.base != "" && f.bench == "" && len(command) == 0 {
			command = []string{placeBinary}
		}
		a = subject.Program{Command: command, Dir: f.dir, Env: f.recorded}
		b = a
	}
	// What stands for a built program is filled in last: a report has no use
	// for the name of a temporary file.
	if a, err = f.with(a, f.setA); err != nil {
		return a, b, err
	}
	if b, err = f.with(b, f.setB); err != nil {
		return a, b, err
	}
	return a, f.added(b), f.checkEnv()
}

// with puts settings into a program. With two commands those that only one has
// a place for are the other's no less.
func (f *changeFlags) with(p subject.Program, settings map[string]string) (subject.Program, error) {
	if f.bench == "" {
		return p.With(settings)
	}
	for name := range settings {
		if !variable.MatchString(name) {
			return p, misused("--knob GOGC=200", "a benchmark has no {%s}; what can be set for it are variables of the environment", name)
		}
	}
	p.Command = []string{"go", "test", "-run", "^$", "-bench", f.bench} // what it amounts to
	if f.benchtime != "" {
		p.Command = append(p.Command, "-benchtime", f.benchtime)
	}
	if f.pkg != "" {
		p.Command = append(p.Command, f.pkg)
	}
	return p.With(settings)
}

// added is B with what --env and --flag add.
func (f *changeFlags) added(p subject.Program) subject.Program {
	for _, kv := range f.envs {
		name, value, _ := strings.Cut(kv, "=")
		if with, err := p.With(map[string]string{name: value}); err == nil && variable.MatchString(name) {
			p = with // GODEBUG is added to
			continue
		}
		p.Env = append(slices.Clip(p.Env), kv)
	}
	p.Command = append(slices.Clip(p.Command), f.more...)
	return p
}

func (f *changeFlags) checkEnv() error {
	for _, kv := range f.envs {
		if _, _, err := parseSetting("env", kv); err != nil {
			return err
		}
	}
	if len(f.more) > 0 && f.bench != "" {
		return misused("--env GOGC=200", "a benchmark takes no --flag")
	}
	return nil
}

// build makes the binaries of two revisions, or the one of a benchmark.
func (f *changeFlags) build(ctx context.Context, dir string, say *statusLine) (err error) {
	if f.base == "" && f.bench == "" {
		return nil
	}
	b := cmp.Or(f.head, "the working tree")
	if f.base == "" {
		f.nameA, f.nameB = "", ""
		f.binaryB, err = f.buildOne(ctx, f.head, filepath.Join(dir, "app"), b, say)
		f.binaryA = f.binaryB
		return err
	}
	f.nameA, f.nameB, f.revisionA = f.base, b, f.base
	also := len(f.knobs)+len(f.envs)+len(f.more) > 0
	if !also && f.head == "" && subject.SameTree(cmp.Or(f.dir, "."), f.base) {
		return misused("make the change first, then run this again", "the working tree is what %s is: there is nothing to compare", f.base)
	}
	if f.binaryA, err = f.buildOne(ctx, f.base, filepath.Join(dir, "a", "app"), f.base, say); err != nil {
		return err
	}
	if f.binaryB, err = f.buildOne(ctx, f.head, filepath.Join(dir, "b", "app"), b, say); err != nil {
		return err
	}
	same, err := sameFiles(f.binaryA, f.binaryB)
	if err != nil || !same || also {
		return err
	}
	hint := "git diff --stat " + shell.Words(slices.DeleteFunc([]string{f.base, f.head}, func(s string) bool { return s == "" }))
	return misused(hint, "%s and %s build the same program: there is nothing to compare", f.base, b)
}

func (f *changeFlags) buildOne(ctx context.Context, revision, out, name string, say *statusLine) (string, error) {
	test := f.test || f.bench != ""
	if test {
		out += ".test" // a recorder knows tests by it
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
		return "", err
	}
	say.set("building %s…", name)
	defer say.clear()
	return subject.BuildRevision(ctx, subject.BuildSpec{Dir: f.dir, Package: f.pkg, Revision: revision, Test: test, Out: out})
}

// sameFiles reports whether two files have the same bytes.
func sameFiles(a, b string) (bool, error) {
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close()
	p, q := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, errX := io.ReadFull(x, p)
		m, errY := io.ReadFull(y, q)
		switch {
		case !bytes.Equal(p[:n], q[:m]):
			return false, nil
		case errX == io.EOF || errX == io.ErrUnexpectedEOF:
			return true, nil
		case errX != nil || errY != nil:
			return false, cmp.Or(errX, errY)
		}
	}
}
