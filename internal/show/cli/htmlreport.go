package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/show/intake"
	"github.com/gowhy/gowhy/internal/show/report"
	"github.com/gowhy/gowhy/internal/show/web"
)

func (c *command) reportCommand() *cobra.Command {
	var out, format string
	o := &viewReading{}
	cmd := &cobra.Command{
		Use:   "report FILE... (-o x.html | --format markdown)",
		Short: "Write what view shows into one HTML file, or a few lines to share",
		Long: `Writes the page of gowhy view as one file that needs nothing else: findings,
charts, flame graphs, goroutine groups and tasks, and of the timeline the
overview and the windows that findings link to. It opens in any browser, also
from disk, loads nothing and sends nothing. Files are grouped as view does it.

It holds names of functions, files and goroutines, log lines and the command
line, as the recording does; record with --redact for less.

With --format markdown it is a few lines for a pull request or a chat: the
verdict, the findings, what to do first, and where the time went.`,
		Example: `  gowhy report run.gowhy -o report.html
  gowhy report before.gowhy after.gowhy trial.json -o change.html
  gowhy report run.gowhy --format markdown | gh pr comment 42 -F -`,
		Args: atLeastOneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("format", format, reportFormats); err != nil {
				return err
			}
			if format == "markdown" {
				return c.sharedReport(cmd.Context(), args, out, o)
			}
			return c.htmlReport(cmd.Context(), args, out, o)
		},
	}
	cmd.Flags().StringVar(&format, "format", "html", "`FORMAT`: "+strings.Join(reportFormats, ", "))
	complete(cmd, "format", reportFormats)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `FILE`; - is standard output")
	o.flags(cmd)
	return cmd
}

var reportFormats = []string{"html", "markdown"}

// sharedReport writes a diagnosis in short.
func (c *command) sharedReport(ctx context.Context, files []string, out string, o *viewReading) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := checkOutput(out); err != nil {
		return err
	}
	d, _, err := c.readDiagnosis(ctx, files, readOptions{workers: o.workers}, diagnosis.Goal(o.goal))
	if err != nil {
		return err
	}
	return c.output(out, func(w io.Writer, l layout.Options) error { return report.Shared(w, d, l) })
}

func (c *command) htmlReport(ctx context.Context, files []string, out string, o *viewReading) error {
	if err := o.check(); err != nil {
		return err
	}
	if _, screen := terminal(c.Stdout); out == "" || out == "-" && screen {
		hint := "gowhy report " + shell.Words(files) + " -o report.html"
		if out == "-" {
			return usageError(hint, "an HTML file is not for the screen")
		}
		return usageError(hint, "no file to write to was given")
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
func (c *command) openForReport(ctx context.Context, s web.RunFiles, o *viewReading) (*web.View, error) {
	p := c.startProgress("reading", mebibytes)
	defer p.stop()
	progress := p.callback()
	return c.reader(o).Whole(ctx, s, progress)
}
