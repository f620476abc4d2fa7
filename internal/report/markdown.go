package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/figures"
)

// Markdown writes a diagnosis for a review comment or an issue.
func Markdown(w io.Writer, d *diagnosis.Diagnosis, _ Options) error {
	var m markdown
	m.p("## %s: %s", md(string(d.Verdict)), md(d.Summary))
	if s := subject(d); s != "" {
		m.p("%s", code(s))
	}
	m.cpu(d)
	m.shares(d)
	for i := range d.Findings {
		if i < expanded {
			m.finding(i+1, &d.Findings[i])
			continue
		}
		if i == expanded {
			m.p("### More findings")
		}
		m.item("%s: %s", "**"+md(d.Findings[i].Title)+"**", md(d.Findings[i].Summary))
	}
	m.list("Warnings", d.Warnings)
	m.list("Fine", slices.Concat(d.Fine, obsolete(d)))
	if len(d.Unchecked) > 0 {
		m.p("### Not checked")
		for _, u := range d.Unchecked {
			m.item("%s: %s %s", md(u.What), md(u.Why), code(u.How))
		}
	}
	if next := nextCommands(d); len(next) > 0 {
		m.p("### Next")
		for _, n := range next {
			m.item("%s %s", code(n[0]), md(n[1]))
		}
	}
	_, err := io.WriteString(w, strings.TrimLeft(m.b.String(), "\n"))
	return err
}

// A markdown builds a page of blocks.
type markdown struct {
	b      strings.Builder
	inList bool
}

func (m *markdown) p(format string, args ...any) {
	fmt.Fprintf(&m.b, "\n"+format+"\n", args...)
	m.inList = false
}

func (m *markdown) item(format string, args ...any) {
	if !m.inList {
		m.b.WriteString("\n")
		m.inList = true
	}
	m.b.WriteString("- " + strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

func (m *markdown) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	m.p("### %s", title)
	for _, s := range items {
		m.item("%s", md(s))
	}
}

func (m *markdown) shares(d *diagnosis.Diagnosis) {
	var parts []string
	for _, s := range d.Time {
		if s.Share > 0 {
			parts = append(parts, md(s.Name)+" "+figures.Percent(s.Share))
		}
	}
	if len(parts) > 0 {
		m.p("Where the processors' time went: %s.", strings.Join(parts, ", "))
	}
}

func (m *markdown) finding(n int, f *diagnosis.Finding) {
	m.p("### %d. %s", n, md(f.Title))
	m.p("%s", md(f.Summary))
	for _, p := range f.Where {
		m.item("**where** %s %s", code(p.Function), code(location(p)))
	}
	if f.Cost.What != "" {
		m.item("**cost** %s", md(costText(f.Cost)))
	}
	if f.Bound.Method != "" {
		m.item("**expect** %s", md(boundText(f.Bound)))
	}
	if f.Remedy.Text != "" {
		m.item("**do** %s", md(f.Remedy.Text))
	}
	if f.Remedy.Knob != "" {
		m.item("**try without code** %s", code(f.Remedy.Knob))
	}
	if f.Prove != "" {
		m.item("**prove** %s", md(f.Prove))
	}
	for _, command := range f.Try {
		m.item("**run** %s", code(command))
	}
	m.item("**confidence** %s", md(strings.Join(append([]string{string(f.Confidence)}, f.Reasons...), "; ")))
	if len(f.RuledOut) > 0 {
		m.item("**ruled out** %s", md(strings.Join(f.RuledOut, "; ")))
	}
	for _, s := range f.Symptoms {
		m.item("**explains** %s: %s", md(s.Title), md(s.Summary))
	}
	if f.Remedy.Code != "" {
		fence := "```"
		for strings.Contains(f.Remedy.Code, fence) {
			fence += "`"
		}
		m.p("%sgo\n%s\n%s", fence, strings.Join(safeLines(f.Remedy.Code), "\n"), fence)
	}
	m.facts(f.Evidence)
}

func (m *markdown) facts(facts []fact.Fact) {
	if len(facts) == 0 {
		return
	}
	m.p("| evidence | value | source |\n|---|---:|---|")
	for _, f := range facts {
		fmt.Fprintf(&m.b, "| %s | %s | %s |\n", md(f.Name), md(f.Text), md(f.Origin.String()))
	}
}

var mdEscaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;",
	"&", "&amp;", "|", `\|`, "#", `\#`, "~", `\~`, "@", "&#64;")

// md escapes text so that it is nothing but text in Markdown: no markup, no
// HTML, and nobody is mentioned by a symbol's name.
// What rules put between backquotes stays code.
func md(s string) string {
	parts := strings.Split(Safe(strings.Join(strings.Fields(s), " ")), "`")
	if len(parts)%2 == 0 { // not balanced
		return mdEscaper.Replace(strings.Join(parts, "`"))
	}
	for i, p := range parts {
		if i%2 == 1 {
			parts[i] = code(p)
		} else {
			parts[i] = mdEscaper.Replace(p)
		}
	}
	return strings.Join(parts, "")
}

// code returns s as a code span, "" for nothing.
func code(s string) string {
	s = Safe(strings.Join(strings.Fields(s), " "))
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
