// Package markup turns what people type into HTML.
package markup

import (
	"html"
	"strings"
)

// Render knows *bold*, @mentions and links.
func Render(src string) string {
	var b strings.Builder
	b.Grow(len(src) + len(src)/2)
	b.WriteString("<p>")
	for i, w := range strings.Split(src, " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case len(w) > 2 && w[0] == '*' && w[len(w)-1] == '*':
			b.WriteString("<b>")
			b.WriteString(html.EscapeString(w[1 : len(w)-1]))
			b.WriteString("</b>")
		case len(w) > 1 && w[0] == '@':
			b.WriteString(`<a class="user" href="/u/`)
			b.WriteString(html.EscapeString(w[1:]))
			b.WriteString(`">`)
			b.WriteString(html.EscapeString(w))
			b.WriteString("</a>")
		case strings.HasPrefix(w, "https://"):
			b.WriteString(`<a rel="nofollow" href="`)
			b.WriteString(html.EscapeString(w))
			b.WriteString(`">link</a>`)
		default:
			b.WriteString(html.EscapeString(w))
		}
	}
	b.WriteString("</p>")
	return b.String()
}
