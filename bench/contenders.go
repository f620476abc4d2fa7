package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The contenders' names.
const (
	subject  = "gowhy" // the one that the others are compared with
	allCores = "gowhy-all"
	diagnose = "diagnose"
	loopName = "loop"
	sumName  = "summary"
	toolName = "tool"
)

// pictureName can be run like a contender, and is none.
const pictureName = "picture"

// A contender reads a trace in a process of its own.
type contender struct {
	name, doc string
	all       bool // on all cores; the others are pinned to one
	ours      bool // not a peer
	argv      func(trace string) []string
}

// catalogue lists the contenders. What they execute is filled in by contend.
var catalogue = []contender{
	{name: subject, ours: true, doc: "exectrace: the whole ledger and the four profiles"},
	{name: allCores, ours: true, all: true, doc: "the same on all cores"},
	{name: diagnose, ours: true, doc: "gowhy diagnose FILE --format json, from reading to printing"},
	{name: loopName, doc: "golang.org/x/exp/trace: reading every event and nothing else"},
	{name: sumName, doc: "golang.org/x/exp/trace and a summary of goroutines and four profiles"},
	{name: toolName, doc: "go tool trace -pprof=sched FILE"},
}

// contenders are those that were asked for, ready to run.
type contenders struct {
	list []contender
	dir  string // of what was built
}

func (c contenders) cleanup() { os.RemoveAll(c.dir) }

// contend makes the contenders ready: all, or gowhy against those named.
func contend(ctx context.Context, names string) (contenders, error) {
	wanted := split(names)
	for _, n := range wanted {
		if !slices.ContainsFunc(catalogue, func(c contender) bool { return c.name == n }) {
			return contenders{}, fmt.Errorf("there is no contender %q; see -list", n)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return contenders{}, err
	}
	dir, err := os.MkdirTemp("", "gowhy-bench-")
	if err != nil {
		return contenders{}, err
	}
	ready := contenders{dir: dir}
	for _, c := range catalogue {
		if len(wanted) > 0 && c.name != subject && !slices.Contains(wanted, c.name) {
			continue
		}
		if err := c.prepare(ctx, self, dir); err != nil {
			ready.cleanup()
			return contenders{}, fmt.Errorf("%s: %w", c.name, err)
		}
		ready.list = append(ready.list, c)
	}
	return ready, nil
}

// prepare finds or builds what the contender executes.
func (c *contender) prepare(ctx context.Context, self, dir string) error {
	switch c.name {
	case diagnose:
		gowhy := filepath.Join(dir, "gowhy")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", gowhy, "github.com/gowhy/gowhy/cmd/gowhy").CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		c.argv = func(trace string) []string { return []string{gowhy, "diagnose", trace, "--format", "json"} }
	case toolName:
		// The tool itself, for the go command's own work not to be counted.
		out, err := exec.CommandContext(ctx, "go", "tool", "-n", "trace").Output()
		if err != nil {
			return fmt.Errorf("go tool -n trace: %w", err)
		}
		tool := strings.TrimSpace(string(out))
		c.argv = func(trace string) []string { return []string{tool, "-pprof=sched", trace} }
	case allCores:
		c.argv = func(trace string) []string { return []string{self, "-run", subject, trace} }
	default:
		name := c.name
		c.argv = func(trace string) []string { return []string{self, "-run", name, trace} }
	}
	return nil
}
