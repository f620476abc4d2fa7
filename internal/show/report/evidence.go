package report

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// accounts writes what each piece of evidence says by itself: its sentence, and below
// it the largest parts with their share, value and place; as many as there is room for.
func (t *texter) accounts(d *diagnosis.Diagnosis, room int) {
	for i := range d.Accounts {
		a := &d.Accounts[i]
		if i > 0 && strings.Count(t.String(), "\n")+len(layout.Lines(a.Text, t.Width))+len(a.Rows) >= room {
			return
		}
		if i > 0 || len(a.Rows) > 0 || d.Verdict != diagnosis.Partial {
			t.Line("")
		}
		if i > 0 || d.Verdict != diagnosis.Partial { // then the verdict has said it
			for _, l := range layout.Lines(a.Text, t.Width) {
				t.Line(l)
			}
		}
		for k := range a.Rows {
			t.Line(accountRow(&a.Rows[k], t.Width))
		}
	}
}

// accountTexts writes the sentences alone.
func (t *texter) accountTexts(d *diagnosis.Diagnosis) {
	for i := range d.Accounts {
		t.Line("")
		for _, l := range t.first(d.Accounts[i].Text, t.Width, briefText) {
			t.Line(l)
		}
	}
}

// accountRow returns a line of an account that is as wide as it may be: what is dispensable
// goes before the name is cut.
func accountRow(r *diagnosis.AccountRow, width int) string {
	share, at := "", ""
	if r.Share > 0 {
		share = figures.Percent(r.Share)
	}
	name := r.Name
	if strings.Contains(path.Base(name), ".") { // a function: packages keep their paths
		name = shortFunction(name)
	}
	if r.Where != nil && r.Where.Line > 0 {
		at = fmt.Sprintf("  %s:%d", filepath.Base(r.Where.File), r.Where.Line)
	}
	note, since := r.Note, ""
	if i := strings.Index(note, ", up to "); i >= 0 {
		note, since = note[:i], note[i:]
	}
	if note != "" {
		note = "  " + note
	}
	figures := layout.Safe(fmt.Sprintf("   %6s %10s  ", share, r.Value.Text))
	whole := layout.Safe(name)
	for _, rest := range []string{at + note + since, at + note, note, at} {
		rest = layout.Safe(rest)
		if utf8.RuneCountInString(figures+whole+rest) <= width {
			return figures + whole + rest
		}
	}
	return figures + layout.Shorten(whole, width-utf8.RuneCountInString(figures))
}

// accounts writes the same as lists.
func (m *markdown) accounts(list []diagnosis.Account) {
	for i := range list {
		a := &list[i]
		m.P("%s", layout.Escape(a.Text))
		for k := range a.Rows {
			r := &a.Rows[k]
			m.Item("%s %s %s", figures.Percent(r.Share), layout.Escape(r.Value.Text), layout.Code(r.Name))
		}
	}
}
