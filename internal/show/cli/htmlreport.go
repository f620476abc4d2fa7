package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/show/intake"
	"github.com/gowhy/gowhy/internal/show/web"
)

func (c *command) reportCommand() *cobra.Command {
	var out string
	o := &viewReading{}
	cmd := &cobra.Command{
		Use:   "report FILE... -o x.html",
		Short: "Write what view shows into one HTML file, to send or to keep",
		Long: `Writes the page of gowhy view as one file that needs nothing else: findings,
charts, flame graphs, goroutine groups and tasks, and of the timeline the
overview and the windows that findings link to. It opens in any browser, also
from disk, loads nothing and sends nothing. Files are grouped as view does it.

It holds names of functions, files and goroutines, log lines and the command
line, as the recording does; record with --redact for less.`,
		Example: `  gowhy report run.gowhy -o report.html
  gowhy report before.gowhy after.gowhy trial.json -o change.html`,
		Args: atLeastOneFile,
		RunE: func(cmd *cobra.Command, args []string) error { return c.htmlReport(cmd.Context(), args, out, o) },
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `FILE`; - is standard output")
	o.flags(cmd)
	return cmd
}

func (c *command) htmlReport(ctx context.Context, files []string, out string, o *viewReading) error {
	if err := o.check(); err != nil {
		return err
	}
	if _, screen := terminal(c.Stdout); out == "" || out == "-" && screen {
		hint := "gowhy report " + shell.Words(files) + " -o report.html"
		if out == "-" {
			return misused(hint, "an HTML file is not for the screen")
		}
		return misused(hint, "no file to write to was given")
	}
	if err := checkOutput(out); err != nil {
		return err
	}
	found, err := intake.Sort(files)
	if err != nil {
		return err
	}
	r := web.Report{Version: version(), Results: found.Results}
	for _, s := range found.Runs {
		v, err := c.openForReport(ctx, s, o)
		if err != nil {
			return err
		}
		r.Views = append(r.Views, v)
	}
	p := c.startProgress("writing", 0)
	defer p.stop()
	err = c.output(out, func(w io.Writer, _ layout.Options) error { return r.Write(w) })
	p.stop()
	if err == nil {
		c.wrote(out)
	}
	return err
}

// openForReport reads a run, showing progress. A file that others will read has all
// that was asked for, or is not written.
func (c *command) openForReport(ctx context.Context, s web.Source, o *viewReading) (*web.View, error) {
	p := c.startProgress("reading", mebibytes)
	defer p.stop()
	progress := p.callback()
	return c.reader(o).Whole(ctx, s, progress)
}
