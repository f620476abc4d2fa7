package web

import (
	"net/url"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Charts of everything that was measured over time, on the window's clock.
//
// A chart comes from one source, the one that measures its quantity best: two
// sources side by side would be two lines for one thing. What is drawn is thinned
// to maxPoints a line. A line keeps the lowest and the highest point of each
// stretch that it is thinned by, so that a spike of one sample is as high as it was.
//
// Counters become rates between neighbouring samples, drawn in the middle of the
// two. One that went down was begun anew, and leaves a gap.
//
// A window of the run is drawn like all of it: cut first, and then thinned, so that
// a tenth of the time has ten times the detail where more was measured than is sent.

// runtime answers GET api/runtime.
func (v *View) runtime(q url.Values) (any, error) {
	w, err := windowParam(q, v.duration())
	if err != nil {
		return nil, err
	}
	r := &Runtime{FromNS: int64(w.from), ToNS: int64(w.to), Charts: v.charts(w)}
	if g := v.Model.GC; g != nil {
		r.Cycles, r.Pauses = cycles(g, v.duration(), w), pauses(g, w)
		if w.whole() {
			r.MMU = v.mmuCurve(model.CountAll)
		}
	}
	return r, nil
}

// chartMakers are the charts in the order in which they are shown, each with the
// sources that can draw it, the best first.
var chartMakers = []func(plot) *Chart{
	firstOf(heapOfTrace, heapOfMetrics, heapOfLog),
	firstOf(collectorOfTrace, collectorOfLog, collectorOfMetrics),
	firstOf(goroutinesOfMetrics, goroutinesOfTrace),
	firstOf(procsOfTrace, procsOfLog),
	firstOf(queueOfTrace, queueOfMetrics, queueOfLog),
	syscallsOfProcess,
	firstOf(cpuOfProcess, cpuOfMetrics),
	latencyOfLoad, rateOfLoad,
	firstOf(memoryOfProcess, memoryOfMetrics),
	firstOf(threadsOfProcess, threadsOfLog),
	switchesOfProcess, machineOfProc, pressureOfProc,
}

// firstOf returns the first of some charts that has something in it.
func firstOf(makers ...func(plot) *Chart) func(plot) *Chart {
	return func(p plot) *Chart {
		for _, of := range makers {
			if c := of(p); c != nil {
				return c
			}
		}
		return nil
	}
}

// charts returns those with something in them.
func (v *View) charts(w window) (list []Chart) {
	for _, of := range chartMakers {
		if c := of(plot{v.Model, w}); c != nil {
			list = append(list, *c)
		}
	}
	return list
}

// Where charts are from.
const (
	fromTrace   = "trace"
	fromMetrics = "runtime/metrics"
	fromProc    = "/proc"
	fromGCLog   = "gctrace"
	fromSchLog  = "schedtrace"
	fromLoad    = "load result"
)
