// Package forecast expects the calls of the week to come.
package forecast

import (
	"slices"

	"callstaffing/internal/history"
)

// Week is the calls expected in each half hour.
type Week [7][history.Slots]float64

// Next expects a week from the past ones: smoothed, without outliers.
func Next(q *history.Queue) Week {
	const alpha = 0.35
	var w Week
	for day := range 7 {
		for s := range history.Slots {
			var past []float64
			for d := day; d < len(q.Days); d += 7 {
				past = append(past, q.Days[d][s])
			}
			if len(past) == 0 {
				continue
			}
			sorted := slices.Sorted(slices.Values(past))
			low, high := sorted[len(sorted)/10], sorted[len(sorted)-1-len(sorted)/10]
			x := past[0]
			for _, v := range past[1:] {
				x += alpha * (min(max(v, low), high) - x)
			}
			w[day][s] = x
		}
	}
	return w
}
