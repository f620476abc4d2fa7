package cli

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/show/report"
)

// flameFlags are those of flame.
type flameFlags struct {
	of, focus, out string
	all            bool
	reading        readOptions
}

// kindAliases are what kinds of stacks are called as well.
var kindAliases = map[string]string{
	"alloc": "alloc_space", "allocs": "alloc_space", "heap": "inuse_space", "inuse": "inuse_space", "lock": "mutex", "locks": "mutex",
	"goroutines": "goroutine", "off": "offcpu", "profile": "cpu",
}

func (c *command) flameCommand() *cobra.Command {
	f := &flameFlags{}
	cmd := &cobra.Command{
		Use:   "flame FILE...",
		Short: "Draw a flame graph in the terminal: CPU, allocations, waits",
		Long: `Draws the stacks of one kind: callers above, what they call below, each as wide
as its share. --focus draws what the functions have that match a regular
expression, wherever they are called from. The kinds are cpu, kernel, wall and
offcpu; of a trace the waits net, sync, syscall, sched and other, and states; of
profiles alloc_space (or alloc), alloc_objects, inuse_space (or heap),
inuse_objects, block, mutex, goroutine, goroutineleak and threadcreate. The
first of them that there is anything of is drawn. "gowhy view" has a graph to
click on.`,
		Example: `  gowhy flame run.gowhy
  gowhy flame cpu.pprof --focus 'json\.'
  gowhy flame run.gowhy --of alloc
  gowhy flame trace.out --of sync --window 1s,2s
  gowhy flame run.gowhy --width 160 > flame.txt`,
		Args: atLeastOneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return c.flame(cmd.Context(), args, f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.of, "of", "", "the `KIND` of stacks, like cpu, alloc, heap, sync, mutex")
	fs.StringVar(&f.focus, "focus", "", "only functions that match this regular `EXPRESSION`, with all that they call")
	fs.BoolVar(&f.all, "all", false, "also frames that only call one other and are not the program's own")
	fs.StringVarP(&f.out, "output", "o", "", "write to this `FILE`")
	f.reading.flags(cmd)
	complete(cmd, "of", []string{"cpu", "kernel", "wall", "offcpu", "net", "sync", "syscall", "sched", "alloc", "heap", "block", "mutex", "goroutine", "goroutineleak", "threadcreate"})
	return cmd
}

func (c *command) flame(ctx context.Context, files []string, f *flameFlags) error {
	focus, err := regexp.Compile(f.focus)
	if err != nil {
		return usageError("--focus '"+regexp.QuoteMeta(f.focus)+"'", "--focus %q is no regular expression: %v", f.focus, err)
	}
	if err := checkOutput(f.out); err != nil {
		return err
	}
	m, err := c.read(ctx, files, f.reading)
	if err != nil {
		return err
	}
	var kinds []string
	for _, k := range flame.Kinds(m) {
		kinds = append(kinds, k.Name)
	}
	if len(kinds) == 0 {
		return problem.New(problem.Absence, "gowhy "+shell.Words(files), "there are no stacks in %s", shell.Words(files))
	}
	kind := f.of
	if known, ok := kindAliases[kind]; ok {
		kind = known
	}
	if kind == "" {
		kind = kinds[0]
	}
	if !slices.Contains(kinds, kind) {
		return problem.New(problem.Misuse, "--of "+kinds[0], "%s has no stacks of kind %q; it has %s", shell.Words(files), f.of, strings.Join(kinds, ", "))
	}
	t, err := flame.Build(m, flame.Options{Kind: kind})
	if err != nil {
		return err
	}
	o := report.FlameOptions{All: f.all, Others: slices.DeleteFunc(kinds, func(k string) bool { return k == kind })}
	if f.focus != "" {
		o.Of = t.Total
		if t = flame.Focus(t, focus.MatchString); t.Total == 0 {
			return problem.New(problem.Absence, "gowhy ledger --by function "+shell.Words(files)+"   # lists those there are",
				"no function in the stacks of kind %s matches %q", kind, f.focus)
		}
	}
	return c.output(f.out, func(w io.Writer, l layout.Options) error {
		o.Options = l
		return report.Flame(w, t, o)
	})
}
