package trialreport

import (
	"fmt"
	"io"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/prove/gate"
)

// GitHub writes the result of a gate as workflow commands, which GitHub shows
// beside the lines of the change: errors for regressions, for what could not
// be decided warnings when the policy lets it fail, else notices.
func GitHub(w io.Writer, r *gate.Result, _ layout.Options) error {
	var b strings.Builder
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Problem != "" {
			annotate(&b, undecidedCommand(r), c.At, "gowhy gate: "+checkTitle(c), c.Problem)
		}
		for j := range c.Measures {
			switch m := &c.Measures[j]; m.Verdict {
			case gate.Regressed:
				annotate(&b, "error", m.At, "gowhy gate: "+string(m.Metric)+" regressed", measureMessage(m))
			case gate.Inconclusive:
				annotate(&b, undecidedCommand(r), m.At, "gowhy gate: "+string(m.Metric), measureMessage(m))
			}
		}
	}
	fmt.Fprintf(&b, "gowhy gate: %s: %s\n", r.Verdict, layout.Safe(r.Summary))
	_, err := io.WriteString(w, b.String())
	return err
}

func undecidedCommand(r *gate.Result) string {
	if r.InconclusiveFails {
		return "warning"
	}
	return "notice"
}

// annotate writes a workflow command. One without a file is of the whole run.
func annotate(b *strings.Builder, command string, at gate.Position, title, message string) {
	where := ""
	if at.File != "" {
		where = fmt.Sprintf("file=%s,line=%d,", property(at.File), max(1, at.Line))
	}
	fmt.Fprintf(b, "::%s %stitle=%s::%s\n", command, where, property(title), data(message))
}

var (
	dataEscaper     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscaper = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// data and property escape what stands in a workflow command, as its runner
// reads it back.
func data(s string) string     { return dataEscaper.Replace(layout.Safe(s)) }
func property(s string) string { return propertyEscaper.Replace(layout.Safe(s)) }
