package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gowhy/gowhy/internal/ground/statistics"
)

const schema = 1

// A Result is all that a run of the benchmark found, as results.json has it.
type Result struct {
	Schema  int         `json:"schema"`
	Date    string      `json:"date"`
	Machine Machine     `json:"machine"`
	Rounds  int         `json:"rounds"`
	Seed    uint64      `json:"seed"`
	Limits  Limits      `json:"limits"`
	Traces  []TraceInfo `json:"traces"`
	Figures []Figure    `json:"figures"`
	Ratios  []Ratio     `json:"ratios"`
	Bars    []Bar       `json:"bars"`
	Runs    []Run       `json:"runs"`
}

// A Machine is what figures were taken on; nothing in it tells which one it was.
type Machine struct {
	OS, Arch string
	Cores    int
	CPU      string // model
	Memory   int64  // bytes
	Go       string
}

// Limits are those of a single process.
type Limits struct {
	Timeout string `json:"timeout"`
	Memory  int64  `json:"memory_bytes"`
}

// A TraceInfo is a trace that was read.
type TraceInfo struct {
	Name   string `json:"name"`
	Doc    string `json:"doc"`
	Bytes  int64  `json:"bytes"`
	Events int64  `json:"events"` // as gowhy counts them
}

// A Figure is what one contender took for one trace: medians of the runs that
// count, and the least CPU.
type Figure struct {
	Trace     string  `json:"trace"`
	Contender string  `json:"contender"`
	CPU       float64 `json:"cpu_s"`
	MinCPU    float64 `json:"min_cpu_s"`
	Wall      float64 `json:"wall_s"`
	RSS       float64 `json:"rss_bytes"`
	Runs      int     `json:"runs"` // that count
	Disturbed int     `json:"disturbed"`
	Failure   string  `json:"failure,omitempty"`
}

// A Ratio is how many times as much another contender took as gowhy.
type Ratio struct {
	Trace  string `json:"trace"`
	Peer   string `json:"peer"`
	CPU    Spread `json:"cpu"`
	Wall   Spread `json:"wall"`
	Memory Spread `json:"memory"`
	Rounds int    `json:"rounds"`
	// AtLeast is set when the peer was ended by a limit: the true ratios are larger.
	AtLeast bool `json:"at_least,omitempty"`
	// Disturbed is set when there was no round in which the machine was quiet.
	Disturbed bool `json:"disturbed,omitempty"`
}

// A Spread is a median with the extremes. All are 0 when not known.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

func newResult(o options, traces []trace, list []contender, runs []Run) *Result {
	r := &Result{
		Schema:  schema,
		Date:    time.Now().Format(time.DateOnly),
		Machine: thisMachine(),
		Rounds:  o.rounds, Seed: o.seed,
		Limits: Limits{o.timeout.String(), o.memory * 1e6},
		Runs:   runs,
	}
	for _, t := range traces {
		info := TraceInfo{Name: t.name(), Doc: t.kind.Doc, Bytes: t.bytes}
		for _, c := range list {
			f := figure(runs, t.name(), c.name)
			r.Figures = append(r.Figures, f)
			if c.name == subject {
				info.Events = events(runs, t.name())
			} else if ratio, ok := compare(runs, t.name(), c.name); ok {
				r.Ratios = append(r.Ratios, ratio)
			}
		}
		r.Traces = append(r.Traces, info)
	}
	r.Bars = judge(r)
	return r
}

// of selects the runs of one contender on one trace.
func of(runs []Run, trace, contender string) []Run {
	var some []Run
	for _, r := range runs {
		if r.Trace == trace && r.Contender == contender {
			some = append(some, r)
		}
	}
	return some
}

// counting drops the disturbed runs, unless there are no others.
func counting(runs []Run) []Run {
	calm := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return !r.calm() })
	if len(calm) == 0 {
		return runs
	}
	return calm
}

func events(runs []Run, trace string) int64 {
	for _, r := range of(runs, trace, subject) {
		var a answer
		if json.Unmarshal(r.Answer, &a) == nil && a.Events > 0 {
			return a.Events
		}
	}
	return 0
}

func figure(runs []Run, trace, contender string) Figure {
	all := of(runs, trace, contender)
	count := counting(all)
	f := Figure{Trace: trace, Contender: contender, Runs: len(count)}
	var cpu, wall, rss []float64
	for _, r := range count {
		cpu, wall, rss = append(cpu, r.CPU), append(wall, r.Wall), append(rss, float64(r.RSS))
		if r.Failure != "" {
			f.Failure = r.Failure
		}
	}
	for _, r := range all {
		if !r.calm() {
			f.Disturbed++
		}
	}
	if len(count) > 0 {
		f.CPU, f.MinCPU, f.Wall, f.RSS = statistics.Median(cpu), slices.Min(cpu), statistics.Median(wall), statistics.Median(rss)
	}
	return f
}

// compare pairs a peer's runs with gowhy's of the same round, and leaves out
// the pairs of which one was disturbed unless there are no others.
func compare(runs []Run, trace, peer string) (Ratio, bool) {
	ratio := Ratio{Trace: trace, Peer: peer}
	type pair struct{ ours, theirs Run }
	var calm, all []pair
	for _, theirs := range of(runs, trace, peer) {
		for _, ours := range of(runs, trace, subject) {
			if ours.Round != theirs.Round || ours.Failure != "" {
				continue
			}
			p := pair{ours, theirs}
			all = append(all, p)
			if ours.calm() && theirs.calm() {
				calm = append(calm, p)
			}
		}
	}
	pairs := calm
	if len(pairs) == 0 {
		pairs, ratio.Disturbed = all, true
	}
	if len(pairs) == 0 {
		return ratio, false
	}
	var cpu, wall, memory []float64
	for _, p := range pairs {
		if p.theirs.Failure != "" {
			ratio.AtLeast = true
		}
		cpu = appendRatio(cpu, p.theirs.CPU, p.ours.CPU)
		wall = appendRatio(wall, p.theirs.Wall, p.ours.Wall)
		memory = appendRatio(memory, float64(p.theirs.RSS), float64(p.ours.RSS))
	}
	ratio.Rounds = len(pairs)
	ratio.CPU, ratio.Wall, ratio.Memory = spread(cpu), spread(wall), spread(memory)
	return ratio, true
}

func appendRatio(list []float64, theirs, ours float64) []float64 {
	if ours <= 0 {
		return list
	}
	return append(list, theirs/ours)
}

func spread(list []float64) Spread {
	if len(list) == 0 {
		return Spread{}
	}
	return Spread{statistics.Median(list), slices.Min(list), slices.Max(list)}
}

// geomean returns the geometric mean; 0 of nothing.
func geomean(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	var logs float64
	for _, v := range list {
		logs += math.Log(v)
	}
	return math.Exp(logs / float64(len(list)))
}

// find returns the figure of a contender on a trace, or nil.
func (r *Result) find(trace, contender string) *Figure {
	i := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Trace == trace && f.Contender == contender })
	if i < 0 {
		return nil
	}
	return &r.Figures[i]
}

// ratio returns a peer's on a trace, or nil.
func (r *Result) ratio(trace, peer string) *Ratio {
	i := slices.IndexFunc(r.Ratios, func(q Ratio) bool { return q.Trace == trace && q.Peer == peer })
	if i < 0 {
		return nil
	}
	return &r.Ratios[i]
}

func thisMachine() Machine {
	cpu, memory := hardware()
	return Machine{runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpu, memory, runtime.Version()}
}

// dirName returns the run's directory: the day and the sort of machine.
func dirName(day string, m Machine) string {
	return fmt.Sprintf("%s-%s", day, slug(fmt.Sprintf("%s-%s-%d-%s-%s", m.OS, m.Arch, m.Cores, m.CPU, m.Go)))
}

func slug(s string) string {
	fields := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.'
	})
	return strings.Join(fields, "-")
}

// save writes results.json and README.md into a new directory below parent.
func (r *Result) save(parent string) (string, error) {
	return saveRun(parent, r.Date, r.Machine, "results.json", r, r.writeReport)
}

// saveRun writes figures as JSON and their report as README.md into a new
// directory below parent. The day may have the sort of run behind it.
func saveRun(parent, day string, m Machine, file string, figures any, report func(io.Writer) error) (string, error) {
	dir, err := makeDir(parent, day, m)
	if err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(figures, "", "\t")
	if err != nil {
		return dir, err
	}
	if err := os.WriteFile(filepath.Join(dir, file), append(data, '\n'), 0o644); err != nil {
		return dir, err
	}
	f, err := os.Create(filepath.Join(dir, "README.md"))
	if err != nil {
		return dir, err
	}
	return dir, errors.Join(report(f), f.Close())
}

// makeDir makes the run's directory; another one of the same day keeps its own.
func makeDir(parent, day string, m Machine) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	name := dirName(day, m)
	dir := filepath.Join(parent, name)
	err := os.Mkdir(dir, 0o755)
	for n := 2; errors.Is(err, os.ErrExist) && n < 100; n++ {
		dir = filepath.Join(parent, fmt.Sprintf("%s.%02d", name, n))
		err = os.Mkdir(dir, 0o755)
	}
	return dir, err
}

// load reads a run's results.json.
func load(dir string) (*Result, error) {
	path := filepath.Join(dir, "results.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Schema != schema {
		return nil, fmt.Errorf("%s has schema %d, this program reads %d", path, r.Schema, schema)
	}
	return &r, nil
}

// loadBaseline reads a recorded run: the one named, or the newest.
func loadBaseline(dir string) (*Result, error) {
	if dir != "" {
		return load(dir)
	}
	all, err := filepath.Glob("bench/runs/*/results.json")
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, errors.New("no recorded run in bench/runs; name one with -baseline")
	}
	newest := slices.MaxFunc(all, cmp.Compare[string]) // their names begin with the date
	return load(filepath.Dir(newest))
}
