// Package staffing tells how many agents a half hour needs (Erlang C).
package staffing

import (
	"math"
	"time"
)

// Goal is which share of callers shall be answered within a time.
type Goal struct {
	Share  float64
	Within time.Duration
	Limit  int
}

// Planner finds numbers of agents.
type Planner struct {
	Goal Goal
	V2   bool
}

// blocked is the chance that n lines are all busy, for a load in erlangs.
func blocked(n int, load float64) float64 {
	b := 1.0
	for i := 1; i <= n; i++ {
		b = load * b / (float64(i) + load*b)
	}
	return b
}

func (p *Planner) answered(n int, load, b float64, handle time.Duration) float64 {
	spare := float64(n) - load
	if spare <= 0 {
		return 0
	}
	wait := float64(n) * b / (float64(n) - load*(1-b))
	return 1 - wait*math.Exp(-spare*float64(p.Goal.Within)/float64(handle))
}

// Agents returns the least number that meets the goal for calls in a half hour.
func (p *Planner) Agents(calls float64, handle time.Duration) int {
	if calls <= 0 {
		return 0
	}
	load := calls * handle.Seconds() / 1800
	if p.V2 {
		return p.upward(load, handle)
	}
	for n := int(load) + 1; n < p.Goal.Limit; n++ {
		if p.answered(n, load, blocked(n, load), handle) >= p.Goal.Share {
			return n
		}
	}
	return p.Goal.Limit
}

func (p *Planner) upward(load float64, handle time.Duration) int {
	b := 1.0
	for n := 1; n < p.Goal.Limit; n++ {
		b = load * b / (float64(n) + load*b)
		if float64(n) > load && p.answered(n, load, b, handle) >= p.Goal.Share {
			return n
		}
	}
	return p.Goal.Limit
}
