package cli

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/evidence"
	"github.com/gowhy/gowhy/internal/export"
	"github.com/gowhy/gowhy/internal/report"
	"github.com/gowhy/gowhy/model"
)

func (c *command) exportCommand() *cobra.Command {
	var to, profile, out string
	var o export.Options
	var reading readOptions
	formats := make([]string, len(export.All))
	formatDocs := ""
	for i, f := range export.All {
		formats[i] = f.Name
		formatDocs += "\n  " + f.Name + strings.Repeat(" ", 10-len(f.Name)) + f.Doc
	}
	profiles := make([]string, len(export.Profiles))
	for i, p := range export.Profiles {
		profiles[i] = string(p)
	}
	cmd := &cobra.Command{
		Use:   "export FILE...",
		Short: "Write profiles, tables and time lines for other tools",
		Long:  "Writes what a recording holds in a form that other tools open:\n" + formatDocs,
		Example: `  gowhy export trace.out --to pprof --profile sync -o sync.pb.gz && go tool pprof -top sync.pb.gz
  gowhy export trace.out --to folded --profile states | flamegraph.pl > states.svg
  gowhy export trace.out --to csv --table goroutines -o goroutines.csv
  gowhy export trace.out --to perfetto -o trace.json     # open at ui.perfetto.dev`,
		Args: atLeastOneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, err := range []error{oneOf("to", to, formats), oneOf("profile", profile, profiles), oneOf("table", o.Table, export.Tables())} {
				if err != nil {
					return err
				}
			}
			if o.Table != "" && to != "csv" {
				return misused("--to csv --table "+o.Table, "--table is for --to csv")
			}
			if _, screen := terminal(c.Stdout); screen && to == "pprof" && out == "" {
				return misused("-o "+profile+".pb.gz", "a pprof file is not for the screen")
			}
			if to == "csv" || to == "perfetto" {
				reading.keep = -1
			}
			reading.sweeps = o.Table == "utilization"
			m, err := c.read(cmd.Context(), args, reading)
			if err != nil {
				return err
			}
			o.Profile = export.Profile(profile)
			format := export.All[slices.Index(formats, to)]
			runs := &runSlices{ctx: cmd.Context(), files: args, reading: reading, group: o.Group, m: m}
			if to == "perfetto" && m.Sched != nil && !slices.Contains(args, "-") {
				o.Slices = runs.all
			}
			err = c.output(out, func(w io.Writer, _ report.Options) error { return format.Write(w, m, o) })
			return cmp.Or(runs.err, err)
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "pprof", "the format: "+strings.Join(formats, ", "))
	f.StringVar(&profile, "profile", string(export.States), "the profile: "+strings.Join(profiles, ", "))
	f.StringVar(&o.Table, "table", "", "the table of csv (default: that of the profile): "+strings.Join(export.Tables(), ", "))
	f.StringVar(&o.Group, "group", "", "only goroutines with this start function")
	f.StringVarP(&out, "output", "o", "", "write to this file")
	reading.flags(cmd)
	reading.referenceFlag(cmd)
	complete(cmd, "to", formats)
	complete(cmd, "profile", profiles)
	complete(cmd, "table", export.Tables())
	return cmd
}

// runSlices hands the single runs of a trace to an export that draws them.
type runSlices struct {
	ctx     context.Context
	files   []string
	reading readOptions
	group   string
	m       *model.Model
	err     error // of the iteration, for afterwards
}

// all is an iterator. The trace is read again for it, since the model does
// not keep single runs.
func (r *runSlices) all(yield func(export.Slice) bool) {
	groups := make(map[int64]string, len(r.m.Sched.Goroutines))
	for i := range r.m.Sched.Goroutines {
		g := &r.m.Sched.Goroutines[i]
		groups[g.ID] = g.Group
	}
	window, err := parseWindow(r.reading.window)
	if err == nil {
		err = evidence.EachRun(r.ctx, r.files, evidence.Options{Window: window}, func(run evidence.Run) bool {
			s := export.Slice{Proc: run.Proc, Goroutine: run.Goroutine, Group: groups[run.Goroutine], Begin: run.Begin, End: run.End}
			if run.Syscall {
				s.Name = "system call"
			}
			return r.group != "" && s.Group != r.group || yield(s)
		})
	}
	r.err = err
}
