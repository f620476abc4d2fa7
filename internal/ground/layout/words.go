package layout

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe returns s fit for a terminal: control characters and those that turn
// the direction of writing are shown as Go would quote them. Invalid UTF-8
// becomes the replacement character, as it does in JSON, so that a saved
// diagnosis reads like a fresh one.
func Safe(s string) string {
	if strings.IndexFunc(s, UnsafeRune) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if UnsafeRune(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// UnsafeRune reports whether r can do more to a terminal than be seen.
func UnsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// SafeLines is Safe for text of several lines; tabs become spaces.
func SafeLines(s string) []string {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
	for i, l := range lines {
		lines[i] = Safe(strings.ReplaceAll(l, "\t", "    "))
	}
	return lines
}

// Lines breaks text into lines of at most width columns. Runs of white space
// become one space; a word longer than a line stays whole, and so does a
// command between backquotes that fits a line: they are there to be copied.
func Lines(text string, width int) []string {
	return wrapWords(joinQuoted(strings.Fields(text), width), width)
}

// FigureLines are [Lines] that keep a percentage with its sign.
func FigureLines(text string, width int) []string {
	var words []string
	for _, w := range joinQuoted(strings.Fields(text), width) {
		if n := len(words); n > 0 && strings.HasPrefix(w, "%") {
			words[n-1] += " " + w
			continue
		}
		words = append(words, w)
	}
	return wrapWords(words, width)
}

func wrapWords(words []string, width int) []string {
	var lines []string
	line, length := "", 0
	for _, word := range words {
		word = Safe(word)
		n := utf8.RuneCountInString(word)
		switch {
		case length == 0:
			line, length = word, n
		case length+1+n <= width:
			line, length = line+" "+word, length+1+n
		default:
			lines = append(lines, line)
			line, length = word, n
		}
	}
	if length > 0 {
		lines = append(lines, line)
	}
	return lines
}

// joinQuoted makes one word of those between backquotes, as far as it fits.
func joinQuoted(words []string, width int) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		out = append(out, words[i])
		if strings.Count(words[i], "`")%2 == 0 {
			continue
		}
		for end := i + 1; end < len(words); end++ {
			if strings.Count(words[end], "`")%2 == 0 {
				continue
			}
			if span := strings.Join(words[i:end+1], " "); utf8.RuneCountInString(span) <= width {
				out[len(out)-1], i = span, end
			} else {
				out, i = append(out, words[i+1:end+1]...), end
			}
			break
		}
	}
	return out
}

// Pad fills s to width columns.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// LeastName is what stays of a name on a screen that is too narrow for anything.
const LeastName = 8

// Shorten makes a function's name fit: first without the directories of its
// package, then without the middle; the package and the end tell functions
// apart.
func Shorten(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	path := s
	if i := strings.IndexAny(s, "(["); i >= 0 { // type arguments have slashes too
		path = s[:i]
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		if r = []rune("…" + s[i:]); len(r) <= width {
			return string(r)
		}
		r = r[2:] // without "…/"
	}
	if len(r) <= width {
		return string(r)
	}
	head := (width - 1) / 3
	tail := width - 1 - head
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}
