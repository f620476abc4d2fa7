// Package sheet lays out the duty sheet of a depot.
package sheet

import (
	"fmt"
	"io"
	"text/tabwriter"

	"depotsheets/internal/fleet"
	"depotsheets/internal/planner"
)

const heads = "run\tline\tdriver\tleaves\tmin\tkm\tpeak\tmean\t80%\trelief\t"

// Print writes the sheet of a depot to w.
func Print(w io.Writer, d *fleet.Depot, list []planner.Figures) error {
	if _, err := fmt.Fprintf(w, "%s: %d runs\n\n", d.Name, len(list)); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, heads)
	var km float64
	for i := range list {
		f := &list[i]
		km += f.Km
		fmt.Fprintf(tw, "%s\t%s\t%s\t%02d:%02d\t%d\t%.1f\t%d\t%.1f\t%d\t%s\t\n",
			f.Run.Number, f.Run.Line, f.Run.Driver, f.Leaves/60%24, f.Leaves%60,
			f.Minutes, f.Km, f.Peak, f.Mean, f.P80, f.Relief)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%.1f km\n", km)
	return err
}
