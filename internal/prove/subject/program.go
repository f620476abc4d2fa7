package subject

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

// A Program is a command with what it needs to run. What it finds in its
// environment is this process's, Env, and GOWHY_PAD, which makes path, arguments
// and environment of two arms the same size: their length moves the stack.
type Program struct {
	Command []string
	Env     []string // NAME=VALUE, added to the environment of this process
	Dir     string   // empty is the current one
}

// variable is what a setting's name looks like that goes into the environment.
var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// Variable reports whether a setting of a name goes into the environment where
// nothing else takes it.
func Variable(name string) bool { return variable.MatchString(name) }

// HasPlace reports whether a command has a placeholder for a setting.
func HasPlace(command []string, name string) bool {
	return slices.ContainsFunc(command, func(w string) bool { return strings.Contains(w, "{"+name+"}") })
}

// WithSettings returns the program with settings. A setting replaces its placeholder,
// {name}, wherever it stands in the command and the environment. One without a
// placeholder and in upper case, like GOMAXPROCS, becomes a variable of the
// environment; GODEBUG is added to the value that is there, for that is a list
// of settings itself. Any other is an error.
func (p Program) WithSettings(settings map[string]string) (Program, error) {
	p.Command, p.Env = slices.Clone(p.Command), slices.Clone(p.Env)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := settings[name]
		if strings.ContainsRune(value, 0) {
			return Program{}, problem.New(problem.Misuse, "", "the value of %q has a NUL byte in it", name)
		}
		switch used := p.replace("{"+name+"}", value); {
		case used:
		case Variable(name):
			p.set(name, value)
		default:
			return Program{}, noPlaceholder(name)
		}
	}
	return p, nil
}

func noPlaceholder(name string) error {
	return problem.New(problem.Misuse, fmt.Sprintf("put it where the value belongs: -- ./app -%s {%s}   # variables of the environment are in upper case", name, name), "the command has no {%s} to replace", name)
}

// replace puts a value for a placeholder and reports whether there was one.
func (p Program) replace(placeholder, value string) (used bool) {
	for _, list := range [][]string{p.Command, p.Env} {
		for i, word := range list {
			if strings.Contains(word, placeholder) {
				list[i], used = strings.ReplaceAll(word, placeholder, value), true
			}
		}
	}
	return used
}

func (p *Program) set(name, value string) {
	if name == "GODEBUG" {
		if before := p.getenv(name); before != "" {
			value = before + "," + value // of two settings of one key the last counts
		}
	}
	p.Env = append(slices.DeleteFunc(p.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }), name+"="+value)
}

// getenv returns a variable of the program's environment.
func (p Program) getenv(name string) string {
	for _, kv := range slices.Backward(p.Env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return os.Getenv(name)
}

// displayCommand returns the command for messages, in words that a shell would take.
func (p Program) displayCommand() string {
	return cut(printable(shell.Words(p.Command)), lineWidth)
}

// check refuses what cannot be started, with a command that helps.
func (p Program) check() error {
	if len(p.Command) == 0 || p.Command[0] == "" {
		return problem.New(problem.Misuse, "gowhy verify --knob GOMAXPROCS=2 -- ./app", "there is no command to run")
	}
	if p.Dir != "" {
		if info, err := os.Stat(p.Dir); err != nil || !info.IsDir() {
			return &problem.Error{Kind: problem.Misuse, What: fmt.Sprintf("%q is no directory to run %s in", p.Dir, p.displayCommand()), Err: err}
		}
	}
	for _, word := range slices.Concat(p.Command, p.Env) {
		if strings.ContainsRune(word, 0) {
			return problem.New(problem.Misuse, "", "the command has a NUL byte in it")
		}
	}
	if _, err := p.path(); err != nil {
		return p.cannotStart(err)
	}
	return nil
}

func (p Program) cannotStart(err error) error {
	cause := err
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		cause = file.Err
	} else if inner := errors.Unwrap(err); inner != nil {
		cause = inner
	}
	name := p.Command[0]
	info, missing := os.Stat(filepath.Join(p.Dir, name))
	if filepath.IsAbs(name) {
		info, missing = os.Stat(name)
	}
	hint := "go build -o app ./cmd/app   # and give the path of a program that is there: ./app"
	switch {
	case missing != nil:
	case info.IsDir():
		hint = "go build -o app " + printable(name) + "   # a program, not its directory: ./app"
	case info.Mode().Perm()&0o111 == 0:
		hint = "chmod +x " + printable(name)
	case filepath.Base(name) == name && p.Dir == "":
		hint = "./" + p.displayCommand()
	}
	return &problem.Error{What: fmt.Sprintf("cannot start %s: %v", p.displayCommand(), cause), Hint: hint, Err: err}
}

// path returns the program's file. One with a slash in its name is looked for from
// the directory that it runs in, as the kernel does.
func (p Program) path() (string, error) {
	name := p.Command[0]
	if p.Dir != "" && filepath.Base(name) != name && !filepath.IsAbs(name) {
		name = filepath.Join(p.Dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// padVariable fills the environment up; see [Program.environ].
const padVariable = "GOWHY_PAD"

// padTo is to what argv and environment are filled up, in bytes.
const padTo = 4096

// environ returns the whole environment. The kernel puts path, arguments and
// environment above the first thread's stack: one byte more of them moves
// where that begins, and with it which of its lines share a set of the cache.
// Measured differences of some percent have come from the length of a user's
// name. A variable that a program does not know fills both arms up to the same
// size, unless they differ by pages.
func (p Program) environ() []string {
	env := append(os.Environ(), p.Env...)
	// With an entry that a later one overrides, the size would depend on the
	// user's own environment.
	last := map[string]int{}
	for i, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		last[name] = i
	}
	kept := env[:0]
	for i, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); last[name] == i && name != padVariable {
			kept = append(kept, kv)
		}
	}
	const pointer = 8
	path, _ := p.path()
	size := len(path) + 1
	for _, s := range slices.Concat(p.Command, kept, []string{padVariable + "="}) {
		size += len(s) + 1 + pointer
	}
	return append(kept, padVariable+"="+strings.Repeat("x", (padTo-size%padTo)%padTo))
}
