package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/agent/recording"
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
		m.Name, m.What = name(m.Name), name(v.whatIs(&m))
		s.Members = append(s.Members, m)
	}
	for _, r := range run.Refused {
		how := ""
		if r.Source != "" {
			how = diagnosis.HowToGet(run, r.Source)
		}
		s.Refused = append(s.Refused, Refusal{Source: name(r.Member), Why: name(r.Why), How: how})
	}
	if len(export.ProfilesOf(v.Model)) == 0 {
		s.Tools = nil // these show profiles
	}
	return s, nil
}

// whatIs says what a member is, and of how many samples where that is known.
func (v *View) whatIs(m *Member) string {
	words := cmp.Or(m.What, "one of the files of this run")
	if k := v.Model.Kernel; k != nil && m.Name[strings.LastIndexAny(m.Name, "/:")+1:] == recording.KernelTimesMember && len(k.Moments) > 0 {
		words += fmt.Sprintf(": %d samples", len(k.Moments))
	}
	return words
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

// build returns the facts of the build and of the environment that it ran in.
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

// exports returns the files that can be written of this run, with the choices that
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
