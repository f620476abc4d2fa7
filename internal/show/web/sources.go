package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/draw/export"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// sources answers GET api/sources: what was recorded and what was not, what was
// lost of it, and in which forms it can be had.
func (v *View) sources(url.Values) (any, error) {
	run := &v.Model.Run
	s := &Sources{
		Command: name(shell.Words(run.Command)),
		Notes:   coverageNotes(&run.Coverage),
		Build:   v.build(),
		Exports: v.exports(),
		Tools:   slices.Clone(v.Tools),
	}
	for _, m := range v.Members {
		m.Name, m.What = name(m.Name), name(cmp.Or(m.What, v.whatIs(m.Name)))
		s.Members = append(s.Members, m)
	}
	for _, r := range run.Refused {
		s.Refused = append(s.Refused, Refusal{Source: name(r.Source), Why: name(r.Why), How: v.howToGet(r.Source)})
	}
	if len(export.ProfilesOf(v.Model)) == 0 {
		s.Tools = nil // these show profiles
	}
	return s, nil
}

// memberWords say what the standard members of a recording are.
var memberWords = map[string]string{
	"manifest.json":         "what was requested, when, and what was refused",
	"trace":                 "the execution trace: what every goroutine and P did, event by event",
	"cpu.pb.gz":             "CPU profile: where CPU time was used, 100 samples a second of each thread",
	"allocs.pb.gz":          "allocations since the program's start, sampled by size",
	"heap-start.pb.gz":      "what was in use on the heap when the recording began",
	"heap-end.pb.gz":        "what was in use on the heap when it ended",
	"block.pb.gz":           "where goroutines waited for each other",
	"mutex.pb.gz":           "who kept others waiting at locks",
	"goroutine-start.pb.gz": "the stacks of all goroutines when the recording began",
	"goroutine-end.pb.gz":   "the stacks of all goroutines when it ended",
	"threadcreate.pb.gz":    "where threads were created",
	"goroutineleak.pb.gz":   "goroutines that nothing can wake any more",
	"metrics.jsonl":         "the runtime's own metrics over time",
	"gctrace.log":           "a line for each collection, as GODEBUG=gctrace=1 tells it",
	"schedtrace.log":        "run queues over time, as GODEBUG=schedtrace tells them",
	"kernel.pb.gz":          "CPU samples taken by the kernel, its own functions among them",
	kernelTimes:             "when each of the kernel's CPU samples was taken, on which CPU, of which thread",
	"offcpu.pb.gz":          "where threads lost the CPU, by the kernel's context switches",
	"syscalls.json":         "system calls, counted by the kernel",
	"proc.jsonl":            "the process's and the machine's counters over time, from /proc",
	"load":                  "what the load generator measured",
	"build.txt":             "what the program was built from, and how",
	"stdout.log":            "what the program printed",
	"stderr.log":            "what the program printed as errors",
}

// kernelTimes is the member whose samples are counted in its words.
const kernelTimes = "kernel.jsonl"

func (v *View) whatIs(member string) string {
	member = member[strings.LastIndexAny(member, "/:")+1:]
	words := cmp.Or(memberWords[member], "one of the files of this run")
	if k := v.Model.Kernel; k != nil && member == kernelTimes && len(k.Moments) > 0 {
		words += fmt.Sprintf(": %d samples", len(k.Moments))
	}
	return words
}

// howToGet is a command for a source that was refused; a source that no model
// knows has none.
func (v *View) howToGet(source string) string {
	if s := model.Source(source); s.Known() {
		return diagnosis.HowToGet(&v.Model.Run, s)
	}
	return ""
}

// coverageNotes says what was lost, in words.
func coverageNotes(c *model.Coverage) (notes []string) {
	if c.LostBytes > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d bytes of the trace could not be read, about %d events", c.LostBytes, c.Bytes, c.LostEvents))
	}
	if c.Damaged > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d generations of the trace lost something", c.Damaged, c.Generations))
	}
	if c.Lost > 0 {
		notes = append(notes, fmt.Sprintf("%s of the window have no trusted evidence", figures.Duration(c.Lost)))
	}
	if c.MaxOverlap >= diagnosis.StarvedOverlap {
		notes = append(notes, fmt.Sprintf("the tracer itself waited for a CPU, up to %s: the program was starved", figures.Duration(c.MaxOverlap)))
	}
	for _, n := range c.Notes {
		notes = append(notes, name(n))
	}
	return notes
}

// build are the facts of the build and of the environment that it ran in.
func (v *View) build() (list []KeyValue) {
	add := func(key, value string) {
		if value != "" {
			list = append(list, KeyValue{name(key), name(value)})
		}
	}
	b := v.Model.Build
	if b == nil {
		add("go", v.Model.Run.Go)
		return list
	}
	add("path", b.Path)
	add("module", b.Module)
	add("version", b.Version)
	add("go", cmp.Or(b.Go, v.Model.Run.Go))
	for _, k := range slices.Sorted(maps.Keys(b.Settings)) {
		add(k, b.Settings[k])
	}
	for _, k := range slices.Sorted(maps.Keys(b.Environment)) {
		add(k, b.Environment[k])
	}
	return list
}

// exports are the files that can be written of this run, with the choices that
// each leaves.
func (v *View) exports() (list []Export) {
	var profiles []string
	for _, p := range export.ProfilesOf(v.Model) {
		profiles = append(profiles, string(p))
	}
	tables := export.TablesOf(v.Model)
	for _, f := range export.All {
		e := Export{Format: f.Name, Doc: f.Doc, Ext: f.Ext}
		var has bool
		switch f.Holds {
		case export.OneProfile, export.ManyProfiles:
			has = len(profiles) > 0
			e.Profiles = profiles
		case export.OneTable:
			has = len(tables) > 0
			e.Tables = tables
		case export.TimeLine:
			has = v.Model.Sched != nil
		}
		if has {
			list = append(list, e)
		}
	}
	return list
}
