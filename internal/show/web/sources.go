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
	"github.com/gowhy/gowhy/internal/sense/artifact"
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

func (v *View) whatIs(member string) string {
	member = member[strings.LastIndexAny(member, "/:")+1:]
	words := cmp.Or(artifact.Described(member).Words, "one of the files of this run")
	if k := v.Model.Kernel; k != nil && member == recording.KernelTimesMember && len(k.Moments) > 0 {
		words += fmt.Sprintf(": %d samples", len(k.Moments))
	}
	return words
}

// howToGet returns a command for a member that was refused; "" for one that is no evidence.
func (v *View) howToGet(member string) string {
	if s := artifact.Described(member).Source; s != "" {
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
