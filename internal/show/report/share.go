package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// What a reader of a pull request or a chat looks at.
const (
	sharedFindings = 5
	sharedParts    = 6
	sharedBar      = 20    // columns of a bar
	sharedLeast    = 0.005 // of the whole, that a part has to be worth a row
)

// Shared writes a diagnosis in short as Markdown, for a pull request or a chat: the
// verdict, a table of the findings, what to do about the first and how to prove it, and
// where the time went as a table with bars.
func Shared(w io.Writer, d *diagnosis.Diagnosis, _ layout.Options) error {
	var m markdown
	m.P("**%s**: %s", layout.Escape(string(d.Verdict)), layout.Escape(d.Summary))
	m.sharedFindings(d)
	m.sharedRemedy(d)
	m.sharedAccount(d)
	if s := subject(d); s != "" {
		m.P("%s", layout.Code("gowhy: "+s))
	}
	_, err := io.WriteString(w, strings.TrimLeft(m.String(), "\n"))
	return err
}

func (m *markdown) sharedFindings(d *diagnosis.Diagnosis) {
	if len(d.Findings) == 0 {
		return
	}
	m.P("| | finding | where | gain | confidence |\n|---:|---|---|---|---|")
	for i := range d.Findings[:min(len(d.Findings), sharedFindings)] {
		f := &d.Findings[i]
		where, gain, sure := "", "", sureness(f, len(d.Runs))
		if len(f.Where) > 0 {
			where = tableCode(shortFunction(f.Where[0].Function))
			if at := location(f.Where[0]); at != "" {
				where += " " + tableCode(filepath.Base(at))
			}
		}
		if f.Bound.Method != "" && !f.Remark {
			gain = f.Bound.Gain()
		}
		title := "**" + layout.Escape(f.Title) + "**"
		if f.Remark {
			title = "remark: " + layout.Escape(f.Title)
		}
		fmt.Fprintf(m, "| %d | %s | %s | %s | %s |\n", i+1, title, where, layout.Escape(gain), layout.Escape(strings.Replace(sure, " confidence", "", 1)))
	}
	if more := len(d.Findings) - sharedFindings; more > 0 {
		m.P("And %s more.", figures.Plural(more, "finding"))
	}
}

// tableCode is code in a table, whose columns a bar in it would part.
func tableCode(s string) string { return strings.ReplaceAll(layout.Code(s), "|", `\|`) }

// sharedRemedy says what to do about the first finding, and how to prove it.
func (m *markdown) sharedRemedy(d *diagnosis.Diagnosis) {
	if len(d.Findings) == 0 || d.Findings[0].Remark {
		return
	}
	f := &d.Findings[0]
	if f.Remedy.Text != "" {
		m.P("**Do:** %s", layout.Escape(f.Remedy.Text))
	}
	if len(f.Try) > 0 {
		m.P("**Prove:** %s", layout.Code(f.Try[0]))
	}
}

// A sharedPart is a row of the table of where the time went.
type sharedPart struct {
	name  string
	share float64
}

// sharedAccount returns where the CPU time went, or else that of the Ps.
func (m *markdown) sharedAccount(d *diagnosis.Diagnosis) {
	head, parts := "processors' time", []sharedPart(nil)
	if d.CPU != nil {
		head = "CPU, " + figures.Cores(d.CPU.Cores)
		for _, p := range d.CPU.Parts {
			parts = append(parts, sharedPart{p.Name, p.Share})
		}
	} else {
		for _, s := range d.Time {
			parts = append(parts, sharedPart{s.Name, s.Share})
		}
	}
	rows := 0
	for _, p := range parts {
		if p.share < sharedLeast || rows == sharedParts {
			continue
		}
		if rows++; rows == 1 {
			m.P("| %s | share | |\n|---|---:|---|", layout.Escape(head))
		}
		n := min(sharedBar, int(p.share*sharedBar+0.5))
		fmt.Fprintf(m, "| %s | %s | %s |\n", layout.Escape(p.name), figures.Percent(p.share), layout.Code(strings.Repeat("█", n)+strings.Repeat("░", sharedBar-n)))
	}
}
