package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Lane is a row of the timeline.
type Lane struct {
	ID       string        `json:"id"`
	Parent   string        `json:"parent"` // "" at the top
	Kind     string        `json:"kind"`   // gc, stw, ps, p, threads, m, groups, g, go, tasks, task, regions, samples, kernel, cpu
	Label    string        `json:"label"`
	Detail   string        `json:"detail"`   // file:line of a group's start function, …
	Count    int           `json:"count"`    // of goroutines, threads, Ps, collections, tasks, samples in it
	Children int           `json:"children"` // lanes that it opens into
	Total    time.Duration `json:"total_ns"` // time spent running; sorts
	From     time.Duration `json:"from_ns"`  // when it lives
	To       time.Duration `json:"to_ns"`
	// Peak is the most at once, for the height of the strip: 1 for a single
	// lane, goroutines for a group, Ps for ps, threads for threads, open ones for tasks,
	// CPUs for the kernel's samples. Each of these is drawn as the period of CPU time
	// that it stands for, before it: in user code as running, in the kernel as syscall.
	Peak float64 `json:"peak"`
}

// Lanes returns those shown first, in order. Groups are the first firstGroups of them.
func (t *Timeline) Lanes() []Lane {
	end := t.Length()
	out := []Lane{
		{ID: "gc", Kind: "gc", Count: len(t.cycles.list), Peak: 1, To: end},
		{ID: "stw", Kind: "stw", Count: len(t.pauses.list), Peak: 1, To: end},
	}
	procs := t.of(laneProc, lanePs)
	out = append(out, t.head("ps", lanePs, len(procs)))
	out = append(out, procs...)
	out = append(out, t.head("threads", laneThreads, t.reg.count[laneThread]))
	for _, id := range []string{groupsOfUser, groupsOfSystem} {
		groups := t.groupLanes(id)
		head := Lane{ID: id, Kind: "groups", Children: len(groups), To: end}
		for _, g := range groups {
			head.Count, head.Peak = head.Count+g.Count, head.Peak+g.Peak
		}
		if id == groupsOfUser || len(groups) > 0 {
			out = append(append(out, head), groups[:min(len(groups), firstGroups)]...)
		}
	}
	for _, l := range [...]struct {
		id   string
		lane int
		n    int
	}{{"tasks", laneTasks, len(t.tasks)}, {"regions", laneRegions, len(t.regions)}, {"samples", laneSamples, 0}} {
		if t.total(int32(l.lane)) > 0 {
			out = append(out, t.head(l.id, l.lane, l.n))
		}
	}
	return out
}

const firstGroups = 40

// The heads of the groups: those of the program, and those of the runtime, the tracer,
// the profiler and the agent.
const (
	groupsOfUser   = "groups"
	groupsOfSystem = "system"
)

func headOf(group string) string {
	if exectrace.IsSystem(group) || model.OfRecording([]model.Frame{{Func: group}}) {
		return groupsOfSystem
	}
	return groupsOfUser
}

// head returns the lane of a kind as a whole.
func (t *Timeline) head(id string, lane, children int) Lane {
	return Lane{ID: id, Kind: id, Children: children, Count: children, To: t.Length(),
		Total: time.Duration(t.totals[lane][Running] + t.totals[lane][GC]), Peak: t.peaks[lane]}
}

func (t *Timeline) total(lane int32) (ns float64) {
	for _, v := range t.totals[lane] {
		ns += v
	}
	return ns
}

// of returns the lanes of Ps or threads, by id.
func (t *Timeline) of(kind laneKind, parent int) (out []Lane) {
	for i, id := range t.reg.lanes {
		if id.kind != kind {
			continue
		}
		l := Lane{ID: "p:" + strconv.FormatInt(id.id, 10), Parent: "ps", Kind: "p", Label: "P " + strconv.FormatInt(id.id, 10), Count: 1}
		if kind == laneThread {
			l.ID, l.Parent, l.Kind, l.Label = "m:"+strconv.FormatInt(id.id, 10), "threads", "m", "thread "+strconv.FormatInt(id.id, 10)
			if id.id == otherID {
				l.Label = "(other threads)"
			}
		}
		l.Total, l.To, l.Peak = time.Duration(t.totals[i][Running]+t.totals[i][GC]), t.Length(), 1
		out = append(out, l)
	}
	if kind == laneProc {
		slices.SortFunc(out, func(a, b Lane) int { return compareIDs(a.ID, b.ID) })
	} else {
		slices.SortStableFunc(out, func(a, b Lane) int { return compare(int64(b.Total), int64(a.Total)) })
	}
	return out
}

func compareIDs(a, b string) int {
	if len(a) != len(b) {
		return compare(len(a), len(b))
	}
	return strings.Compare(a, b)
}

// groupLanes returns the lanes of the groups below a head, those that ran most first.
func (t *Timeline) groupLanes(head string) []Lane {
	var out []Lane
	for g := range t.reg.groups {
		if l := t.groupLane(int32(g)); l.Count > 0 && l.Parent == head {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Lane) int { return compare(int64(b.Total), int64(a.Total)) })
	return out
}

func (t *Timeline) groupLane(g int32) Lane {
	r := &t.reg.groups[g]
	l := Lane{ID: "g:" + strconv.Itoa(int(g)), Parent: headOf(r.name), Kind: "g", Label: r.name, To: t.Length(), Peak: t.peaks[r.lane],
		Total: time.Duration(t.totals[r.lane][Running] + t.totals[r.lane][GC])}
	if int(g) < len(t.gors.counts) {
		l.Count = t.gors.counts[g]
	}
	l.Children = l.Count
	if m := t.sched[r.name]; m != nil && m.Start.File != "" {
		l.Detail = fmt.Sprintf("%s:%d", m.Start.File, m.Start.Line)
	}
	return l
}

// Children returns the lanes that one opens into: a page of those that match a
// filter, and how many match. note says which are not listed.
func (t *Timeline) Children(parent string, filter Filter, offset, limit int) (lanes []Lane, total int, note string, err error) {
	ref, ok := t.parse(parent)
	if !ok {
		return nil, 0, "", errLane(parent)
	}
	if ref.kind == "g" {
		return t.members(ref, filter, offset, limit)
	}
	var all []Lane
	switch ref.kind {
	case "ps":
		all = t.of(laneProc, lanePs)
	case "threads":
		all = t.of(laneThread, laneThreads)
	case groupsOfUser, groupsOfSystem:
		all = t.groupLanes(ref.kind)
	case "tasks":
		all = t.taskLanes()
	case "regions":
		all = t.regionLanes()
	}
	if !filter.Empty() {
		if ref.kind == groupsOfUser { // who looks for a name looks for it everywhere
			all = append(all, t.groupLanes(groupsOfSystem)...)
		}
		if word, ok := filter.termOutside(termFunc | termID); !ok {
			return nil, 0, "", problem.New(problem.Misuse, "search with it instead; here only names can be chosen by", "%q does not choose lanes here", word)
		}
		all = slices.DeleteFunc(all, func(l Lane) bool { return !filter.name(l.Label, l.ID) })
	}
	return all[min(offset, len(all)):min(offset+limit, len(all))], len(all), "", nil
}

func (t *Timeline) taskLanes() (out []Lane) {
	for i := range t.tasks {
		k := &t.tasks[i]
		from, to := max(k.Begin, 0), k.End
		if to < 0 {
			to = t.Length()
		}
		out = append(out, Lane{ID: "task:" + strconv.FormatUint(k.ID, 10), Parent: "tasks", Kind: "task", Label: k.Name, Count: 1,
			Total: to - from, From: from, To: to, Peak: 1})
	}
	return out
}

func (t *Timeline) regionLanes() (out []Lane) {
	for i, name := range t.regions {
		lane := t.reg.regions[name]
		out = append(out, Lane{ID: "regions:" + strconv.Itoa(i), Parent: "regions", Kind: "regions", Label: name,
			Total: time.Duration(t.totals[lane][Running]), To: t.Length(), Peak: t.peaks[lane]})
	}
	slices.SortStableFunc(out, func(a, b Lane) int { return compare(int64(b.Total), int64(a.Total)) })
	return out
}

// members returns the goroutines of a group, those that ran most first.
func (t *Timeline) members(ref laneRef, f Filter, offset, limit int) ([]Lane, int, string, error) {
	if word, ok := f.termOutside(termFunc | termID | termDur); !ok {
		return nil, 0, "", problem.New(problem.Misuse, "search with it instead; here goroutines can be chosen by id: and dur> (of their life)", "%q does not choose goroutines here", word)
	}
	list := t.choose(ref.group, f)
	note := ""
	if t.gors.lost > 0 {
		note = fmt.Sprintf("%d goroutines of the trace that ran least are not listed", t.gors.lost)
	}
	var out []Lane
	for _, i := range list[min(offset, len(list)):min(offset+limit, len(list))] {
		out = append(out, t.goLane(i))
	}
	return out, len(list), note, nil
}

// choose returns the goroutines of a group that match, those that ran most
// first. The last answer is kept: pages of it follow each other.
func (t *Timeline) choose(group int32, f Filter) []uint32 {
	type answer struct {
		filter string
		list   []uint32
	}
	if a, ok := t.sorted.Load(group); ok && a.(answer).filter == f.String() {
		return a.(answer).list
	}
	t.gors.index()
	var list []uint32
	if int(group) < len(t.gors.byGroup) {
		for _, i := range t.gors.byGroup[group] {
			if f.Empty() || f.goroutine(t.facts(i)) {
				list = append(list, i)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b uint32) int { return compare(t.gors.list[b].run, t.gors.list[a].run) })
	if len(list) > 1024 { // small ones are quickly sorted again
		t.sorted.Clear()
		t.sorted.Store(group, answer{f.String(), list})
	}
	return list
}

// life returns when a goroutine lived, within the timeline.
func (t *Timeline) life(i uint32) (from, to int64) {
	from, to = t.gors.bounds(i)
	return min(from, t.length), min(to, t.length)
}

func (t *Timeline) goLane(i uint32) Lane {
	g := &t.gors.list[i]
	from, to := t.life(i)
	return Lane{ID: t.goID(i), Parent: "g:" + strconv.Itoa(int(g.group)), Kind: "go", Label: t.reg.groups[g.group].name + " #" + strconv.FormatInt(g.id, 10),
		Count: 1, Total: time.Duration(t.gors.runningTime(i)), From: time.Duration(from), To: time.Duration(to), Peak: 1}
}

// goID returns the id of a goroutine's lane.
func (t *Timeline) goID(i uint32) string {
	id := "go:" + strconv.FormatInt(t.gors.list[i].id, 10)
	if !t.gors.first(i) {
		birth, _ := t.gors.bounds(i)
		id += "@" + strconv.FormatInt(birth, 10)
	}
	return id
}

// A laneRef is a lane as its id names it.
type laneRef struct {
	id    string
	kind  string
	lane  int32 // in the pyramid, -1 for none
	group int32
	gor   uint32
	task  int
}

// ofGroups reports whether a lane is the head of groups.
func (r *laneRef) ofGroups() bool { return r.kind == groupsOfUser || r.kind == groupsOfSystem }

// single reports whether a lane is one thing, whose spans lie side by side.
func (r *laneRef) single() bool {
	switch r.kind {
	case "p", "m", "go", "gc", "stw", "task":
		return true
	}
	return false
}

func errLane(id string) error {
	if len(id) > 100 {
		id = id[:100] + "…"
	}
	return problem.New(problem.Misuse, "api/timeline tells the lanes there are", "there is no lane %q", id)
}

// parse finds a lane by its id.
func (t *Timeline) parse(id string) (laneRef, bool) {
	kind, rest, named := strings.Cut(id, ":")
	r := laneRef{id: id, kind: kind, lane: -1, group: -1}
	if !named {
		return r, t.parseFixed(&r)
	}
	at := ""
	if kind == "go" {
		rest, at, _ = strings.Cut(rest, "@")
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if kind == "task" {
		u, err := strconv.ParseUint(rest, 10, 64)
		r.task = slices.IndexFunc(t.tasks, func(k model.Task) bool { return k.ID == u })
		return r, err == nil && r.task >= 0
	}
	if err != nil {
		return r, false
	}
	switch kind {
	case "p":
		r.lane = t.laneByID(laneProc, n)
	case "m":
		r.lane = t.laneByID(laneThread, n)
	case "g":
		if n >= 0 && n < int64(len(t.reg.groups)) {
			r.group, r.lane = int32(n), t.reg.groups[n].lane
		}
	case "regions":
		if n >= 0 && n < int64(len(t.regions)) {
			r.lane = t.reg.regions[t.regions[n]]
		}
	case "go":
		return r, t.parseGo(&r, n, at)
	}
	return r, r.lane >= 0
}

func (t *Timeline) laneByID(kind laneKind, id int64) int32 {
	if l, ok := t.reg.byID[laneID{kind, id}]; ok {
		return l
	}
	return -1
}

func (t *Timeline) parseFixed(r *laneRef) bool {
	switch r.kind {
	case "ps":
		r.lane = lanePs
	case "threads":
		r.lane = laneThreads
	case "samples":
		r.lane = laneSamples
	case "tasks":
		r.lane = laneTasks
	case "regions":
		r.lane = laneRegions
	case "gc", "stw", groupsOfUser, groupsOfSystem:
	default:
		return false
	}
	return true
}

func (t *Timeline) parseGo(r *laneRef, id int64, at string) bool {
	all := t.gors.lives(id)
	if len(all) == 0 {
		return false
	}
	r.gor = all[0]
	if at != "" {
		birth, err := strconv.ParseInt(at, 10, 64)
		i := slices.IndexFunc(all, func(i uint32) bool { b, _ := t.gors.bounds(i); return b == birth })
		if err != nil || i < 0 {
			return false
		}
		r.gor = all[i]
	}
	r.group = int32(t.gors.list[r.gor].group)
	return true
}
