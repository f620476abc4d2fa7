// Package transcript writes down what was said in a meeting.
package transcript

import (
	"fmt"
	"strings"
	"time"
)

// A Remark is what one person said.
type Remark struct {
	At   time.Duration
	Who  string
	Text string
}

// Text is the transcript of a meeting, one paragraph for each remark.
func Text(remarks []Remark) string {
	out := ""
	last := ""
	for _, r := range remarks {
		if r.Who != last {
			out += "\n" + r.Who + ", after " + r.At.Truncate(time.Minute).String() + ":\n"
			last = r.Who
		}
		out += "  " + r.Text + "\n"
	}
	return out
}

// Build is the transcript of a meeting, one paragraph for each remark.
func Build(remarks []Remark) string {
	var out strings.Builder
	last := ""
	for _, r := range remarks {
		if r.Who != last {
			fmt.Fprintf(&out, "\n%s, after %v:\n", r.Who, r.At.Truncate(time.Minute))
			last = r.Who
		}
		out.WriteString("  ")
		out.WriteString(r.Text)
		out.WriteByte('\n')
	}
	return out.String()
}
