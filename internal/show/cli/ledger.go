package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/show/report"
)

// ledgerTop is how many rows a table has when nobody asked for more: what
// fits a screen.
const ledgerTop = 20

func (c *command) ledgerCommand() *cobra.Command {
	var o report.LedgerOptions
	var reading readOptions
	var out string
	cmd := &cobra.Command{
		Use:   "ledger FILE...",
		Short: "Account for every second of CPU time, goroutines, Ps, GC, threads",
		Long: `Prints where time went: of goroutines, Ps, collections, tasks and regions (these
need a trace), of the CPU by part, by system call and by thread, of Ps, threads
and machine side by side; what memory is, what one operation costs, what each
line costs and can give back. The parts of a row add up to its total; what is
not known is shown as unknown. Without a trace and without --by it is the
account of CPU time. JSON has times in nanoseconds and all rows unless --top is
given.`,
		Example: `  gowhy ledger trace.out
  gowhy ledger trace.out --by goroutine --sort runnable
  gowhy ledger trace.out --by p --window 1s,2s
  gowhy ledger cpu.pprof --by function
  gowhy ledger bench.gowhy --by line --sort cum
  gowhy ledger run.gowhy --by syscall --sort count
  gowhy ledger trace.out --json | jq '.[] | {name, runnable_ns}'`,
		Args: atLeastOneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("by", o.By, report.LedgerTables); err != nil {
				return err
			}
			if o.Top < 0 {
				return usageError("--top 20", "--top %d is negative", o.Top)
			}
			if o.JSON && !cmd.Flags().Changed("top") {
				o.Top = 0
			}
			if err := checkOutput(out); err != nil {
				return err
			}
			if o.By == "goroutine" {
				reading.keep = keepFor(o)
			}
			m, err := c.read(cmd.Context(), args, reading)
			if err != nil {
				return err
			}
			return c.output(out, func(w io.Writer, l layout.Options) error {
				o.Options = l
				return report.Ledger(w, m, o)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.By, "by", "", "`ACCOUNT`: "+strings.Join(report.LedgerTables, ", ")+" (default group, without a trace cpu)")
	f.StringVar(&o.Sort, "sort", "", "the `COLUMN` to sort by, largest first")
	f.IntVar(&o.Top, "top", ledgerTop, "show this many `ROWS`; 0 is all")
	f.BoolVar(&o.JSON, "json", false, "as JSON")
	f.StringVarP(&out, "output", "o", "", "write to this `FILE`")
	reading.flags(cmd)
	complete(cmd, "by", report.LedgerTables)
	return cmd
}

// keepFor returns how many goroutines of each group have to be kept for a ledger by
// goroutine. All of them are a kilobyte each, millions perhaps; those who look at the top
// rows want the heaviest, and get some more of them than rows. A column that does not tell
// heavy goroutines from light ones needs all.
func keepFor(o report.LedgerOptions) int {
	const enough, most = 100, 1000
	switch o.Sort {
	case "", "total", "running", "runnable":
	default:
		return -1
	}
	if o.Top == 0 || o.Top > most {
		return -1
	}
	return max(o.Top, enough)
}
