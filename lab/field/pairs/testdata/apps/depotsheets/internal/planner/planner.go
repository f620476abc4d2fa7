// Package planner works out the figures of a depot's runs.
package planner

import (
	"math"
	"slices"

	"depotsheets/internal/fleet"
)

// Figures are what the sheet of a depot says of one run.
type Figures struct {
	Run     *fleet.Run
	Leaves  int
	Minutes int
	Km      float64
	Peak    int
	Mean    float64
	P80     int
	Relief  string // the run whose driver can take over, if any
}

// Work works out the figures of all runs of a depot, in the order of leaving.
func Work(d *fleet.Depot) []Figures {
	list := make([]Figures, len(d.Runs))
	for i := range d.Runs {
		run := &d.Runs[i]
		f := Figures{Run: run, Leaves: run.Stops[0].Minute}
		f.Minutes = run.Stops[len(run.Stops)-1].Minute - f.Leaves
		for k := 1; k < len(run.Stops); k++ {
			f.Km += distance(run.Stops[k-1].Place, run.Stops[k].Place)
		}
		sum := 0
		for _, n := range run.Load {
			sum += n
			f.Peak = max(f.Peak, n)
		}
		f.Mean = float64(sum) / float64(len(run.Load))
		sorted := slices.Sorted(slices.Values(run.Load))
		f.P80 = sorted[len(sorted)*4/5]
		f.Relief = relief(d, run)
		list[i] = f
	}
	slices.SortFunc(list, func(a, b Figures) int { return a.Leaves - b.Leaves })
	return list
}

// relief finds the run that ends nearest to the start of this one.
func relief(d *fleet.Depot, run *fleet.Run) string {
	best, number := math.Inf(1), ""
	for i := range d.Runs {
		o := &d.Runs[i]
		last := o.Stops[len(o.Stops)-1]
		gap := run.Stops[0].Minute - last.Minute
		if o == run || gap < 5 || gap > 120 {
			continue
		}
		if cost := float64(gap) + 4*distance(last.Place, run.Stops[0].Place); cost < best {
			best, number = cost, o.Number
		}
	}
	return number
}

func distance(a, b int) float64 {
	ax, ay := float64(a%64)*0.2, float64(a/64)*0.2
	bx, by := float64(b%64)*0.2, float64(b/64)*0.2
	return math.Hypot(ax-bx, ay-by)
}
