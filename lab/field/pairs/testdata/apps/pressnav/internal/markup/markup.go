// Package markup turns the editors' notation into HTML.
package markup

import (
	"html"
	"html/template"
	"strings"
)

// Render makes paragraphs, and emphasis of *words*.
func Render(text string) template.HTML {
	var b strings.Builder
	b.Grow(len(text) * 5 / 4)
	for para := range strings.SplitSeq(text, "\n\n") {
		if strings.TrimSpace(para) == "" {
			continue
		}
		b.WriteString("<p>")
		open := false
		for part := range strings.SplitSeq(html.EscapeString(para), "*") {
			if open {
				b.WriteString("<em>")
			}
			b.WriteString(part)
			if open {
				b.WriteString("</em>")
			}
			open = !open
		}
		b.WriteString("</p>\n")
	}
	return template.HTML(b.String())
}
