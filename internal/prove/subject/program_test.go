package subject

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

func TestWith(t *testing.T) {
	p := Program{Command: []string{"./app", "-workers={workers}", "{workers}", "{N}"}, Env: []string{"GODEBUG=a=1", "SIZE={size}", "GOGC=50"}}
	got, err := p.WithSettings(map[string]string{"workers": "8", "size": "2 MB", "GOMAXPROCS": "2", "GODEBUG": "b=2", "GOGC": "200", "N": "7"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"./app", "-workers=8", "8", "7"}; !slices.Equal(got.Command, want) {
		t.Errorf("command %q, want %q", got.Command, want)
	}
	slices.Sort(got.Env)
	if want := []string{"GODEBUG=a=1,b=2", "GOGC=200", "GOMAXPROCS=2", "SIZE=2 MB"}; !slices.Equal(got.Env, want) {
		t.Errorf("environment %q, want %q", got.Env, want)
	}
	if p.Command[2] != "{workers}" || p.Env[1] != "SIZE={size}" {
		t.Error("the program itself was changed")
	}
	_, err = p.WithSettings(map[string]string{"worker": "8"})
	if p := checkProblem(t, err, "{worker}"); p.Kind != problem.Misuse || p.Hint == "" {
		t.Errorf("With(worker) has kind %v, hint %q, want %v, some hint", p.Kind, p.Hint, problem.Misuse)
	}
	if _, err := p.WithSettings(map[string]string{"GOGC": "1\x002"}); err == nil {
		t.Error("a NUL byte was taken")
	}
}

var splits = []struct {
	line string
	want []string // nil is an error
}{
	{`./app -n 3`, []string{"./app", "-n", "3"}},
	{`  ./app	 "two words" 'it''s' a\ b "q\"\\\n" ''`, []string{"./app", "two words", "its", "a b", `q"\\n`, ""}},
	{`./app {workers} a#b x~y 'a|b' "a;b" \$HOME '$HOME' k=v`, []string{"./app", "{workers}", "a#b", "x~y", "a|b", "a;b", "$HOME", "$HOME", "k=v"}},
	{`GOGC=50 A='b c' ./app x=1`, []string{"env", "GOGC=50", "A=b c", "./app", "x=1"}},
	{`./app | wc`, []string{"sh", "-c", "./app | wc"}},
	{`cd /tmp && ./app`, []string{"sh", "-c", "cd /tmp && ./app"}},
	{` ./app > /dev/null `, []string{"sh", "-c", "exec ./app > /dev/null"}},
	{`./app "$HOME"`, []string{"sh", "-c", `exec ./app "$HOME"`}},
	{`GOGC=50 ./app *.txt`, []string{"sh", "-c", `GOGC=50 ./app *.txt`}},
	{`cd $HOME`, []string{"sh", "-c", `cd $HOME`}},
	{`./app ~/x # y`, []string{"sh", "-c", `exec ./app ~/x # y`}},
	{``, nil},
	{`  `, nil},
	{`./app "x`, nil},
	{`./app 'x`, nil},
	{`./app \`, nil},
	{"./app \x00", nil},
}

func TestSplit(t *testing.T) {
	for _, c := range splits {
		got, err := Split(c.line)
		if c.want == nil {
			if p := checkProblem(t, err); p.Kind != problem.Misuse || p.Hint == "" {
				t.Errorf("Split(%q) has kind %v, hint %q, want %v, some hint", c.line, p.Kind, p.Hint, problem.Misuse)
			}
			continue
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q %v, want %q", c.line, got, err, c.want)
		}
	}
	p, err := Parse(`GOGC=50 A='b c' ./app x=1`)
	if err != nil || !slices.Equal(p.Command, []string{"./app", "x=1"}) || !slices.Equal(p.Env, []string{"GOGC=50", "A=b c"}) {
		t.Errorf("Parse() = command %q, environment %q, %v, want ./app x=1, GOGC=50 and A=b c", p.Command, p.Env, err)
	}
	if _, err := Parse("GOGC=50"); err == nil {
		t.Error("a command line without a command was taken")
	}
}

// Words that are quoted come out as they were, and no line is a panic.
func FuzzSplit(f *testing.F) {
	for _, c := range splits {
		f.Add(c.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if words, err := Split(line); err == nil && len(words) == 0 {
			t.Errorf("%q has no words and no error", line)
		}
		words := strings.Split(strings.ReplaceAll(line, "\x00", ""), " ")
		if assignment.MatchString(words[0]) {
			return
		}
		for _, quoted := range []func(string) string{
			shell.Word,
			func(w string) string {
				return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, `$`, `\$`, "`", "\\`").Replace(w) + `"`
			},
		} {
			var text []string
			for _, w := range words {
				text = append(text, quoted(w))
			}
			got, err := Split(strings.Join(text, " "))
			if err != nil || !slices.Equal(got, words) {
				t.Errorf("%q became %q (%v)", words, got, err)
			}
		}
	})
}

// Both arms are given environments of one size, whatever is set in them.
func TestEnviron(t *testing.T) {
	t.Setenv("GOGC", "100")
	t.Setenv(padVariable, "of an outer experiment")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	size := func(p Program) (n int) {
		path, _ := p.path()
		n = len(path) + 1
		for _, s := range slices.Concat(p.Command, p.environ()) {
			n += len(s) + 1 + 8
		}
		return n
	}
	a := Program{Command: []string{self}}
	b := Program{Command: []string{self, "-a-rather-long-flag"}, Env: []string{"GOGC=200", "GOMAXPROCS=2"}}
	if x, y := size(a), size(b); x != y || x%padTo != 0 {
		t.Errorf("%d and %d bytes", x, y)
	}
	if n := len(b.environ()); n != len(slices.Compact(slices.Sorted(slices.Values(names(b.environ()))))) {
		t.Error("a variable is there twice")
	}
	if !slices.Contains(b.environ(), "GOGC=200") || slices.Contains(b.environ(), "GOGC=100") {
		t.Error("the program's own setting does not count")
	}
}

func names(env []string) (list []string) {
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		list = append(list, name)
	}
	return list
}

func TestNewProblems(t *testing.T) {
	good := Program{Command: []string{"sh"}}
	for name, c := range map[string]struct {
		spec Spec
		want string
	}{
		"nothing":   {Spec{}, "no command"},
		"missing":   {Spec{Program: Program{Command: []string{"/no/such/program"}}}, "cannot start /no/such/program"},
		"not there": {Spec{Program: Program{Command: []string{"no-such-program-at-all"}}}, "cannot start"},
		"directory": {Spec{Program: Program{Command: []string{"sh"}, Dir: "/no/such"}}, "is no directory"},
		"negative":  {Spec{Program: good, Ops: -1}, "negative"},
		"ready":     {Spec{Program: good, Ready: "soon"}, "does not say when"},
		"scheme":    {Spec{Program: good, Ready: "ftp://localhost"}, "does not say when"},
		"empty log": {Spec{Program: good, Ready: "log:"}, "does not say when"},
		"load":      {Spec{Program: good, Ready: "localhost:1", Load: []string{"/no/such/load"}}, "/no/such/load"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.spec)
			if p := checkProblem(t, err, c.want); p.Hint == "" && p.Kind != problem.Misuse {
				t.Errorf("New() has kind %v, hint %q, want %v or some hint", p.Kind, p.Hint, problem.Misuse)
			}
		})
	}
	_, err := NewBenchmark(BenchSpec{Binary: "sh", Bench: "("})
	checkProblem(t, err, "no pattern")
}

// What to do about a program that does not start depends on what is there.
func TestCannotStartHint(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{plain: "chmod +x " + plain, dir: "go build -o app " + dir + " ", filepath.Join(dir, "none"): "go build -o app ./cmd/app", "none-such-here": "go build"} {
		_, err := New(Spec{Program: Program{Command: []string{name}}})
		var p *problem.Error
		if !errors.As(err, &p) {
			t.Errorf("New(%s): error %v, want a problem with a hint", name, err)
		} else if !strings.HasPrefix(p.Hint, want) {
			t.Errorf("New(%s): hint %q, want it to begin with %q", name, p.Hint, want)
		}
	}
}
