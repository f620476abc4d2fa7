package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func testDuty() *duty {
	return &duty{event: 300 * time.Nanosecond, stack: 3 * time.Microsecond, random: rand.New(rand.NewPCG(1, 2)).Float64}
}

// TestPlan holds the budget for all rates, and that all is watched that fits it.
func TestPlan(t *testing.T) {
	for _, takesStacks := range []bool{false, true} {
		d := testDuty()
		if !takesStacks {
			d.stack = 0
		}
		last := 2.0
		for rate := 1.0; rate < 1e7; rate *= 1.3 {
			for _, cpu := range []float64{0, 0.01, 1, 1.5, 30} {
				share, stacks := d.plan(rate, cpu)
				cost := rate * share * (d.event.Seconds() + stacks*d.stack.Seconds())
				allowed := max(dutyBudget*cpu, dutyFloor)
				if cost > allowed*1.001 && share > leastShare {
					t.Errorf("%.0f events a second of %v cores: share %v, stacks %v cost %v of what is allowed, want at most all", rate, cpu, share, stacks, cost/allowed)
				}
				if cost < allowed*0.99 && (share < 1 || takesStacks && stacks < 1) {
					t.Errorf("%.0f events a second of %v cores: share %v, stacks %v, though that costs only %v", rate, cpu, share, stacks, cost/allowed)
				}
				if cpu == 1 {
					if share > last*1.000001 { // as far as floats are exact
						t.Errorf("share %v at a rate of %.0f, want at most the %v of a lower rate", share, rate, last)
					}
					last = share
				}
			}
		}
		d.all = true
		if share, stacks := d.plan(1e7, 1); share != 1 || stacks != 1 {
			t.Errorf("plan of all: share %v, stacks %v; want 1 and 1", share, stacks)
		}
	}
}

// TestCycle holds that slices have the share of the time, that their weights
// make up for it exactly, and that every phase of what is periodic is met alike.
func TestCycle(t *testing.T) {
	d := testDuty()
	for _, period := range []uint64{1e6, 10e6, 100e6, 250e6, 1e9} {
		const share, bins = 0.07, 8
		var now, watched, weighed uint64
		var phases [bins]float64
		for range 4000 {
			s, end := d.cycle(now, share, meanCycle)
			if s.from < now || s.until > end || s.until <= s.from {
				t.Fatalf("slice %v, want it in %d to %d and longer than nothing", s, now, end)
			}
			watched += s.until - s.from
			weighed += (s.until - s.from) * s.weight
			phases[(s.from+s.until)/2%period*bins/period]++
			now = end
		}
		if got := float64(watched) / float64(now); math.Abs(got-share) > 0.001 {
			t.Errorf("share %v, want %v within 0.001", got, share)
		}
		if got := float64(weighed) / weightUnit / float64(now); math.Abs(got-1) > 1e-6 {
			t.Errorf("the weights make %v of the time, want 1", got)
		}
		for i, n := range phases {
			if n < 4000/bins*0.8 || n > 4000/bins*1.2 {
				t.Errorf("a period of %d ms: slices are in part %d of it %.2f times as often as in others, want 0.8 to 1.2", period/1e6, i, n*bins/4000)
			}
		}
	}
}

// TestFactors makes programs that are held up by the watching and one that is
// not, and asks for the number of their events.
func TestFactors(t *testing.T) {
	const event = 300e-9
	for _, c := range []struct {
		name       string
		rate, work float64 // events a second and CPU of each, unwatched
		busy       bool
	}{
		{"busy", 1e6, 1e-6, true},
		{"busy, dear events", 1e5, 1e-5, true},
		{"waits for others", 1e5, 2e-6, false},
	} {
		e := episode{event: 300 * time.Nanosecond}
		const slice, weight, cycles = 0.01, 25, 30
		var seen, cpu float64
		for range cycles {
			rate := c.rate
			if c.busy {
				rate = 1 / (c.work + event)
			}
			n := rate * slice
			used := n * (c.work + event)
			e.add(span{0, slice * 1e9, weight * weightUnit}, uint64(n), time.Duration(used*1e9), 0)
			seen += n * weight
			cpu += used + c.rate*c.work*slice*(weight-1)
		}
		elapsed := slice * weight * cycles
		count, wall := e.factors(elapsed, cpu, 0)
		if math.Abs(wall-1) > 1e-6 {
			t.Errorf("%s: times are scaled by %v, want 1", c.name, wall)
		}
		truth := c.rate * elapsed
		if got := seen * count; math.Abs(got-truth) > 0.02*truth {
			t.Errorf("%s: %.3f of the events, want 0.98 to 1.02", c.name, got/truth)
		}
		if count, again := e.factors(elapsed, cpu, uint64(2*truth)); math.Abs(seen*count-2*truth) > 0.01*truth || again != wall {
			t.Errorf("%s: %v events of %v counted by the kernel, times are scaled by %v, want %v", c.name, seen*count, 2*truth, again, wall)
		}
	}
	if count, wall := new(episode).factors(1, 1, 7); count != 1 || wall != 1 {
		t.Errorf("no slices: %v, %v", count, wall)
	}
}
