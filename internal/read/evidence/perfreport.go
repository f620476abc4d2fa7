package evidence

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// What `perf report --stdio` prints: a head of "#" lines with the event, how many samples
// there are and what they come to, then a line for each function with its share, below it
// perhaps its calls as a tree, which is left out: the shares of the functions have it all.
//
//	# Samples: 611  of event 'cpu-clock'
//	# Event count (approx.): 1224448888
//	#
//	# Children      Self  Command  Shared Object      Symbol
//	    54.99%     1.31%  dns      dns                [.] main.(*server).lookup

var (
	reportEvent = regexp.MustCompile(`^# Samples: (\S+) +of events? '([^']+)'`)
	reportSum   = regexp.MustCompile(`^# Event count \(approx\.\): ([0-9]+)`)
	reportHead  = regexp.MustCompile(`^# +(Children +Self|Overhead) +.*Symbol`)
	reportRow   = regexp.MustCompile(`^ +([0-9.]+)% +(?:([0-9.]+)% +)?.*?\[[.kuHg]\] (\S.*?)\s*$`)
)

func isPerfReport(head []byte) bool {
	for line := range bytes.Lines(head) {
		if reportEvent.Match(line) || reportHead.Match(line) {
			return true
		}
	}
	return false
}

// readPerfReport folds the functions as a table, one for each event.
func (l *loader) readPerfReport(s source) error {
	r := perfReport{name: s.name}
	if err := l.lines(s, func(line []byte) error { r.line(string(line)); return nil }); err != nil {
		return err
	}
	r.flush()
	l.noteClipped(s.name, r.left)
	if len(r.tables) == 0 {
		return l.pass(notEvidence(artifact.Text, s.name, nil))
	}
	for _, t := range r.tables {
		l.addTable(t)
	}
	return nil
}

// A perfReport is read line by line.
type perfReport struct {
	name     string
	tables   []*model.Table
	event    string
	total    float64
	children bool // functions have their sums beside what is theirs
	rows     []model.TableFunction
	at       map[string]int
	left     int
}

func (r *perfReport) line(line string) {
	if m := reportEvent.FindStringSubmatch(line); m != nil {
		r.flush()
		r.event, r.total = m[2], 0
	} else if m := reportSum.FindStringSubmatch(line); m != nil {
		r.total, _ = strconv.ParseFloat(m[1], 64)
	} else if m := reportHead.FindStringSubmatch(line); m != nil {
		r.children = strings.HasPrefix(m[1], "Children")
	} else if m := reportRow.FindStringSubmatch(line); m != nil && (m[2] != "") == r.children {
		r.row(m[1], m[2], m[3])
	}
}

// row adds a function's line: threads have one each.
func (r *perfReport) row(first, self, name string) {
	all := r.total
	if all <= 0 { // shares are all that there is
		all = 1e4
	}
	part := func(percent string) float64 {
		v, _ := strconv.ParseFloat(percent, 64)
		return all * min(v, 100) / 100
	}
	f := model.TableFunction{Func: clipName(strings.TrimSuffix(name, ".abi0")), Flat: part(first), Cum: part(first)}
	if self != "" {
		f.Flat = part(self)
	}
	i, ok := r.at[f.Func]
	switch {
	case ok:
		r.rows[i].Flat, r.rows[i].Cum = min(all, r.rows[i].Flat+f.Flat), min(all, r.rows[i].Cum+f.Cum)
	case len(r.rows) >= maxTableFunctions:
		r.left++
	default:
		if r.at == nil {
			r.at = map[string]int{}
		}
		r.at[f.Func] = len(r.rows)
		r.rows = append(r.rows, f)
	}
}

// flush ends an event's table. Only a clock's events are time.
func (r *perfReport) flush() {
	if len(r.rows) > 0 && len(r.tables) < maxTables {
		t := model.Table{File: r.name, Source: model.CPU, Total: r.total, Functions: r.rows}
		switch {
		case r.total <= 0:
			t.Total, t.Type = 1e4, model.ValueType{Name: "shares", Unit: "count"}
		case perfClock(r.event):
			t.Type = model.ValueType{Name: "cpu", Unit: "nanoseconds"}
		default:
			t.Type = model.ValueType{Name: clipName(r.event), Unit: "count"}
		}
		r.tables = append(r.tables, model.NewTable(t))
	}
	r.rows, r.at = nil, nil
}
