package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// One screen is thirty lines of eighty columns. The verdict has three of them, each of two
// findings eight with the line before it, and what is left over after the notes at the end
// goes to the other findings.
const (
	briefScreen   = 30
	briefVerdict  = 3
	briefFindings = 2 // that have a place, a gain, a fix and a command
	briefPlaces   = 2 // of the first: the line, and that of the program that leads to it
	briefText     = 2 // lines of what to do
	briefOthers   = 5 // of the others, at most
	briefNotes    = 9 // lines for the notes at the end
	briefColumn   = 10
)

// brief writes what a reader needs in the first ten seconds, on one screen: the
// verdict, the findings to act on, a line for each kind of doubt, and where the rest is.
func (t *texter) brief(d *diagnosis.Diagnosis, o layout.Options) {
	t.verdict(d, t.first(string(d.Verdict)+": "+d.Summary, t.Width, briefVerdict))
	t.Line(t.In(layout.Dim, layout.Shorten(layout.Safe(subject(d)), t.Width)))
	if o := d.Operation; o != nil {
		head := operationHead(o)
		if all := head + mostOf(o); utf8.RuneCountInString(layout.Safe(all)) <= t.Width {
			head = all
		}
		t.Line(t.first(head, t.Width, 1)[0])
	}
	switch {
	case d.Verdict == diagnosis.Partial || d.Verdict == diagnosis.TooThin:
		t.accounts(d, briefScreen-briefNotes)
	case d.Trace == nil && d.CPU == nil && len(d.Findings) > 0: // what there is beside the finding is all that is known
		t.accountTexts(d)
	}
	var others []int
	written := 0
	for i := range d.Findings {
		if f := &d.Findings[i]; !f.Remark && written < briefFindings {
			t.short(i+1, f, briefPlaces-written, len(d.Runs))
			written++
		} else {
			others = append(others, i)
		}
	}
	end := newTexter(o)
	end.Line("")
	end.note("evidence", d.Warnings, 2)
	if written == 0 {
		end.note("fine", fine(d.Fine), 1)
	}
	end.note("harmless", obsolete(d), 1)
	end.open(d.Unchecked)
	end.more(d)
	t.others(d, others, briefScreen-1-strings.Count(t.String(), "\n")-strings.Count(end.String(), "\n"))
	t.WriteString(end.String())
}

// mostOf names the line that has most of an operation.
func mostOf(o *diagnosis.Operation) string {
	if len(o.Lines) == 0 {
		return ""
	}
	l := &o.Lines[0]
	return fmt.Sprintf("; %s in %s:%d", figures.Percent(l.CPUNS/o.CPUNS), shortFunction(l.Where.Function), l.Where.Line)
}

// shortFunction is a function without the path of its package's folder.
func shortFunction(name string) string {
	path, _, _ := strings.Cut(name, "[") // type arguments have paths, too
	return name[strings.LastIndexByte(path, '/')+1:]
}

// short writes a finding of one recording, or of several runs.
func (t *texter) short(n int, f *diagnosis.Finding, places, runs int) {
	t.Line("")
	t.Line(t.In(layout.Bold, layout.Shorten(fmt.Sprintf("%d. %s", n, layout.Safe(f.Title)), t.Width)))
	for i, p := range f.Where[:min(len(f.Where), places)] {
		label := ""
		if i == 0 {
			label = "where"
		}
		place := p.Function
		if at := location(p); at != "" {
			place += "  " + filepath.Base(at)
		}
		t.field(label, layout.Bold, []string{layout.Shorten(layout.Safe(place), t.Width-briefColumn)})
	}
	if f.Bound.Method != "" {
		gain, sure := layout.Safe(f.Bound.Gain()), layout.Safe(", "+sureness(f, runs))
		if utf8.RuneCountInString(gain+sure) > t.Width-briefColumn {
			sure = ""
		}
		t.field("gain", layout.Plain, []string{t.In(layout.Bold, gain) + t.In(layout.Dim, sure)})
		t.field("", layout.Dim, t.first(f.Bound.Along, t.Width-briefColumn, briefText))
	}
	t.field("do", layout.Plain, t.first(f.Remedy.Text, t.Width-briefColumn, briefText))
	if len(f.Try) > 0 {
		t.field("prove", layout.Plain, []string{t.In(layout.Dim, "$ ") + layout.Safe(f.Try[0])})
	} else if f.Missing != "" {
		t.field("prove", layout.Dim, t.first(f.Missing, t.Width-briefColumn, briefText))
	}
}

func (t *texter) field(label string, s layout.Style, lines []string) {
	for i, l := range lines {
		lead := strings.Repeat(" ", briefColumn)
		if i == 0 {
			lead = "   " + t.In(layout.Dim, layout.Pad(label, briefColumn-3))
		}
		t.Line(lead + t.In(s, l))
	}
}

// first is the beginning of a text that fits into some lines: whole sentences, or else
// words with a sign that more follow.
func (t *texter) first(text string, width, most int) []string {
	lines := layout.Lines(text, width)
	if len(lines) <= most {
		return lines
	}
	whole := strings.Join(lines[:most], " ")
	if i := strings.LastIndex(whole+" ", ". "); i >= 0 {
		return layout.Lines(whole[:i+1], width)
	}
	last := lines[most-1]
	for utf8.RuneCountInString(last) > width-2 {
		last = last[:max(0, strings.LastIndexByte(last, ' '))]
	}
	return append(lines[:most-1], last+" …")
}

// others names findings and remarks in a line each, as many as there is room for.
func (t *texter) others(d *diagnosis.Diagnosis, which []int, room int) {
	shown := min(len(which), briefOthers, max(1, room))
	for k, i := range which[:shown] {
		if k == 0 {
			t.Line("")
		}
		f, more := &d.Findings[i], ""
		if k == shown-1 && shown < len(which) {
			more = fmt.Sprintf(" (+%d)", len(which)-shown)
		}
		l := fmt.Sprintf("%d. %s", i+1, f.Title)
		if f.Remark {
			l = fmt.Sprintf("%d. remark: %s", i+1, f.Title)
		}
		if len(f.Where) > 0 {
			l += ": " + shortFunction(f.Where[0].Function)
		}
		if f.Found > 0 {
			more = fmt.Sprintf(", in %d of %d", f.Found, len(d.Runs)) + more
		}
		t.Line(t.In(layout.Dim, layout.Shorten(layout.Safe(l), t.Width-len(more))+more))
	}
}

// note writes the first of some items in so many lines, and how many more there are.
func (t *texter) note(label string, items []string, most int) {
	if len(items) == 0 {
		return
	}
	more := ""
	if len(items) > 1 {
		more = fmt.Sprintf(" (+%d)", len(items)-1)
	}
	for i, l := range t.first(items[0]+more, t.Width-labelled, most) {
		if i > 0 {
			label = ""
		}
		t.Line(t.In(layout.Dim, layout.Pad(label, labelled)) + l)
	}
}

// open writes what was not checked, and the recording that would tell most of it. What
// asks for more than a recording, such as the result of a load generator, is left to
// the long report.
func (t *texter) open(list []diagnosis.Unchecked) {
	var open []string
	answers, best := map[string]int{}, ""
	for _, u := range list {
		if s := u.What + ": " + u.Why; !slices.Contains(open, s) {
			open = append(open, s)
		}
		recorded := slices.ContainsFunc(recorders, func(c string) bool { return strings.HasPrefix(u.How, c) })
		if answers[u.How]++; recorded && (best == "" || answers[u.How] > answers[best]) {
			best = u.How
		}
	}
	t.note("not checked", open, 2)
	if best != "" {
		t.command("", best)
	}
}

// recorders begin commands that record something of a program as it is.
var recorders = []string{"gowhy record ", "gowhy doctor ", "curl "}

// more is where all the rest is.
func (t *texter) more(d *diagnosis.Diagnosis) {
	files, label := diagnosed(d), "more"
	add := func(command string) { t.command(label, command); label = "" }
	if len(d.Findings) > 0 {
		add("gowhy explain 1 " + files)
	}
	if d.Trace != nil || d.CPU != nil || len(d.Findings) > 0 {
		add("gowhy view " + files)
	}
	add("gowhy -v " + files)
}

func (t *texter) command(label, line string) {
	t.Line(t.In(layout.Dim, layout.Pad(label, labelled)+"$ ") + layout.Safe(line))
}

// diagnosed are the files as a command takes them.
func diagnosed(d *diagnosis.Diagnosis) string {
	if len(d.Files) == 0 || slices.Contains(d.Files, "-") {
		return "FILE"
	}
	return shell.Words(d.Files)
}
