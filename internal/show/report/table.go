package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

// A table is one account as rows and columns, each column named as in JSON. JSON has all
// of them in their order, but for those that begin with a dot; text has those that show and
// its like name. How a value is written, sorted and added up follows from its type, and from the
// column's name where that says bytes or share.
type table struct {
	layout.Grid[row]
	columns []string
	leaves  map[string]bool // columns that JSON leaves out where they are zero
	at      map[string]int
	// order has what rows are sorted by, as NAME=COLUMN: each name that --sort takes. The
	// first is the default, and an empty column the order in which rows were added.
	order []string
}

// A row has a value for each column: nil where it is not known.
type row []any

// An ident is a number that names something, and an instant a time of the window: neither
// adds up.
type (
	ident   int64
	instant time.Duration
)

// newTable returns a table of columns, separated by spaces; one that ends in "?" is left
// out of JSON where it is zero.
func newTable(empty, columns string) *table {
	t := &table{leaves: map[string]bool{}, at: map[string]int{}}
	t.Empty = empty
	for _, c := range strings.Fields(columns) {
		name, leaves := strings.CutSuffix(c, "?")
		t.at[name], t.leaves[name] = len(t.columns), leaves
		t.columns = append(t.columns, name)
	}
	return t
}

// add adds a row and returns it, to be completed.
func (t *table) add(values ...any) row {
	r := t.row(values...)
	t.Rows = append(t.Rows, r)
	return r
}

// row returns values as a row: those of slices one by one, the rest nil.
func (t *table) row(values ...any) row {
	r := make(row, 0, len(t.columns))
	for _, v := range values {
		switch v := v.(type) {
		case []any:
			r = append(r, v...)
		case int:
			r = append(r, int64(v))
		case uint64:
			r = append(r, int64(v))
		case map[string]time.Duration:
			if v == nil {
				v = map[string]time.Duration{}
			}
			r = append(r, v)
		default:
			r = append(r, v)
		}
	}
	return append(r, make(row, len(t.columns)-len(r))...)
}

func (t *table) get(r row, column string) any { return r[t.at[column]] }

func (t *table) set(r row, column string, value any) { r[t.at[column]] = value }

// name returns a value that is text, empty where it is not known.
func (t *table) name(r row, column string) string {
	s, _ := t.get(r, column).(string)
	return s
}

// show shows columns of figures in text: heads and names in turn.
func (t *table) show(heads ...string) {
	for i := 0; i < len(heads); i += 2 {
		t.text(heads[i], t.columnWriter(heads[i+1]))
	}
}

// names shows columns of names, as show does.
func (t *table) names(heads ...string) {
	for i := 0; i < len(heads); i += 2 {
		t.text(heads[i], t.columnWriter(heads[i+1])).Left = true
	}
}

// spare shows a column that can be left out when it is all zeros.
func (t *table) spare(drop int, head, column string) {
	c := t.text(head, t.columnWriter(column))
	c.Drop, c.Quiet = drop, true
}

// text shows a column that write makes.
func (t *table) text(head string, write func(row) string) *layout.Column[row] {
	t.Columns = append(t.Columns, layout.Column[row]{Head: head, Text: write})
	return &t.Columns[len(t.Columns)-1]
}

// columnWriter returns what writes the values of a column.
func (t *table) columnWriter(column string) func(row) string {
	i, size := t.at[column], strings.Contains(column, "bytes")
	return func(r row) string {
		switch v := r[i].(type) {
		case string:
			return orDash(v)
		case time.Duration:
			return figures.Duration(v)
		case instant:
			return figures.Duration(time.Duration(v))
		case ident:
			return strconv.FormatInt(int64(v), 10)
		case int64:
			if size {
				return figures.Bytes(v)
			}
			return figures.Int(v)
		case float64:
			switch {
			case column == "share":
				return figures.Percent(v)
			case size:
				return figures.Bytes(v)
			}
			return figures.Number(v)
		}
		return "-"
	}
}

func orDash(s string) string { return cmp.Or(s, "-") }

// total has a last row of totals.
func (t *table) total(values ...any) {
	r := t.row(values...)
	t.Total = func([]row) row { return r }
}

// sum has a last row with the sums of all rows under a name in one of the columns, and
// the largest value of others.
func (t *table) sum(name, column string, largest ...string) {
	r := make(row, len(t.columns))
	for _, each := range t.Rows {
		for i, v := range each {
			r[i] = plus(r[i], v)
		}
	}
	for _, c := range largest {
		i := t.at[c]
		for n, each := range t.Rows {
			if n == 0 || amount(each, i) > amount(r, i) {
				r[i] = each[i]
			}
		}
	}
	t.set(r, column, name)
	t.total(r...)
}

// plus adds up two values; what is no amount adds nothing.
func plus(a, b any) any {
	switch b := b.(type) {
	case int64:
		x, _ := a.(int64)
		return x + b
	case time.Duration:
		x, _ := a.(time.Duration)
		return x + b
	case map[string]time.Duration:
		x, _ := a.(map[string]time.Duration)
		if x == nil {
			x = map[string]time.Duration{}
		}
		for k, d := range b {
			x[k] += d
		}
		return x
	}
	return a
}

// note has lines below the table, each wrapped by itself.
func (t *table) note(lines ...string) {
	if len(lines) == 0 {
		return
	}
	t.Notes = func(_ []row, width int) []string {
		wrapped := make([]string, len(lines))
		for i, l := range lines {
			wrapped[i] = strings.Join(layout.FigureLines(l, min(width, layout.MaxWidth)), "\n")
		}
		return []string{strings.Join(wrapped, "\n")}
	}
}

// sort sorts the rows: names and numbers of things upwards, amounts from the largest.
func (t *table) sort(by, name string) error {
	known := make([]string, len(t.order))
	for i, o := range t.order {
		known[i], _, _ = strings.Cut(o, "=")
	}
	key := slices.Index(known, cmp.Or(name, known[0]))
	if key < 0 {
		return problem.Unknown("sort", name, known, "the ledger by %s cannot be sorted by %q; it knows %s", by, name, strings.Join(known, ", "))
	}
	_, column, _ := strings.Cut(t.order[key], "=")
	if column == "" {
		return nil
	}
	i := t.at[column]
	slices.SortStableFunc(t.Rows, func(a, b row) int {
		if x, ok := a[i].(string); ok {
			return cmp.Compare(x, b[i].(string))
		}
		return cmp.Compare(amount(b, i), amount(a, i))
	})
	return nil
}

// amount returns a value by its size, for an order from the largest: -1 where it is not
// known.
func amount(r row, i int) float64 {
	switch v := r[i].(type) {
	case ident:
		return -float64(v)
	case int64:
		return float64(v)
	case time.Duration:
		return float64(v)
	case float64:
		return v
	}
	return -1
}

// objects returns rows as JSON.
func (t *table) objects(rows []row) ([]json.RawMessage, error) {
	list := make([]json.RawMessage, len(rows))
	for n, r := range rows {
		var b bytes.Buffer
		for i, c := range t.columns {
			if c[0] == '.' || t.leaves[c] && amount(r, i) == 0 {
				continue
			}
			value, err := json.Marshal(r[i])
			if err != nil {
				return nil, err
			}
			b.WriteString(",\"" + c + "\":")
			b.Write(value)
		}
		b.WriteByte('}')
		list[n] = b.Bytes()
		list[n][0] = '{'
	}
	return list, nil
}

// mostly names the reason that most of the blocked time has.
func mostly(blocked map[string]time.Duration) string {
	best, sum := "", time.Duration(0)
	for _, r := range slices.Sorted(maps.Keys(blocked)) {
		sum += blocked[r]
		if blocked[r] > blocked[best] {
			best = r
		}
	}
	if sum == 0 {
		return "-"
	}
	return cmp.Or(best, "(not recorded)") + " " + figures.Percent(float64(blocked[best])/float64(sum))
}
