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

// One screen is thirty lines of eighty columns where nobody knows the terminal's, and a
// line of it is for the prompt. What has no room is left out in the order of briefLevels.
const (
	briefScreen   = 30
	briefLeast    = 12 // a terminal of fewer rows scrolls whatever is written
	briefVerdict  = 3  // lines
	briefFindings = 2  // that have a place, a gain, a fix and a command
	briefFinding  = 8  // lines that such a one has, with the line before it
	briefText     = 2  // lines of what to do
	briefOthers   = 5  // of the others, at most
	briefNotes    = 7  // lines for the notes at the end
	briefColumn   = 10
)

// A briefLevel is how much of what comes after the verdict is shown.
type briefLevel struct {
	findings int  // in full
	places   int  // of the first: the line, and that of the program that leads to it
	note     int  // lines that a note has
	praise   bool // what is fine and what is harmless
	how      bool // the recording that would tell what was not checked
	notes    bool // evidence, and what was not checked
}

// briefLevels are from all to least. The verdict, the first finding and where the rest is
// are in each of them.
var briefLevels = []briefLevel{
	{findings: briefFindings, places: 2, note: 2, praise: true, how: true, notes: true},
	{findings: briefFindings, places: 2, note: 1, how: true, notes: true},
	{findings: briefFindings, places: 1, note: 1, notes: true},
	{findings: 1, places: 1, note: 2, how: true, notes: true},
	{findings: 1, places: 1, note: 1, notes: true},
	{findings: 1, places: 1},
}

// brief writes what a reader needs in the first ten seconds, on one screen: the
// verdict, the findings to act on, a line for each kind of doubt, and where the rest is.
func (t *texter) brief(d *diagnosis.Diagnosis, o layout.Options) {
	screen := briefScreen
	if o.Height > 0 {
		screen = max(briefLeast, o.Height-1)
	}
	for i, l := range briefLevels {
		if i == 0 && screen > briefScreen {
			l.findings += (screen - briefScreen) / briefFinding
		}
		plain := newTexter(layout.Options{Width: o.Width})
		plain.briefAt(d, layout.Options{Width: o.Width}, l, screen)
		if rows(plain.String(), o.Width) <= screen || i == len(briefLevels)-1 {
			t.briefAt(d, o, l, screen)
			return
		}
	}
}

// rows returns how many rows of a terminal plain text takes: a line that is too long goes on in
// the next one.
func rows(text string, width int) (n int) {
	if width <= 0 {
		width = plainWidth
	}
	for l := range strings.Lines(text) {
		n += max(1, (utf8.RuneCountInString(strings.TrimSuffix(l, "\n"))+width-1)/width)
	}
	return n
}

func (t *texter) briefAt(d *diagnosis.Diagnosis, o layout.Options, l briefLevel, screen int) {
	t.verdict(d, t.first(string(d.Verdict)+": "+d.Summary, t.Width, briefVerdict))
	t.Line(t.Paint(layout.Dim, shortSubject(d, t.Width)))
	t.death(d)
	if o := d.Operation; o != nil {
		head := operationHead(o)
		if all := head + mostOf(o); utf8.RuneCountInString(layout.Safe(all)) <= t.Width {
			head = all
		}
		t.Line(t.upTo(head, "", t.Width, 1)[0])
	}
	switch {
	case d.Verdict == diagnosis.Partial || d.Verdict == diagnosis.TooThin:
		t.accounts(d, screen-briefNotes)
	case d.Trace == nil && d.CPU == nil && len(d.Findings) > 0: // what there is beside the finding is all that is known
		t.accountTexts(d)
	}
	var others []int
	written := 0
	for i := range d.Findings {
		if f := &d.Findings[i]; !f.Remark && written < l.findings {
			t.short(i+1, f, max(0, l.places-written), len(d.Runs))
			written++
		} else {
			others = append(others, i)
		}
	}
	end := newTexter(o)
	end.Line("")
	if l.notes {
		end.note("evidence", d.Warnings, l.note)
	}
	if l.praise && written == 0 {
		end.note("fine", fine(d.Fine), 1)
	}
	if l.praise {
		end.note("harmless", obsolete(d), 1)
	}
	if l.notes {
		end.open(d.Unchecked, l.note, l.how)
	}
	end.more(d)
	t.others(d, others, screen-rows(t.String(), o.Width)-rows(end.String(), o.Width)-1)
	t.WriteString(end.String())
}

// shortSubject says what was read in one line: how much of it goes before what.
func shortSubject(d *diagnosis.Diagnosis, width int) string {
	parts := strings.Split(layout.Safe(subject(d)), " · ")
	for len(parts) > 1 && utf8.RuneCountInString(strings.Join(parts, " · ")) > width {
		parts = parts[:len(parts)-1]
	}
	return layout.Shorten(strings.Join(parts, " · "), width)
}

// mostOf names the line that has most of an operation.
func mostOf(o *diagnosis.Operation) string {
	if len(o.Lines) == 0 {
		return ""
	}
	l := &o.Lines[0]
	return fmt.Sprintf("; %s in %s:%d", figures.Percent(l.CPUNS/o.CPUNS), shortFunction(l.Where.Function), l.Where.Line)
}

// shortFunction returns a function without the path of its package's folder.
func shortFunction(name string) string {
	path, _, _ := strings.Cut(name, "[") // type arguments have paths, too
	return name[strings.LastIndexByte(path, '/')+1:]
}

// short writes a finding of one recording, or of several runs.
func (t *texter) short(n int, f *diagnosis.Finding, places, runs int) {
	t.Line("")
	t.Line(t.Paint(layout.Bold, layout.Shorten(fmt.Sprintf("%d. %s", n, layout.Safe(f.Title)), t.Width)))
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
	if f.Scope != "" {
		t.field("where", layout.Plain, []string{layout.Shorten(layout.Safe(f.Scope), t.Width-briefColumn)})
	}
	if f.Bound.Method != "" {
		gain, sure := layout.Safe(f.Bound.Gain()), layout.Safe(", "+sureness(f, runs))
		if utf8.RuneCountInString(gain+sure) > t.Width-briefColumn && f.Found > 0 {
			sure = fmt.Sprintf(", in %d of %d", f.Found, runs)
		}
		if utf8.RuneCountInString(gain+sure) > t.Width-briefColumn {
			sure = ""
		}
		t.field("gain", layout.Plain, []string{t.Paint(layout.Bold, gain) + t.Paint(layout.Dim, sure)})
		t.field("", layout.Dim, t.first(f.Bound.Along, t.Width-briefColumn, briefText))
	}
	t.field("do", layout.Plain, t.first(f.Remedy.Text, t.Width-briefColumn, briefText))
	if len(f.Try) > 0 {
		t.field("prove", layout.Plain, []string{t.Paint(layout.Dim, "$ ") + layout.Safe(f.Try[0])})
	} else if f.Missing != "" {
		t.field("prove", layout.Dim, t.first(f.Missing, t.Width-briefColumn, briefText))
	}
}

func (t *texter) field(label string, s layout.Style, lines []string) {
	for i, l := range lines {
		lead := strings.Repeat(" ", briefColumn)
		if i == 0 {
			lead = "   " + t.Paint(layout.Dim, layout.Pad(label, briefColumn-3))
		}
		t.Line(lead + t.Paint(s, l))
	}
}

// first returns the beginning of a text that must be understood: whole sentences within
// most lines, and at least the first one, which may take twice as many.
func (t *texter) first(text string, width, most int) []string {
	lines := layout.Lines(text, width)
	if len(lines) <= most {
		return lines
	}
	if i := strings.LastIndex(strings.Join(lines[:most], " ")+" ", ". "); i >= 0 {
		return layout.Lines(strings.Join(lines[:most], " ")[:i+1], width)
	}
	if i := strings.Index(strings.Join(lines, " ")+" ", ". "); i >= 0 {
		if sentence := layout.Lines(strings.Join(lines, " ")[:i+1], width); len(sentence) <= 2*most {
			return sentence
		}
	}
	return t.upTo(text, "", width, most)
}

// upTo returns the beginning of a text within most lines, with more behind it: whole sentences,
// or else up to the end of a clause, or else words with a sign that others follow.
func (t *texter) upTo(text, more string, width, most int) []string {
	if lines := layout.Lines(text+more, width); len(lines) <= most {
		return lines
	}
	lines := layout.Lines(text, width)
	begin := []rune(strings.Join(lines[:min(most, len(lines))], " "))
	last := utf8.RuneCountInString(lines[min(most, len(lines))-1])
	if over := last + utf8.RuneCountInString(more) - width; over > 0 {
		begin = begin[:max(0, len(begin)-over)]
	}
	whole := string(begin)
	if i := strings.LastIndex(whole+" ", ". "); i >= 0 {
		return layout.Lines(whole[:i+1]+more, width)
	}
	clause := max(strings.LastIndex(whole, "; "), strings.LastIndex(whole, ": "), strings.LastIndex(whole, ", "))
	if clause > len(whole)/3 {
		return layout.Lines(whole[:clause]+more, width)
	}
	for len(layout.Lines(whole+" …"+more, width)) > most || !strings.HasPrefix(text+" ", whole+" ") {
		whole = whole[:max(0, strings.LastIndexByte(whole, ' '))]
	}
	return layout.Lines(whole+" …"+more, width)
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
		if f.Found > 0 {
			more = fmt.Sprintf(", in %d of %d", f.Found, len(d.Runs)) + more
		}
		// The first place is the reader's own, and the second often the function that it asks.
		for named := min(len(f.Where), 2); named > 0; named-- {
			at := ": " + shortFunction(f.Where[0].Function)
			if named == 2 && f.Where[1].Function != f.Where[0].Function {
				at += ", " + shortFunction(f.Where[1].Function)
			}
			if utf8.RuneCountInString(layout.Safe(l+at+more)) <= t.Width {
				l += at
				break
			}
		}
		t.Line(t.Paint(layout.Dim, layout.Shorten(layout.Safe(l), t.Width-len(more))+more))
	}
}

// note writes the first of some items in a number of lines, and how many more there are.
func (t *texter) note(label string, items []string, most int) {
	if len(items) == 0 {
		return
	}
	more := ""
	if len(items) > 1 {
		more = fmt.Sprintf(" (+%d)", len(items)-1)
	}
	for i, l := range t.upTo(items[0], more, t.Width-labelled, most) {
		if i > 0 {
			label = ""
		}
		t.Line(t.Paint(layout.Dim, layout.Pad(label, labelled)) + l)
	}
}

// open writes what was not checked, and if how is set the recording that would tell most
// of it. What
// asks for more than a recording, such as the result of a load generator, is left to
// the long report.
func (t *texter) open(list []diagnosis.Unchecked, most int, how bool) {
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
	t.note("not checked", open, most)
	if how && best != "" {
		t.command("", best)
	}
}

// recorders begin commands that record something of a program as it is.
var recorders = []string{"gowhy record ", "gowhy doctor ", "curl ", "go get github.com/gowhy/gowhy/agent "}

// more writes where all the rest is, in a line.
func (t *texter) more(d *diagnosis.Diagnosis) {
	line, also := "gowhy -v "+fileArguments(d), ""
	switch {
	case len(d.Findings) > 0:
		also = "   # or explain 1, view"
	case d.Trace != nil || d.CPU != nil:
		also = "   # or view"
	}
	if utf8.RuneCountInString(line+also) <= t.Width-labelled-2 {
		line += also
	}
	t.command("more", line)
}

func (t *texter) command(label, line string) {
	t.Line(t.Paint(layout.Dim, layout.Pad(label, labelled)+"$ ") + layout.Safe(line))
}

// fileArguments returns the files as a command takes them.
func fileArguments(d *diagnosis.Diagnosis) string {
	if len(d.Files) == 0 || slices.Contains(d.Files, "-") {
		return "FILE"
	}
	return shell.Words(d.Files)
}
