package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/know/model"
)

// The accounts of goroutines as tables: how the time of each, or of all that one
// function started, was spent.
//
// Columns follow the run. Beside those that every account has there is one for
// each reason to wait and for each special range that occurred, because a
// breakdown that adds up is the point of the table; a trace that invents
// reasons gets the largest and one column for the rest.

const (
	maxReasons  = 24   // columns of single wait reasons; the runtime has some forty
	maxRanges   = 16   // columns of single ranges; the runtime has a dozen kinds
	pageOfRows  = 200  // rows of an answer when nobody asked
	maxPage     = 5000 // rows of an answer at most
	creatorDeep = 24   // frames of a creation stack
)

// An account is a row: a group, or one of its goroutines.
type account struct {
	group     *model.Group
	goroutine *model.Goroutine // nil for the row of a group
	times     *model.Times
	ranges    map[string]time.Duration
	runs      int64
}

// total returns how long it existed in the window.
func (a *account) total() time.Duration { return a.times.Total() }

// A column is a column of accounts: either of numbers or of text.
type column struct {
	Column
	number func(*account) int64
	text   func(*account) string
	adds   bool // the sum over rows means something
	id     bool // a number that names something
	blank  bool // negative means that there is nothing to tell
}

// groups answers GET api/groups: a row for each start function.
func (v *View) groups(q url.Values) (any, error) {
	s := v.Model.Sched
	if s == nil {
		return nil, v.noTrace()
	}
	rows := make([]account, len(s.Groups))
	for i := range s.Groups {
		g := &s.Groups[i]
		rows[i] = account{group: g, times: &g.Times, ranges: g.Ranges, runs: g.Runs}
	}
	columns := slices.Concat(v.groupColumns(), timeColumns(s.Groups), delayColumns())
	link := func(a *account) string { return "goroutines?group=" + url.QueryEscape(pageName(a.group.Name)) }
	return v.table(q, columns, rows, link)
}

// goroutines answers GET api/goroutines: a row for each goroutine that was kept.
func (v *View) goroutines(q url.Values) (any, error) {
	s := v.Model.Sched
	if s == nil {
		return nil, v.noTrace()
	}
	byName := make(map[string]*model.Group, len(s.Groups))
	for i := range s.Groups {
		byName[s.Groups[i].Name] = &s.Groups[i]
	}
	groups := s.Groups
	if q.Has("group") {
		i := slices.IndexFunc(s.Groups, func(g model.Group) bool { return sameName(g.Name, q.Get("group")) })
		if i < 0 {
			return nil, missing("no goroutines of this run were started by "+short(q.Get("group")), "gowhy ledger shows those that were")
		}
		groups = s.Groups[i : i+1]
	}
	var rows []account
	for i := range s.Goroutines {
		g := &s.Goroutines[i]
		of := byName[g.Group]
		if of == nil || len(groups) == 1 && of != &groups[0] {
			continue
		}
		rows = append(rows, account{group: of, goroutine: g, times: &g.Times, ranges: g.Ranges, runs: g.Runs})
	}
	columns := slices.Concat(v.goroutineColumns(), timeColumns(groups))
	t, err := v.table(q, columns, rows, v.goroutineLink)
	if err == nil && len(rows) < countOf(groups) {
		t.Note = fmt.Sprintf("%d of %d goroutines: those of each group that took most time. The groups' own rows are of all.", len(rows), countOf(groups))
	}
	return t, err
}

func countOf(groups []model.Group) (n int) {
	for i := range groups {
		n += groups[i].Count
	}
	return n
}

func (v *View) goroutineLink(a *account) string {
	if v.Timeline == nil {
		return ""
	}
	from, to := max(a.goroutine.Created, 0), a.goroutine.Ended
	if to < 0 {
		to = v.duration()
	}
	return linkTo("timeline", "from", strconv.FormatInt(int64(from), 10), "to", strconv.FormatInt(int64(max(to, from+1)), 10),
		"lanes", "go:"+strconv.FormatInt(a.goroutine.ID, 10))
}

func (v *View) groupColumns() []column {
	return []column{
		textColumn("group", func(a *account) string { return a.group.Name }),
		textColumn("start", func(a *account) string { return fileLine(a.group.Start) }),
		count("count", func(a *account) int64 { return int64(a.group.Count) }),
		count("created", func(a *account) int64 { return int64(a.group.Created) }),
		count("ended", func(a *account) int64 { return int64(a.group.Ended) }),
		count("alive", func(a *account) int64 { return int64(a.group.Alive()) }),
		{Column: Column{Key: "peak", Unit: "count"}, number: func(a *account) int64 { return int64(a.group.Peak) }},
		textColumn("creator", v.creator),
	}
}

func (v *View) goroutineColumns() []column {
	moment := func(key string, of func(*model.Goroutine) time.Duration) column {
		return column{Column: Column{Key: key, Unit: "at"}, blank: true, number: func(a *account) int64 { return int64(of(a.goroutine)) }}
	}
	return []column{
		{Column: Column{Key: "goroutine", Unit: "id"}, id: true, number: func(a *account) int64 { return a.goroutine.ID }},
		textColumn("group", func(a *account) string { return a.group.Name }),
		moment("begin", func(g *model.Goroutine) time.Duration { return g.Created }),
		moment("first_run", func(g *model.Goroutine) time.Duration { return g.First }),
		moment("end", func(g *model.Goroutine) time.Duration { return g.Ended }),
		textColumn("creator", v.creator),
	}
}

// creator returns where most of a group's goroutines were created, leaf first.
func (v *View) creator(a *account) string {
	var b strings.Builder
	for i, f := range v.Model.Stacks.Frames(a.group.Creator) {
		if i == creatorDeep || b.Len() > maxName {
			b.WriteString("\n…")
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(name(f.Func))
		if at := fileLine(f); at != "" {
			b.WriteByte(' ')
			b.WriteString(name(at))
		}
	}
	return b.String()
}

func fileLine(f model.Frame) string {
	if f.File == "" {
		return ""
	}
	return f.File + ":" + strconv.Itoa(f.Line)
}

func textColumn(key string, of func(*account) string) column {
	return column{Column: Column{Key: key, Unit: "text"}, text: of}
}

func count(key string, of func(*account) int64) column {
	return column{Column: Column{Key: key, Unit: "count"}, number: of, adds: true}
}

func spent(key string, of func(*account) time.Duration) column {
	return column{Column: Column{Key: key, Unit: "ns"}, number: func(a *account) int64 { return int64(of(a)) }, adds: true}
}

// timeColumns returns how time was spent: "total" is the sum of running, runnable, syscall,
// syscall_blocked, blocked and unknown, and blocked that of the columns "blocked:REASON".
// Ranges overlap all of them.
func timeColumns(groups []model.Group) []column {
	reasons, ranges := map[string]time.Duration{}, map[string]time.Duration{}
	for i := range groups {
		addTo(reasons, groups[i].Blocked)
		addTo(ranges, groups[i].Ranges)
	}
	columns := []column{
		count("runs", func(a *account) int64 { return a.runs }),
		spent("total", (*account).total),
		spent("running", func(a *account) time.Duration { return a.times.Running }),
		spent("runnable", func(a *account) time.Duration { return a.times.Runnable }),
		spent("syscall", func(a *account) time.Duration { return a.times.Syscall }),
		spent("syscall_blocked", func(a *account) time.Duration { return a.times.SyscallBlocked }),
		spent("blocked", func(a *account) time.Duration { return a.times.BlockedTotal() }),
	}
	columns = append(columns, spread("blocked", reasons, maxReasons, func(a *account) map[string]time.Duration { return a.times.Blocked })...)
	columns = append(columns, spent("unknown", func(a *account) time.Duration { return a.times.Unknown }))
	return append(columns, spread("range", ranges, maxRanges, func(a *account) map[string]time.Duration { return a.ranges })...)
}

func addTo(sum, m map[string]time.Duration) {
	for k, d := range m {
		sum[k] += d
	}
}

// spread makes a column "KIND:NAME" of each of the largest parts, and one
// "KIND_other" of what is left.
func spread(kind string, sums map[string]time.Duration, most int, of func(*account) map[string]time.Duration) (columns []column) {
	names := statistics.Largest(sums)
	for _, n := range names[:min(most, len(names))] {
		columns = append(columns, spent(kind+":"+pageName(n), func(a *account) time.Duration { return of(a)[n] }))
	}
	if len(names) > most {
		rest := names[most:]
		columns = append(columns, spent(kind+"_other", func(a *account) (d time.Duration) {
			for _, n := range rest {
				d += of(a)[n]
			}
			return d
		}))
	}
	return columns
}

// delayColumns are of single waits for a P, which only groups keep.
func delayColumns() []column {
	quantile := func(key string, of func(*model.Histogram) time.Duration) column {
		return column{Column: Column{Key: key, Unit: "ns"}, number: func(a *account) int64 { return int64(of(&a.group.Delay)) }}
	}
	return []column{
		quantile("delay_p50", func(h *model.Histogram) time.Duration { return h.Quantile(0.5) }),
		quantile("delay_p99", func(h *model.Histogram) time.Duration { return h.Quantile(0.99) }),
		quantile("delay_max", func(h *model.Histogram) time.Duration { return h.Max }),
	}
}

// table filters, sorts and cuts rows to the page that was asked for.
func (v *View) table(q url.Values, columns []column, rows []account, link func(*account) string) (*Table, error) {
	f, err := v.parseFilter(q.Get("q"))
	if err != nil {
		return nil, err
	}
	offset, err := integer(q, "offset", 0, 0, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	limit, err := integer(q, "limit", pageOfRows, 0, maxPage)
	if err != nil {
		return nil, err
	}
	t := &Table{All: len(rows)}
	rows = slices.DeleteFunc(rows, func(a account) bool { return !f.keeps(&a) })
	if err := sortRows(q, columns, rows); err != nil {
		return nil, err
	}
	t.Total = len(rows)
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
		t.Sums = append(t.Sums, c.sum(rows))
	}
	first := min(int(offset), len(rows))
	for i := range rows[first:min(first+int(limit), len(rows))] {
		a := &rows[first+i]
		cells := make([]json.RawMessage, len(columns))
		for j, c := range columns {
			cells[j] = c.cell(a)
		}
		t.Rows = append(t.Rows, cells)
		t.Links = append(t.Links, link(a))
	}
	return t, nil
}

// sortRows puts rows in the order of a column; without one, the most time first.
func sortRows(q url.Values, columns []column, rows []account) error {
	by, down := q.Get("sort"), q.Get("desc") == "1" || q.Get("desc") == "true"
	if by == "" {
		by, down = "total", true
	}
	i := slices.IndexFunc(columns, func(c column) bool { return c.Key == by })
	if i < 0 {
		return misuse("there is no column %s to sort by", short(by))
	}
	c := columns[i]
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	if c.text != nil {
		sortBy(order, rows, c.text, down)
	} else {
		sortBy(order, rows, c.number, down)
	}
	sorted := make([]account, len(rows))
	for i, j := range order {
		sorted[i] = rows[j]
	}
	copy(rows, sorted)
	return nil
}

// sortBy sorts indices by a key that is computed once for each row. Equal rows
// keep their order whichever way it is sorted, so that pages fit together.
func sortBy[K cmp.Ordered](order []int, rows []account, of func(*account) K, down bool) {
	keys := make([]K, len(rows))
	for i := range rows {
		keys[i] = of(&rows[i])
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if down {
			return cmp.Compare(keys[b], keys[a])
		}
		return cmp.Compare(keys[a], keys[b])
	})
}

// exact is the largest whole number that every reader of JSON keeps: 2^53.
const exact = 1 << 53

func (c *column) cell(a *account) json.RawMessage {
	if c.text != nil {
		b, _ := json.Marshal(name(c.text(a))) // a string's encoding cannot fail
		return b
	}
	n := c.number(a)
	switch {
	case c.blank && n < 0:
		return json.RawMessage(`""`)
	case c.id && (n > exact || n < -exact):
		return strconv.AppendQuote(nil, strconv.FormatInt(n, 10))
	}
	return strconv.AppendInt(nil, n, 10)
}

// sum is of the rows that match, "" where a sum means nothing.
func (c *column) sum(rows []account) json.RawMessage {
	if !c.adds {
		return json.RawMessage(`""`)
	}
	var sum int64
	for i := range rows {
		n := c.number(&rows[i])
		if sum+n < sum && n > 0 { // no picture needs more than 292 years
			sum = math.MaxInt64
			break
		}
		sum += n
	}
	return strconv.AppendInt(nil, sum, 10)
}

// pageName returns a name as the page gets it and gives it back in a query: cut, and
// without what is no UTF-8, of which JSON makes replacement characters.
func pageName(s string) string { return string([]rune(name(s))) }

// sameName reports whether a name of the model is the one that the page means.
func sameName(full, fromPage string) bool { return full == fromPage || pageName(full) == fromPage }

// groupNamed returns the group of the run that the page means; what is none is left
// as it is, for who looks for it to say so.
func (v *View) groupNamed(fromPage string) string {
	if s := v.Model.Sched; s != nil && fromPage != "" {
		if i := slices.IndexFunc(s.Groups, func(g model.Group) bool { return sameName(g.Name, fromPage) }); i >= 0 {
			return s.Groups[i].Name
		}
	}
	return fromPage
}

// linkTo returns a link into the page: a screen and its parameters, in pairs. Those
// that are empty are left out.
func linkTo(screen string, pairs ...string) string {
	var b strings.Builder
	b.WriteString(screen)
	sep := byte('?')
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		b.WriteByte(sep)
		b.WriteString(pairs[i])
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(pairs[i+1]))
		sep = '&'
	}
	return b.String()
}
