package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/demo"
	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/figures"
	"github.com/gowhy/gowhy/internal/layout"
	"github.com/gowhy/gowhy/internal/problem"
	"github.com/gowhy/gowhy/internal/report"
)

func (c *command) demoCommand() *cobra.Command {
	var list bool
	var out, child string
	var names []string
	for _, k := range demo.Cases() {
		names = append(names, k.Name)
	}
	cmd := &cobra.Command{
		Use:   "demo [CASE]",
		Short: "Record a sick program that is built in, and diagnose it",
		Long: `Runs a small sick program for some seconds, records it and prints the diagnosis.
Nothing but this binary is needed, and nothing leaves the machine.`,
		Example: `  gowhy demo
  gowhy demo --list
  gowhy demo leakedtimers -o leak.gowhy`,
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return misused("gowhy demo "+args[0], "demo takes one case")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if list {
				return c.listCases()
			}
			name := names[0]
			if len(args) == 1 {
				name = args[0]
			}
			k, ok := demo.Find(name)
			if !ok {
				hint := "gowhy demo --list"
				if near, ok := problem.Near(name, names); ok {
					hint = "gowhy demo " + near
				}
				return misused(hint, "there is no case %q", name)
			}
			if child != "" {
				return demo.Run(cmd.Context(), k, child)
			}
			return c.demo(cmd.Context(), k, out)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the cases")
	cmd.Flags().StringVarP(&out, "output", "o", "", "keep the recording in this `FILE` (default a temporary one)")
	cmd.Flags().StringVar(&child, childFlag, "", "")
	_ = cmd.Flags().MarkHidden(childFlag) // fails only for a flag that is not there
	return cmd
}

// childFlag makes the process the sick program itself.
const childFlag = "run-into"

func (c *command) listCases() error {
	cases := demo.Cases()
	wide := 0
	for _, k := range cases {
		wide = max(wide, len(k.Name))
	}
	var b strings.Builder
	for _, k := range cases {
		o := c.layout()
		o.Width = cmp.Or(o.Width, 80) - wide - 2
		for i, l := range strings.Split(strings.TrimSuffix(layout.Wrap(k.Story, o), "\n"), "\n") {
			name := ""
			if i == 0 {
				name = k.Name
			}
			fmt.Fprintf(&b, "%-*s  %s\n", wide, name, l)
		}
	}
	_, err := io.WriteString(c.Stdout, b.String())
	return err
}

func (c *command) demo(ctx context.Context, k demo.Case, out string) error {
	if err := checkOutput(out); err != nil {
		return err
	}
	if out == "" {
		dir, err := os.MkdirTemp("", "gowhy-")
		if err != nil {
			return err
		}
		out = filepath.Join(dir, k.Name+".gowhy")
	}
	fmt.Fprintf(c.Stderr, "gowhy: running the program for %v…\n", demo.Duration)
	start := time.Now()
	args := func(dir string) []string { return []string{"demo", k.Name, "--" + childFlag, dir} }
	if err := demo.Record(ctx, k, out, args, c.Stderr); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	recorded := figures.Duration(time.Since(start))
	m, err := c.read(ctx, []string{out}, readOptions{})
	if err != nil {
		return err
	}
	d := diagnosis.Run(m, c.Rules, diagnosis.Options{})
	look := c.layout()
	head := layout.Wrap("The program: "+k.Story, look) + layout.Wrap(fmt.Sprintf("Recorded in %s, kept in %s", recorded, out), look) + "\n"
	if _, err := io.WriteString(c.Stdout, head); err != nil {
		return err
	}
	return report.Text(c.Stdout, d, look)
}
