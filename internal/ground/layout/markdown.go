package layout

import (
	"fmt"
	"strings"
)

// A Page is blocks of Markdown.
type Page struct {
	strings.Builder
	InList bool // the last block is a list
}

// P writes a block.
func (m *Page) P(format string, args ...any) {
	fmt.Fprintf(m, "\n"+format+"\n", args...)
	m.InList = false
}

// Item writes an item of a list, and begins one where there is none.
func (m *Page) Item(format string, args ...any) {
	if !m.InList {
		m.WriteString("\n")
		m.InList = true
	}
	m.WriteString("- " + strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// List writes items under a title; none write nothing.
func (m *Page) List(title string, items []string) {
	if len(items) == 0 {
		return
	}
	m.P("### %s", title)
	for _, s := range items {
		m.Item("%s", Escape(s))
	}
}

var mdEscaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;",
	"&", "&amp;", "|", `\|`, "#", `\#`, "~", `\~`, "@", "&#64;")

// Escape escapes text so that it is nothing but text in Markdown: no markup, no
// HTML, and nobody is mentioned by a symbol's name.
// What rules put between backquotes stays code.
func Escape(s string) string {
	parts := strings.Split(Safe(strings.Join(strings.Fields(s), " ")), "`")
	if len(parts)%2 == 0 { // not balanced
		return mdEscaper.Replace(strings.Join(parts, "`"))
	}
	for i, p := range parts {
		if i%2 == 1 {
			parts[i] = Code(p)
		} else {
			parts[i] = mdEscaper.Replace(p)
		}
	}
	return strings.Join(parts, "")
}

// Code returns s as a code span, "" for nothing.
func Code(s string) string {
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
