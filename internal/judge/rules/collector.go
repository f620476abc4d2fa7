package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/memory"
)

// gcSymptoms lists what a collector that is kept busy may explain: its stops only as far as
// it is their number that costs, and what allocating costs only where collecting is most of
// that.
func gcSymptoms(p *diagnosis.Pass) []string {
	return slices.DeleteFunc(slices.Clone(p.Rule.Explains), func(rule string) bool {
		switch often := oftenBySetting(p); rule {
		case "slowstop":
			return !stopsByNumber(p)
		case "allocchurn":
			if p.Rule.Name == "gccost" {
				return !keepsPointers(p) && (!often || !collecting(p, gcHalf))
			}
			if _, full := measureFull(p); full { // a setting, as of gccost above
				return !collecting(p, gcHalf)
			}
			return !collecting(p, gcMostly)
		case "gccost":
			return (often || keepsPointers(p)) && p.Rule.Name == "allocchurn"
		}
		return false
	})
}

// oftenBySetting reports whether it is GOGC that makes collections frequent.
func oftenBySetting(p *diagnosis.Pass) bool {
	g, off := memory.GOGC(p)
	return !off && g.Value <= memory.LowGOGC
}

// gcMostly is the part of the cost of allocating that the collector must be
// for the collector's problem to explain it.
const gcMostly = 0.7

// gcHalf is that part where GOGC is known to make collections frequent.
const gcHalf = 0.5

// collecting reports whether so much of the cost of allocating is the collector.
func collecting(p *diagnosis.Pass, part float64) bool {
	a := memory.AllocationOf(p)
	return a.Collect.Value >= part*a.Whole().Value
}

// gcOften is how many collections a second are all the time: one begins as soon as the one
// before is swept.
const gcOften = 10

// habitCycles is the fewest collections that show a habit.
const habitCycles = 3
