package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/draw/export"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/show/intake"
)

func (c *command) exportCommand() *cobra.Command {
	var to, profile, out string
	var o export.Options
	var reading readOptions
	formats := make([]string, len(export.All))
	formatDocs := ""
	for i, f := range export.All {
		formats[i] = f.Name
		formatDocs += "\n  " + f.Name + strings.Repeat(" ", 12-len(f.Name)) + f.Doc
	}
	profiles := make([]string, len(export.Profiles))
	for i, p := range export.Profiles {
		profiles[i] = string(p)
	}
	cmd := &cobra.Command{
		Use:   "export FILE...",
		Short: "Write profiles, tables and time lines for other tools",
		Long: "Writes what a recording holds in a form that other tools open:\n" + formatDocs + `

A file for speedscope holds every profile there is, and what ran on each P over
time, unless --profile chooses one. Without a trace and --profile the others
hold the first profile that there is.`,
		Example: `  gowhy export trace.out --profile sync -o sync.pb.gz
  go tool pprof -top sync.pb.gz
  gowhy export trace.out --to folded | flamegraph.pl > states.svg
  gowhy export trace.out --to csv --table goroutines -o goroutines.csv
  gowhy export trace.out --to perfetto -o trace.pftrace   # for ui.perfetto.dev
  gowhy export run.gowhy --to speedscope -o run.speedscope.json   # all profiles
  gowhy export run.gowhy --to speedscope --profile cpu -o cpu.speedscope.json`,
		Args: atLeastOneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, err := range []error{oneOf("to", to, formats), oneOf("profile", profile, profiles), oneOf("table", o.Table, export.Tables())} {
				if err != nil {
					return err
				}
			}
			if o.Table != "" && to != "csv" {
				return usageError("--to csv --table "+o.Table, "--table is for --to csv")
			}
			format := export.All[slices.Index(formats, to)]
			if _, screen := terminal(c.Stdout); screen && out == "" && (to == "pprof" || to == "perfetto") {
				return usageError("-o "+profile+format.Ext, "a %s file is not for the screen", to)
			}
			if o.Table == "goroutines" {
				reading.keep = -1
			}
			if err := checkOutput(out); err != nil {
				return err
			}
			reading.sweeps = o.Table == "utilization"
			m, err := c.read(cmd.Context(), args, reading)
			if err != nil {
				return err
			}
			o.Profile = export.Profile(profile)
			if !cmd.Flags().Changed("profile") {
				switch has := export.ProfilesOf(m); {
				case format.Holds == export.ManyProfiles:
					o.Profile = ""
				case m.Sched == nil && (format.Holds == export.OneProfile || format.Holds == export.OneTable) && o.Table == "" && len(has) > 0:
					o.Profile = has[0] // without a trace there are no states: what was recorded is meant
					profile = string(has[0])
				}
			}
			if reading.window != "" && export.Whole(m, o.Profile) {
				c.complain(fmt.Sprintf("the %s profile is of its whole time: sums without moments cannot be cut to a window", profile), "")
			}
			window, err := parseWindow(reading.window)
			if err != nil {
				return err
			}
			runs := &intake.Slices{Context: cmd.Context(), Files: args, Window: window, Group: o.Group}
			if m.Sched != nil && draws(format, o.Profile) {
				if slices.Contains(args, "-") {
					c.complain("standard input can be read only once: single runs of goroutines are left out", "put it into a file first")
				} else {
					o.Slices = runs.All
				}
			}
			p := c.startProgress("writing", 0)
			defer p.stop()
			if tell := p.callback(); tell != nil && out != "" {
				runs.Progress = func(at time.Duration) { tell(int64(at), int64(m.Run.Duration)) }
			}
			err = c.output(out, func(w io.Writer, _ layout.Options) error { return runs.Write(w, format, m, o) })
			p.stop()
			if err == nil && out != "" {
				c.wrote(out)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "pprof", "`FORMAT`: "+strings.Join(formats, ", "))
	f.StringVar(&profile, "profile", string(export.States), "`PROFILE`: "+strings.Join(profiles, ", "))
	f.StringVar(&o.Table, "table", "", "`TABLE` of csv (default: that of the profile): "+strings.Join(export.Tables(), ", "))
	f.StringVar(&o.Group, "group", "", "only goroutines with this start `FUNCTION`")
	f.StringVarP(&out, "output", "o", "", "write to this `FILE`")
	reading.flags(cmd)
	complete(cmd, "to", formats)
	complete(cmd, "profile", profiles)
	complete(cmd, "table", export.Tables())
	return cmd
}

// draws reports whether a file gets the single runs of a trace: a time line does,
// and one with all profiles.
func draws(f export.Format, p export.Profile) bool {
	return f.Runs && (f.Holds == export.TimeLine || p == "")
}
