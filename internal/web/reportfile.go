package web

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The page in one file.
//
// A report file is the page with answers in it: the same script asks for the same
// paths, and finds them in the file instead of at a server. So what is in the file
// is a list of questions, asked here ahead of the reader, of the same table of
// endpoints. What nobody asked ahead cannot be seen: the list follows what the
// screens ask first, and the links that lead from findings to their evidence.
//
// A recording of a gigabyte must still make a file that can be mailed. Tables and
// charts are small; what grows is the flame graphs, which are pruned until they
// fit, and the timeline, of which the file has the overview and the windows that
// findings link to, in the order of the findings, until there is no more room. What
// was left out is said in the list of sources.
//
// The file is opened from anywhere and by anyone, and names in it come from a
// program that may be hostile: all data is JSON in which no "<" stands as itself,
// in an element that is no script, and the policy in the head lets only the
// script and the style run whose hashes it names.

// Limits of a report file, in bytes of HTML.
const (
	maxReport      = 10 << 20 // about
	maxReportFlame = 1 << 20  // one tree
	maxReportTrees = 4 << 20  // all trees of the runs
	maxReportTiles = 4 << 20
	maxOneWindow   = 700 << 10 // tiles of one window
)

// And of what is asked ahead.
const (
	reportNodes      = 20_000 // of a tree, at first
	reportGroups     = 24     // whose goroutines are listed
	reportGoroutines = 1000   // of one list
	reportTasks      = 32
	reportWindows    = 24
	reportLanes      = 48   // of a window
	reportBuckets    = 1200 // of a window: what a wide screen shows
	lanePage         = 200  // as the page asks for lanes
	reportPairs      = 6    // of runs, compared
)

// A Report is what goes into a file.
type Report struct {
	Version string
	Views   []*View
	Results []Result
}

// Write writes the page with all that it can be asked as one HTML file. The same
// report gives the same bytes.
func (r *Report) Write(w io.Writer) error {
	files, err := reportAssets()
	if err != nil {
		return err
	}
	shell, err := files.inlined()
	if err != nil {
		return err
	}
	p := &page{static: true}
	for _, res := range r.Results {
		p.addResult(res)
	}
	for _, v := range r.Views {
		p.opened(v, bases(v.Model.Run.Files))
	}
	f := &reportFile{page: p, answers: map[string]json.RawMessage{}, room: maxReport - len(shell.before) - len(shell.after)}
	if err := f.collect(r.Version); err != nil {
		return err
	}
	return f.write(w, shell)
}

// A reportFile collects answers.
type reportFile struct {
	page    *page
	answers map[string]json.RawMessage
	room    int // bytes that are left
	trees   int // bytes of flame graphs so far
	tiles   int
	left    map[int][]string // what of a run did not fit, in words
}

// A refusal is why there is no answer, as the page in a file reads it.
type refusal struct {
	Failure
	Status int `json:"status"`
}

// add puts an answer under the question that the page will ask.
func (f *reportFile) add(path string, q url.Values, data []byte) {
	key := path
	if len(q) > 0 {
		key += "?" + q.Encode()
	}
	if _, ok := f.answers[key]; ok {
		return
	}
	data = bytes.TrimSpace(data)
	f.answers[key] = data
	f.room -= len(key) + len(data)
}

// ask asks an endpoint. hidden are parameters that the page in a file leaves out.
func (f *reportFile) ask(path string, q, hidden url.Values) (any, []byte, error) {
	all := maps.Clone(q)
	maps.Copy(all, hidden)
	value, data, err := f.page.answer(context.Background(), endpoints[path], all)
	if err != nil {
		var p *Problem
		if !errors.As(err, &p) {
			return nil, nil, err
		}
		status := p.Status
		if status == 0 {
			status = http.StatusBadRequest
		}
		text, err := encode(refusal{Failure{name(p.What), name(p.Hint)}, status})
		return nil, text, err
	}
	if data != nil {
		text, err := json.Marshal(base64.StdEncoding.EncodeToString(data))
		return nil, text, err
	}
	text, err := encode(value)
	return value, text, err
}

// take asks and keeps the answer.
func (f *reportFile) take(path string, q, hidden url.Values) (any, error) {
	value, text, err := f.ask(path, q, hidden)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.add(path, q, text)
	return value, nil
}

// of is a query: names and values in turn.
func of(r int, pairs ...string) url.Values {
	q := url.Values{"r": {strconv.Itoa(r)}}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

func (f *reportFile) collect(version string) error {
	f.left = map[int][]string{}
	session, err := encode(f.page.session(version, ""))
	if err != nil {
		return err
	}
	f.add("api/session", nil, session)
	// What is small, of all runs, before what may fill the file.
	for _, part := range []func(int, *View) error{f.tables, f.flames, f.timelines, f.sources} {
		for i, r := range f.page.runs {
			if err := part(i, r.view); err != nil {
				return err
			}
		}
	}
	return f.comparisons()
}

// tables asks for what screens show as text, tables and charts.
func (f *reportFile) tables(r int, v *View) error {
	value, err := f.take("api/findings", of(r), nil)
	if err != nil {
		return err
	}
	for _, path := range []string{"api/runtime", "api/mmu"} {
		if _, err := f.take(path, of(r), nil); err != nil {
			return err
		}
	}
	page := url.Values{"limit": {strconv.Itoa(reportGoroutines)}}
	for _, path := range []string{"api/groups", "api/goroutines"} {
		if _, err := f.take(path, of(r), page); err != nil {
			return err
		}
	}
	for _, g := range f.groupsOf(v, value) {
		if _, err := f.take("api/goroutines", of(r, "group", g), url.Values{"limit": {"200"}}); err != nil {
			return err
		}
	}
	return f.tasks(r)
}

// groupsOf are the groups whose goroutines can be looked at: those that findings
// lead to, and the largest.
func (f *reportFile) groupsOf(v *View, findings any) (groups []string) {
	add := func(g string) {
		if g != "" && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for _, p := range targetsOf(findings) {
		add(p.params.Get("group"))
		add(p.params.Get("g"))
	}
	if v.Model.Sched == nil {
		return nil
	}
	for i := range v.Model.Sched.Groups {
		if len(groups) >= reportGroups {
			break
		}
		add(v.Model.Sched.Groups[i].Name)
	}
	return groups
}

// tasks asks for the slowest of each type of task, which are looked at one by one.
func (f *reportFile) tasks(r int) error {
	value, err := f.take("api/tasks", of(r), nil)
	if err != nil {
		return err
	}
	list, ok := value.(*Tasks)
	if !ok {
		return nil
	}
	asked := 0
	for rank := 0; asked < reportTasks; rank++ {
		more := false
		for _, t := range list.Tasks {
			if rank >= len(t.Slow) || asked >= reportTasks {
				continue
			}
			asked, more = asked+1, true
			if _, err := f.take("api/task", of(r, "id", t.Slow[rank].ID), nil); err != nil {
				return err
			}
		}
		if !more {
			break
		}
	}
	return nil
}

// sources asks what was recorded, without what only a server has, and says what
// did not go into the file.
func (f *reportFile) sources(r int, v *View) error {
	value, text, err := f.ask("api/sources", of(r), nil)
	if err != nil {
		return err
	}
	if s, ok := value.(*Sources); ok {
		s.Exports, s.Tools = nil, nil
		s.Notes = append(s.Notes, f.left[r]...)
		if text, err = encode(s); err != nil {
			return err
		}
	}
	f.add("api/sources", of(r), text)
	return nil
}

// flames asks for every tree of a run, pruned to what there is room for.
func (f *reportFile) flames(r int, v *View) error {
	value, text, err := f.tree(of(r))
	if err != nil {
		return err
	}
	first, ok := value.(*Flame)
	if !ok {
		f.add("api/flame", of(r), text)
		return nil
	}
	pruned := 0
	for _, k := range first.Kinds {
		value, text, err := f.tree(of(r, "kind", k.Kind))
		if err != nil {
			return err
		}
		if t, ok := value.(*Flame); ok && t.LeftNodes > 0 {
			pruned++
		}
		f.add("api/flame", of(r, "kind", k.Kind), text)
		f.trees += len(text)
		if k.Kind == first.Kind {
			f.add("api/flame", of(r), text)
			f.trees += len(text)
		}
	}
	if pruned > 0 {
		f.left[r] = append(f.left[r], fmt.Sprintf("%d of %d flame graphs in this file are pruned to their larger frames; gowhy view has all of them", pruned, len(first.Kinds)))
	}
	return f.linkedFlames(r, v)
}

// linkedFlames asks for the trees of single groups that findings lead to.
func (f *reportFile) linkedFlames(r int, v *View) error {
	for _, p := range targetsOf(f.findings(r)) {
		if p.screen != "flame" || p.params.Get("group") == "" || f.trees > maxReportTrees {
			continue
		}
		q := of(r, "group", p.params.Get("group"))
		if k := p.params.Get("kind"); k != "" {
			q.Set("kind", k)
		}
		_, text, err := f.tree(q)
		if err != nil {
			return err
		}
		f.add("api/flame", q, text)
		f.trees += len(text)
	}
	return nil
}

// tree asks for a tree with as many nodes as fit.
func (f *reportFile) tree(q url.Values) (any, []byte, error) {
	room := max(min(maxReportFlame, maxReportTrees-f.trees, f.room), 32<<10)
	for nodes := reportNodes; ; nodes /= 2 {
		value, text, err := f.ask("api/flame", q, url.Values{"limit": {strconv.Itoa(nodes)}})
		if _, isTree := value.(*Flame); err != nil || !isTree || len(text) <= room || nodes < 64 {
			return value, text, err
		}
	}
}

// findings are those of a run that are in the file.
func (f *reportFile) findings(r int) any {
	value, _, err := f.ask("api/findings", of(r), nil)
	if err != nil {
		return nil
	}
	return value
}

// A target is where a link leads.
type target struct {
	screen string
	params url.Values
}

// targetsOf are the places that findings link to, those of the first finding first.
func targetsOf(findings any) (targets []target) {
	var list []FindingLinks
	switch f := findings.(type) {
	case *Findings:
		list = f.Links
	case Findings:
		list = f.Links
	}
	add := func(link string) {
		screen, query, _ := strings.Cut(link, "?")
		if q, err := url.ParseQuery(query); err == nil && link != "" {
			targets = append(targets, target{screen, q})
		}
	}
	var walk func([]FindingLinks)
	walk = func(list []FindingLinks) {
		for _, l := range list {
			for _, e := range l.Evidence {
				add(e)
			}
			for _, w := range l.Where {
				add(w)
			}
			for _, m := range l.More {
				add(m.To)
			}
			walk(l.Symptoms)
		}
	}
	walk(list)
	return targets
}

// timelines asks for the overview of a run's timeline, and for the windows that
// findings lead to.
func (f *reportFile) timelines(r int, v *View) error {
	value, err := f.take("api/timeline", of(r), nil)
	if err != nil {
		return err
	}
	head, ok := timelineOf(value)
	if !ok {
		return nil
	}
	t := excerpt{reportFile: f, r: r, head: head, label: map[string]Lane{}}
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

func timelineOf(v any) (*Timeline, bool) {
	switch t := v.(type) {
	case *Timeline:
		return t, true
	case Timeline:
		return &t, true
	}
	return nil, false
}

// An excerpt is what of one timeline is in the file.
type excerpt struct {
	*reportFile
	r     int
	head  *Timeline
	lanes []Lane          // that are shown, and those that findings lead to
	label map[string]Lane // groups, by name
	kids  map[string][]Lane
}

// open asks for what a lane opens into.
func (t *excerpt) open(l Lane) error {
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

func (t *excerpt) children(parent string) ([]Lane, error) {
	if list, ok := t.kids[parent]; ok {
		return list, nil
	}
	value, err := t.take("api/timeline/lanes", of(t.r, "parent", parent, "offset", "0", "limit", strconv.Itoa(lanePage)), nil)
	if err != nil {
		return nil, err
	}
	list := lanesOf(value)
	if t.kids == nil {
		t.kids = map[string][]Lane{}
	}
	t.kids[parent] = list
	for _, l := range list {
		if _, known := t.label[l.Label]; l.Kind == "g" && !known {
			t.label[l.Label] = l
		}
	}
	return list, nil
}

func lanesOf(v any) []Lane {
	switch l := v.(type) {
	case *Lanes:
		return l.Lanes
	case Lanes:
		return l.Lanes
	}
	return nil
}

// group makes a group that a link names known, with its goroutines.
func (t *excerpt) group(g string) error {
	l, known := t.label[g]
	if !known {
		quoted, err := json.Marshal(g)
		if err != nil {
			return err
		}
		q := of(t.r, "parent", "groups", "offset", "0", "limit", strconv.Itoa(lanePage), "q", "func:"+string(quoted))
		value, err := t.take("api/timeline/lanes", q, nil)
		if err != nil {
			return err
		}
		for _, found := range lanesOf(value) {
			if found.Label == g {
				l, known = found, true
			}
		}
	}
	if !known || slices.ContainsFunc(t.lanes, func(have Lane) bool { return have.ID == l.ID }) && t.kids[l.ID] != nil {
		return nil
	}
	t.label[g] = l
	if !slices.ContainsFunc(t.lanes, func(have Lane) bool { return have.ID == l.ID }) {
		t.lanes = append(t.lanes, l)
	}
	_, err := t.children(l.ID)
	return err
}

// shown are the lanes of the overview.
func (t *excerpt) shown() (ids []string) {
	for _, l := range t.lanes {
		ids = append(ids, l.ID)
	}
	return ids
}

// about are the lanes of a window: what concerns the whole program, and before
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
	seen := map[[2]int64]bool{}
	for _, p := range targets {
		from, to, ok := windowOf(p.params)
		if p.screen != "timeline" || !ok || seen[[2]int64{from, to}] {
			continue
		}
		seen[[2]int64{from, to}] = true
		if windows++; windows > reportWindows || t.reportFile.tiles > maxReportTiles || t.room < maxOneWindow {
			lost++
			continue
		}
		if err := t.window(from, to, t.about(p), maxOneWindow); err != nil {
			return err
		}
	}
	if lost > 0 {
		t.left[t.r] = append(t.left[t.r], fmt.Sprintf("%d windows of the timeline that findings link to did not fit into this file; gowhy view has all of it", lost))
	}
	return nil
}

func windowOf(q url.Values) (from, to int64, ok bool) {
	from, err1 := strconv.ParseInt(q.Get("from"), 10, 64)
	to, err2 := strconv.ParseInt(q.Get("to"), 10, 64)
	return from, to, err1 == nil && err2 == nil && to > from && from >= 0
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
			q := of(t.r, "level", strconv.Itoa(level), "tile", strconv.FormatInt(tile, 10), "lanes", strings.Join(some, ","))
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

// comparisons asks for what the compare screen shows.
func (f *reportFile) comparisons() error {
	for i := range f.page.results {
		if _, err := f.take("api/compare", url.Values{"trial": {strconv.Itoa(i)}}, nil); err != nil {
			return err
		}
	}
	n := 0
	for a := range f.page.runs {
		for b := range f.page.runs {
			// The page offers the first run against each other one.
			if a == b || a > 0 && b > 0 {
				continue
			}
			if n++; n > reportPairs {
				return nil
			}
			if _, err := f.take("api/compare", url.Values{"a": {strconv.Itoa(a)}, "b": {strconv.Itoa(b)}}, nil); err != nil {
				return err
			}
			q := of(b, "kind", "cpu", "base", strconv.Itoa(a))
			_, text, err := f.tree(q)
			if err != nil {
				return err
			}
			f.add("api/flame", q, text)
			f.trees += len(text)
		}
	}
	return nil
}

// write writes the file: the shell with the answers in it, by their questions in
// order.
func (f *reportFile) write(w io.Writer, shell *shell) error {
	b := bufio.NewWriterSize(w, 1<<16)
	_, _ = b.Write(shell.before) // Flush tells the first error
	_, _ = b.WriteString(`<script type="application/json" id="data">{`)
	for i, key := range slices.Sorted(maps.Keys(f.answers)) {
		if i > 0 {
			_, _ = b.WriteString(",\n")
		}
		text, err := json.Marshal(key)
		if err != nil {
			return err
		}
		_, _ = b.Write(text)
		_, _ = b.WriteString(":")
		_, _ = b.Write(harmless(f.answers[key]))
	}
	_, _ = b.WriteString("}</script>\n")
	_, _ = b.Write(shell.after)
	return b.Flush()
}

// harmless is JSON in which nothing can end the element that it stands in. What
// encode wrote has no "<" in it already; saved results come as they were written.
func harmless(text []byte) []byte {
	if !bytes.ContainsAny(text, "<>&\u2028\u2029") {
		return text
	}
	var b bytes.Buffer
	json.HTMLEscape(&b, text)
	return b.Bytes()
}

// A shell is the page without data: what comes before the data and what after.
type shell struct{ before, after []byte }

var (
	scriptTag = regexp.MustCompile(`(?i)<script\b[^>]*\bsrc="(?:\./)?([^"]+)"[^>]*>\s*</script>`)
	styleTag  = regexp.MustCompile(`(?i)<link\b[^>]*\brel="stylesheet"[^>]*\bhref="(?:\./)?([^"]+)"[^>]*>`)
	headTag   = regexp.MustCompile(`(?i)<head>`)
	bodyEnd   = regexp.MustCompile(`(?i)</body>`)
)

// inlined puts the page's script and style into its HTML, under a policy that
// names their hashes. The script stands at the end of the body, behind the data
// that it reads.
func (a *assets) inlined() (*shell, error) {
	index := a.byPath["index.html"].data
	var scripts, styles [][]byte
	var scriptHashes, styleHashes []string
	for _, m := range scriptTag.FindAllSubmatch(index, -1) {
		f, ok := a.byPath[string(m[1])]
		if !ok {
			return nil, fmt.Errorf("the page has no file %s", m[1])
		}
		text := closeless(f.data, "script")
		scripts, scriptHashes = append(scripts, text), append(scriptHashes, hashOf(text))
	}
	for _, m := range styleTag.FindAllSubmatch(index, -1) {
		f, ok := a.byPath[string(m[1])]
		if !ok {
			return nil, fmt.Errorf("the page has no file %s", m[1])
		}
		text := closeless(f.data, "style")
		styles, styleHashes = append(styles, text), append(styleHashes, hashOf(text))
	}
	if len(scripts) == 0 || !headTag.Match(index) || !bodyEnd.Match(index) {
		return nil, errNoPage
	}
	rules := "default-src 'none'; script-src " + strings.Join(scriptHashes, " ") + "; img-src data: blob:; base-uri 'none'; form-action 'none'"
	if len(styleHashes) > 0 {
		rules += "; style-src " + strings.Join(styleHashes, " ")
	}
	index = scriptTag.ReplaceAllLiteral(index, nil)
	index = styleTag.ReplaceAllLiteral(index, nil)
	var head bytes.Buffer
	head.WriteString("<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\"" + rules + "\">\n<meta name=\"referrer\" content=\"no-referrer\">")
	for _, s := range styles {
		head.WriteString("\n<style>")
		head.Write(s)
		head.WriteString("</style>")
	}
	at := headTag.FindIndex(index)
	index = slices.Concat(index[:at[0]], head.Bytes(), index[at[1]:])
	end := bodyEnd.FindAllIndex(index, -1)
	cut := end[len(end)-1][0]
	s := &shell{before: index[:cut]}
	for _, text := range scripts {
		s.after = slices.Concat(s.after, []byte(`<script type="module">`), text, []byte("</script>\n"))
	}
	s.after = append(s.after, index[cut:]...)
	return s, nil
}

// closeless is a script or a style in which nothing looks like its own end. In a
// string or a pattern, where alone it can stand, a backslash changes nothing.
func closeless(text []byte, element string) []byte {
	text = regexp.MustCompile(`(?i)</(`+element+`)`).ReplaceAll(text, []byte(`<\/$1`))
	return bytes.ReplaceAll(text, []byte("<!--"), []byte(`<\!--`))
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
