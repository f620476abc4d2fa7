package specimen

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// agentPath is what a driver imports to be asked for everything.
const agentPath = "github.com/gowhy/gowhy/agent"

// Build builds a side's driver and returns the program, which is in dir; what is
// there already is not built again. A driver of tests is a test binary, any other is
// given gowhy's agent.
func (s *Specimen) Build(ctx context.Context, dir, side string) (program string, err error) {
	var v string
	for _, one := range s.Sides() {
		if one.Name == side {
			v = one.Version
		}
	}
	work := filepath.Join(dir, s.Name+"-"+strings.TrimPrefix(v, "v"))
	program = filepath.Join(work, "bin", s.Name)
	if s.IsBench() {
		program += ".test"
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.RemoveAll(work); err != nil {
		return "", err
	}
	if err := os.CopyFS(work, os.DirFS(s.Dir)); err != nil {
		return "", err
	}
	steps := [][]string{}
	if v != "" {
		steps = append(steps, []string{"get", s.Module + "@" + v})
	}
	build := []string{"test", "-c", "-o", program, "."}
	if !s.IsBench() {
		root, err := testbed.Checkout()
		if err != nil {
			return "", err
		}
		const agent = "package main\n\nimport _ \"" + agentPath + "\"\n"
		if err := os.WriteFile(filepath.Join(work, "agent.go"), []byte(agent), 0o600); err != nil {
			return "", err
		}
		steps = append(steps, []string{"mod", "edit", "-require=" + agentPath + "@v0.0.0", "-replace=" + agentPath + "=" + filepath.Join(root, "agent")})
		build = []string{"build", "-o", program, "."}
	}
	steps = append(steps, []string{"mod", "tidy"}, build)
	for _, step := range steps {
		cmd := exec.CommandContext(ctx, "go", step...)
		cmd.Dir, cmd.Env = work, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: go %s: %w\n%s", s.Name, strings.Join(step, " "), err, text)
		}
	}
	return program, s.has(ctx, work, v)
}

// has checks that the build took the version that was meant: another requirement
// may have asked for a newer one.
func (s *Specimen) has(ctx context.Context, work, v string) error {
	if v == "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", s.Module)
	cmd.Dir, cmd.Env = work, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: go list -m %s: %w", s.Name, s.Module, err)
	}
	if got := strings.TrimSpace(string(out)); got != v {
		return fmt.Errorf("%s: built with %s %s, want %s: some other module requires it", s.Name, s.Module, got, v)
	}
	return nil
}

// IsBench reports whether the driver is benchmarks.
func (s *Specimen) IsBench() bool {
	tests, _ := filepath.Glob(filepath.Join(s.Dir, "*_test.go"))
	return len(tests) > 0
}

// Job returns the recorded run of a side, whose arguments of a test binary are those of
// its benchmarks.
func (s *Specimen) Job(side Side, program, out string) testbed.Job {
	args := side.Args
	if s.IsBench() {
		args = append([]string{"-test.run=^$", "-test.bench=.", "-test.benchmem"}, args...)
	}
	return testbed.Job{Program: program, Args: args, Time: s.Time, Ready: s.Ready, Load: side.Load, Out: out}
}
