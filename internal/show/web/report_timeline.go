package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/draw/timeline"
)

// timelines asks for the overview of a run's timeline, and for the windows that
// findings lead to.
func (f *reportFile) timelines(r int, v *View) error {
	value, err := f.take("api/timeline", queryOf(r), nil)
	if err != nil {
		return err
	}
	head, ok := answerAs[Timeline](value)
	if !ok {
		return nil
	}
	t := excerpt{reportFile: f, r: r, head: head, label: map[string]timeline.Lane{}, kids: map[string][]timeline.Lane{}}
	for _, l := range head.Lanes {
		if err := t.open(l); err != nil {
			return err
		}
	}
	targets := targetsOf(f.findings(r))
	for _, p := range targets {
		if g := p.params.Get("g"); p.screen == "timeline" && g != "" {
			if err := t.group(g); err != nil {
				return err
			}
		}
	}
	if err := t.window(0, head.DurationNS, t.shown(), maxReportTiles/3); err != nil {
		return err
	}
	return t.linked(targets)
}

// An excerpt is what of one timeline is in the file.
type excerpt struct {
	*reportFile
	r     int
	head  *Timeline
	lanes []timeline.Lane            // that are shown, and those that findings lead to
	label map[string]timeline.Lane   // groups, by name
	kids  map[string][]timeline.Lane // of lanes that were opened
}

// open asks for what a lane opens into.
func (t *excerpt) open(l timeline.Lane) error {
	t.lanes = append(t.lanes, l)
	if l.Kind == "g" {
		t.label[l.Label] = l
	}
	if l.Children == 0 || l.Kind == "g" {
		return nil
	}
	_, err := t.children(l.ID)
	return err
}

// children returns the lanes that a lane opens into; they are asked for once.
func (t *excerpt) children(parent string) ([]timeline.Lane, error) {
	if list, ok := t.kids[parent]; ok {
		return list, nil
	}
	list, err := t.takeLanes(parent)
	if err != nil {
		return nil, err
	}
	t.kids[parent] = list
	for _, l := range list {
		if _, known := t.label[l.Label]; l.Kind == "g" && !known {
			t.label[l.Label] = l
		}
	}
	return list, nil
}

// takeLanes asks for lanes as the page does, and keeps the answer.
func (t *excerpt) takeLanes(parent string, more ...string) ([]timeline.Lane, error) {
	q := queryOf(t.r, append([]string{"parent", parent, "offset", "0", "limit", strconv.Itoa(lanePage)}, more...)...)
	value, err := t.take("api/timeline/lanes", q, nil)
	if lanes, ok := answerAs[Lanes](value); ok {
		return lanes.Lanes, err
	}
	return nil, err
}

// group makes a group that a link names known, with its goroutines.
func (t *excerpt) group(g string) error {
	if _, known := t.label[g]; !known {
		if err := t.find(g); err != nil {
			return err
		}
	}
	l, known := t.label[g]
	if !known {
		return nil
	}
	if !slices.ContainsFunc(t.lanes, func(have timeline.Lane) bool { return have.ID == l.ID }) {
		t.lanes = append(t.lanes, l)
	}
	_, err := t.children(l.ID)
	return err
}

// find looks for a group that is not among the first.
func (t *excerpt) find(g string) error {
	quoted, err := json.Marshal(g)
	if err != nil {
		return err
	}
	list, err := t.takeLanes("groups", "q", "func:"+string(quoted))
	for _, l := range list {
		if l.Label == g {
			t.label[g] = l
		}
	}
	return err
}

// shown returns the lanes of the overview.
func (t *excerpt) shown() (ids []string) {
	for _, l := range t.lanes {
		ids = append(ids, l.ID)
	}
	return ids
}

// about returns the lanes of a window: what concerns the whole program, and before
// other groups the goroutines that the window is about.
func (t *excerpt) about(p target) (ids []string) {
	add := func(id string) {
		if len(ids) < reportLanes && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, l := range t.lanes {
		if l.Kind != "g" && l.Kind != "go" {
			add(l.ID)
		}
	}
	if named := p.params.Get("lanes"); named != "" {
		for _, id := range strings.Split(named, ",") {
			if text, err := url.PathUnescape(id); err == nil {
				add(text)
			}
		}
	}
	if g, ok := t.label[p.params.Get("g")]; ok {
		add(g.ID)
		for _, k := range t.kids[g.ID][:min(len(t.kids[g.ID]), reportLanes/2)] {
			add(k.ID)
		}
	}
	for _, l := range t.lanes {
		add(l.ID)
	}
	return ids
}

// linked asks for the windows that findings lead to.
func (t *excerpt) linked(targets []target) error {
	windows, lost := 0, 0
	seen := map[window]bool{}
	for _, p := range targets {
		w, err := windowParam(p.params, 0)
		if p.screen != "timeline" || err != nil || w.whole() || seen[w] {
			continue
		}
		seen[w] = true
		if windows++; windows > reportWindows || t.reportFile.tiles > maxReportTiles || t.room < maxOneWindow {
			lost++
			continue
		}
		if err := t.window(int64(w.from), int64(w.to), t.about(p), maxOneWindow); err != nil {
			return err
		}
	}
	if lost > 0 {
		t.left[t.r] = append(t.left[t.r], fmt.Sprintf("%d windows of the timeline that findings link to did not fit into this file; gowhy view has all of it", lost))
	}
	return nil
}

// window asks for the tiles of a window, at the level that fills a screen. All
// lanes of a tile are asked for together, as a piece of the trace may have to be read
// for them; when that is more than there is room for, the last of them are left out.
func (t *excerpt) window(from, to int64, lanes []string, room int) error {
	level := t.head.MinLevel
	for level < t.head.MaxLevel && (to-from)>>level > reportBuckets {
		level++
	}
	wide := int64(1) << (level + 8)
	first, last := from/wide, (to-1)/wide
	room /= int(last-first) + 1
	for tile := first; tile <= last; tile++ {
		for some := lanes; len(some) > 0; some = some[:len(some)/2] {
			q := queryOf(t.r, "level", strconv.Itoa(level), "tile", strconv.FormatInt(tile, 10), "lanes", strings.Join(some, ","))
			_, text, err := t.ask("api/timeline/tiles", q, url.Values{"wait": {"1"}})
			if err != nil {
				return err
			}
			if len(text) <= room && !bytes.HasPrefix(text, []byte("{")) {
				t.add("api/timeline/tiles", q, text)
				t.reportFile.tiles += len(text)
				break
			}
		}
	}
	return nil
}
