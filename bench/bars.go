package main

import (
	"fmt"
	"strings"
)

// A Bar is something that gowhy has to reach, with what it did.
type Bar struct {
	Text string `json:"text"`
	// Want and Got are ratios that should be at least Want, or figures that
	// should be at most.
	Want   float64 `json:"want"`
	Got    float64 `json:"got"`
	AtMost bool    `json:"at_most,omitempty"`
	Unit   string  `json:"unit"`
	// Where is the trace that Got comes from; empty for a mean over all.
	Where string `json:"where,omitempty"`
	// Unfinished is how many traces are left out because the peer was ended
	// by a limit before its ratio was large enough to tell.
	Unfinished int `json:"unfinished,omitempty"`
	// Verdict is met, missed, or "not measured".
	Verdict string `json:"verdict"`
}

// The verdicts on a bar.
const (
	met         = "met"
	missed      = "missed"
	notMeasured = "not measured"
)

// A standard is a bar about ratios before anything was measured.
type standard struct {
	text   string
	peer   string
	of     func(*Ratio) Spread
	traces func(name string) bool
	mean   bool // the geometric mean over the traces, not each of them
	want   float64
}

func cpuOf(r *Ratio) Spread    { return r.CPU }
func memoryOf(r *Ratio) Spread { return r.Memory }

func anyTrace(string) bool { return true }

// manyThreads returns the traces of 64 to 1024 threads.
func manyThreads(name string) bool { return strings.HasPrefix(name, "ms") }

var standards = []standard{
	{"CPU of the bare loop, every trace", loopName, cpuOf, anyTrace, false, 4},
	{"CPU of the bare loop, geometric mean", loopName, cpuOf, anyTrace, true, 7},
	{"CPU of the bare loop, 64-1024 threads, geometric mean", loopName, cpuOf, manyThreads, true, 9},
	{"CPU of the loop with a summary, geometric mean", sumName, cpuOf, anyTrace, true, 12},
	{"CPU of go tool trace, every trace", toolName, cpuOf, anyTrace, false, 25},
	{"CPU of go tool trace, geometric mean", toolName, cpuOf, anyTrace, true, 50},
	{"memory of go tool trace, every trace", toolName, memoryOf, anyTrace, false, 30},
}

// judge holds the result against every bar.
func judge(r *Result) []Bar {
	var bars []Bar
	for _, s := range standards {
		bars = append(bars, s.judge(r.Ratios))
	}
	large := fmt.Sprintf("channels-%d", largeMB)
	one, all := r.find(large, subject), r.find(large, allCores)
	if r.Machine.Cores < 2 {
		all = nil
	}
	return append(bars,
		atMost("1 GB on one core", "s", 2.5, one, func(f *Figure) float64 { return f.Wall }),
		atMost(fmt.Sprintf("1 GB on two cores (here %d)", r.Machine.Cores), "s", 1.4, all, func(f *Figure) float64 { return f.Wall }),
		atMost("1 GB, resident memory on one core", "MB", 200, one, func(f *Figure) float64 { return f.RSS / 1e6 }),
		atMost("1 GB, resident memory on all cores", "MB", 200, all, func(f *Figure) float64 { return f.RSS / 1e6 }),
	)
}

func (s standard) judge(ratios []Ratio) Bar {
	b := Bar{Text: s.text, Want: s.want, Unit: "x", Verdict: notMeasured}
	var values []float64
	for i := range ratios {
		r := &ratios[i]
		v := s.of(r).Median
		if r.Peer != s.peer || !s.traces(r.Trace) || v <= 0 {
			continue
		}
		if r.AtLeast && v < s.want {
			b.Unfinished++
			continue
		}
		values = append(values, v)
		if !s.mean && (b.Where == "" || v < b.Got) {
			b.Got, b.Where = v, r.Trace
		}
	}
	if len(values) == 0 {
		return b
	}
	if s.mean {
		b.Got = geomean(values)
	}
	switch {
	case b.Got >= s.want:
		b.Verdict = met
	default:
		b.Verdict = missed
	}
	return b
}

func atMost(text, unit string, want float64, f *Figure, value func(*Figure) float64) Bar {
	b := Bar{Text: text, Want: want, AtMost: true, Unit: unit, Verdict: notMeasured}
	if f == nil || f.Runs == 0 || f.Failure != "" {
		return b
	}
	b.Got, b.Where, b.Verdict = value(f), f.Trace, missed
	if b.Got <= want {
		b.Verdict = met
	}
	return b
}
