package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// An action is what these tests look at of action.yml.
type action struct {
	Name, Description string
	Inputs            map[string]struct{ Description, Default string }
	Outputs           map[string]struct{ Value string }
	Runs              struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	Name  string            `yaml:"name"`
	ID    string            `yaml:"id,omitempty"`
	Shell string            `yaml:"shell"`
	Env   map[string]string `yaml:"env"`
	Run   string            `yaml:"run"`
}

const root = "../.."

func readAction(t *testing.T) (a action) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 2 || len(a.Inputs) == 0 {
		t.Fatalf("action.yml is %+v, want a composite action with two steps and inputs", a)
	}
	return a
}

// Inputs reach scripts through the environment, all of them, and no script has an
// expression in its text. Each flag is one that gowhy gate has.
func TestAction(t *testing.T) {
	a := readAction(t)
	used := map[string]bool{}
	var scripts strings.Builder
	for _, s := range a.Runs.Steps {
		scripts.WriteString(s.Run)
		if strings.Contains(s.Run, "${{") {
			t.Errorf("the step %q has an expression in its script", s.Name)
		}
		if s.Shell != "bash" {
			t.Errorf("the step %q runs in %q, want bash", s.Name, s.Shell)
		}
		for name, value := range s.Env {
			if m := regexp.MustCompile(`^\$\{\{ inputs\.(\w+) \}\}$`).FindStringSubmatch(value); m != nil {
				used[m[1]] = true
			}
			if !strings.Contains(s.Run, "$"+name) {
				t.Errorf("the step %q does not use %s", s.Name, name)
			}
		}
	}
	for name, in := range a.Inputs {
		if !used[name] || in.Description == "" {
			t.Errorf("the input %q is used: %v, described as %q", name, used[name], in.Description)
		}
	}
	if len(used) != len(a.Inputs) {
		t.Errorf("steps use the inputs %v of %d", used, len(a.Inputs))
	}
	help, err := exec.Command("go", "run", root+"/cmd/gowhy", "gate", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := scripts.String()
	for _, in := range a.Inputs {
		text += " " + in.Description
	}
	flags := regexp.MustCompile(`(?m)[ "(](--[a-z-]+)=`).FindAllStringSubmatch(text, -1)
	if len(flags) < 5 {
		t.Errorf("flags %v, want those of the policy, the base, the format, the output and the example", flags)
	}
	for _, f := range flags {
		if !regexp.MustCompile(`(?m)^ +(-\w, )?` + f[1] + ` `).Match(help) {
			t.Errorf("gowhy gate has no flag %s:\n%s", f[1], help)
		}
	}
}

// The script of the second step, with a gowhy that writes down what it was given:
// nothing of the inputs is run, arguments stay whole, and the exit code is kept.
func TestActionScript(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the action runs in bash: ", err)
	}
	a := readAction(t)
	for _, tt := range []struct {
		name    string
		env     []string
		code    int
		args    []string // of the first gowhy; nil where there is none
		summary string
	}{
		{"defaults", []string{"POLICY=gate.yaml", "FAKE=0"}, 0, []string{"gate", "--file=gate.yaml", "--format=json", "--output=RESULT"}, "markdown"},
		{"hostile", []string{"POLICY=a b$(touch pwned).yaml", "BASE=`touch pwned`;touch pwned", "ARGS=--time-limit=20m\n\n--x=$(touch pwned) y", "FAKE=4"}, 4,
			[]string{"gate", "--file=a b$(touch pwned).yaml", "--format=json", "--output=RESULT", "--base=`touch pwned`;touch pwned", "--time-limit=20m", "--x=$(touch pwned) y"}, "markdown"},
		{"no result", []string{"POLICY=gate.yaml", "FAKE=2"}, 2, []string{"gate", "--file=gate.yaml", "--format=json", "--output=RESULT"}, ""},
		{"no such head", []string{"POLICY=gate.yaml", "HEAD_REVISION=--force", "FAKE=0"}, 3, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			bin := filepath.Join(dir, "gowhy")
			// The fake shows a result that is there, and writes one unless its code is 2.
			const fake = "#!/bin/bash\ncase \"$*\" in *--output=*) printf '%s\\0' \"$@\" >args; [ $FAKE = 2 ] || echo {} >\"$RUNNER_TEMP/gowhy/gate.json\"; exit $FAKE;; " +
				"*markdown*) echo markdown; exit $FAKE;; *) echo \"::notice::$*\"; exit $FAKE;; esac\n"
			if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "gowhy"), []byte(fake), 0o755)); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", a.Runs.Steps[1].Run)
			cmd.Dir = dir
			cmd.Env = append(append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_OUTPUT="+filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"),
				"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)), tt.env...)
			out, _ := cmd.CombinedOutput() // its code is looked at
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Error("an input was run")
			}
			var args []string
			if data, err := os.ReadFile(filepath.Join(dir, "args")); err == nil {
				args = strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(data), filepath.Join(bin, "gate.json"), "RESULT"), "\x00"), "\x00")
			}
			if !slices.Equal(args, tt.args) {
				t.Errorf("gowhy was given %q, want %q", args, tt.args)
			}
			summary, _ := os.ReadFile(filepath.Join(dir, "summary")) // "" when it is not there
			if strings.TrimSpace(string(summary)) != tt.summary {
				t.Errorf("the summary is %q, want %q", summary, tt.summary)
			}
		})
	}
}

// actionlint looks at workflows: at one that uses the action, and at one made of its
// steps, for it does not look into actions.
func TestActionlint(t *testing.T) {
	attempt.Only(t, "downloads actionlint")
	const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
	a := readAction(t)
	dir := t.TempDir()
	inputs, with := map[string]any{}, map[string]string{}
	for name := range a.Inputs {
		inputs[name] = map[string]any{"type": "string"}
		with[name] = "x"
	}
	on := map[string]any{"workflow_call": map[string]any{"inputs": inputs}}
	job := func(steps any) map[string]any {
		return map[string]any{"on": on, "jobs": map[string]any{"gate": map[string]any{"runs-on": "ubuntu-latest", "steps": steps}}}
	}
	data, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(dir, ".github/workflows"), 0o755), os.Mkdir(filepath.Join(dir, ".git"), 0o755), os.WriteFile(filepath.Join(dir, "action.yml"), data, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	lint := func(name string, workflow map[string]any) ([]byte, error) {
		text, err := yaml.Marshal(workflow)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, ".github/workflows", name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "run", actionlint, "-oneline", filepath.Join(".github/workflows", name))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=")
		return cmd.CombinedOutput()
	}
	uses := func(with map[string]string) map[string]any {
		return job([]any{map[string]any{"uses": "./", "with": with}})
	}
	if out, err := lint("steps.yaml", job(a.Runs.Steps)); err != nil {
		t.Errorf("the steps: %v\n%s", err, out)
	}
	if out, err := lint("uses.yaml", uses(with)); err != nil {
		t.Errorf("a workflow that uses it: %v\n%s", err, out)
	}
	with["nosuch"] = "x"
	if out, err := lint("wrong.yaml", uses(with)); err == nil || !strings.Contains(string(out), fmt.Sprintf("%q", "nosuch")) {
		t.Errorf("an input that there is not: error %v, want one that names it\n%s", err, out)
	}
}
