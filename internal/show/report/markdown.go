package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// expanded is how many findings are shown in full: what a reader acts on
// before recording again.
const expanded = 3

// Markdown writes a diagnosis for a review comment or an issue.
func Markdown(w io.Writer, d *diagnosis.Diagnosis, _ layout.Options) error {
	var m markdown
	m.P("## %s: %s", layout.Escape(string(d.Verdict)), layout.Escape(d.Summary))
	if s := subject(d); s != "" {
		m.P("%s", layout.Code(s))
	}
	if d.Death != "" && !strings.Contains(d.Summary, d.Death) {
		m.P("It %s.", layout.Escape(d.Death))
	}
	m.List(eachRun, runAnswers(d))
	m.cpu(d)
	m.operation(d.Operation)
	m.accounts(d.Accounts)
	m.shares(d)
	for i := range d.Findings {
		if i < expanded {
			m.finding(i+1, &d.Findings[i])
			continue
		}
		if i == expanded {
			m.P("### More findings")
		}
		m.Item("%s: %s", "**"+layout.Escape(d.Findings[i].Title)+"**", layout.Escape(d.Findings[i].Summary))
	}
	m.List("Warnings", d.Warnings)
	m.List("Fine", slices.Concat(fine(d.Fine), obsolete(d)))
	if len(d.Unchecked) > 0 {
		m.P("### Not checked")
		for _, u := range d.Unchecked {
			m.Item("%s: %s %s", layout.Escape(u.What), layout.Escape(u.Why), layout.Code(u.How))
		}
	}
	if next := nextCommands(d); len(next) > 0 {
		m.P("### Next")
		for _, n := range next {
			m.Item("%s %s", layout.Code(n[0]), layout.Escape(n[1]))
		}
	}
	_, err := io.WriteString(w, strings.TrimLeft(m.String(), "\n"))
	return err
}

// A markdown writes the parts of a diagnosis.
type markdown struct{ layout.Page }

func (m *markdown) shares(d *diagnosis.Diagnosis) {
	var parts []string
	for _, s := range d.Time {
		if s.Share > 0 {
			parts = append(parts, layout.Escape(s.Name)+" "+figures.Percent(s.Share))
		}
	}
	if len(parts) > 0 {
		m.P("Where the processors' time went: %s.", strings.Join(parts, ", "))
	}
}

func (m *markdown) finding(n int, f *diagnosis.Finding) {
	m.P("### %d. %s", n, layout.Escape(f.Title))
	m.P("%s", layout.Escape(f.Summary))
	for _, p := range f.Where {
		m.Item("**where** %s %s", layout.Code(p.Function), layout.Code(location(p)))
	}
	if f.Scope != "" {
		m.Item("**where** %s", layout.Escape(f.Scope))
	}
	if f.Cost.What != "" {
		m.Item("**cost** %s", layout.Escape(costText(f.Cost)))
	}
	if f.Bound.Method != "" {
		m.Item("**gain** %s", layout.Escape(f.Bound.Gain()+": "+f.Bound.Method))
	}
	if f.Remedy.Text != "" {
		m.Item("**do** %s", layout.Escape(f.Remedy.Text))
	}
	if f.Remedy.Knob != "" {
		m.Item("**try without code** %s", layout.Code(f.Remedy.Knob))
	}
	if f.Prove != "" {
		m.Item("**prove** %s", layout.Escape(f.Prove))
	}
	for _, command := range f.Try {
		m.Item("**run** %s", layout.Code(command))
	}
	m.Item("**confidence** %s", layout.Escape(strings.Join(append([]string{string(f.Confidence)}, f.Reasons...), "; ")))
	if len(f.RuledOut) > 0 {
		m.Item("**ruled out** %s", layout.Escape(strings.Join(f.RuledOut, "; ")))
	}
	for _, s := range f.Symptoms {
		m.Item("**explains** %s: %s", layout.Escape(s.Title), layout.Escape(s.Summary))
	}
	if f.Remedy.Code != "" {
		fence := "```"
		for strings.Contains(f.Remedy.Code, fence) {
			fence += "`"
		}
		m.P("%sgo\n%s\n%s", fence, strings.Join(layout.SafeLines(f.Remedy.Code), "\n"), fence)
	}
	m.facts(f.Evidence)
}

func (m *markdown) facts(facts []fact.Fact) {
	if len(facts) == 0 {
		return
	}
	m.P("| evidence | value | source |\n|---|---:|---|")
	for _, f := range facts {
		fmt.Fprintf(m, "| %s | %s | %s |\n", layout.Escape(f.Name), layout.Escape(f.Text), layout.Escape(f.Origin.String()))
	}
}
