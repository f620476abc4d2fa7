// Package report shows a saved diagnosis, and the ledger of a model, to
// people and to programs.
//
// It hides layout: wrapping to the terminal's width, alignment, colour, units
// for the eye, and the escaping that keeps what a recording contains from
// reaching a terminal or a page as anything but text. A format is one
// function, in [Formats]; [Ledger] prints the accounts.
//
// report never computes a cause and never reads evidence: a fresh diagnosis
// and a saved one give the same bytes.
package report

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/shell"
)

// Options say how a report looks.
type Options struct {
	Width   int  // columns; 0 means 80
	Color   bool // ANSI colours
	Verbose bool // everything that the diagnosis has
}

// A Format writes a diagnosis.
type Format func(io.Writer, *diagnosis.Diagnosis, Options) error

// Formats are the formats of a diagnosis by name.
var Formats = map[string]Format{
	"text":     Text,
	"json":     JSON,
	"markdown": Markdown,
}

// FormatNames returns the names of [Formats] in order.
func FormatNames() []string { return slices.Sorted(maps.Keys(Formats)) }

// JSON writes the diagnosis in its versioned JSON form.
func JSON(w io.Writer, d *diagnosis.Diagnosis, _ Options) error { return d.Encode(w) }

// Safe returns s fit for a terminal: control characters and those that turn
// the direction of writing are shown as Go would quote them. Invalid UTF-8
// becomes the replacement character, as it does in JSON, so that a saved
// diagnosis reads like a fresh one.
func Safe(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unsafeRune(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unsafeRune reports whether r can do more to a terminal than be seen.
func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// safeLines is Safe for text of several lines; tabs become spaces.
func safeLines(s string) []string {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
	for i, l := range lines {
		lines[i] = Safe(strings.ReplaceAll(l, "\t", "    "))
	}
	return lines
}

// wrap breaks text into lines of at most width columns. Runs of white space
// become one space; a word longer than a line stays whole, and so does a
// command between backquotes that fits a line: they are there to be copied.
func wrap(text string, width int) []string {
	return wrapWords(joinQuoted(strings.Fields(text), width), width)
}

// wrapFigures is wrap that keeps a percentage with its sign.
func wrapFigures(text string, width int) []string {
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

// quantity writes a number with its unit for the eye.
func quantity(v float64, u fact.Unit) string { return Safe(u.Format(v)) }

// nextCommands are what a reader would run now, with the reason.
func nextCommands(d *diagnosis.Diagnosis) [][2]string {
	files := shell.Words(d.Files)
	if len(d.Files) == 0 || slices.Contains(d.Files, "-") {
		files = "FILE"
	}
	var next [][2]string
	if len(d.Findings) > 0 {
		next = append(next, [2]string{"gowhy explain " + shell.Word(d.Findings[0].Rule), "how it is recognised, and what it is not"})
	}
	if d.Trace != nil || d.CPU != nil || len(d.Findings) > 0 {
		next = append(next, [2]string{"gowhy view " + files, "see it in the browser"})
	}
	switch {
	case d.Trace != nil:
		next = append(next, [2]string{"gowhy ledger " + files, "where every second of every goroutine went"})
	case d.CPU != nil:
		next = append(next, [2]string{"gowhy ledger " + files, "where every second of CPU time went"})
	}
	if len(d.Findings) == 0 && d.Verdict != diagnosis.Healthy {
		next = append(next, [2]string{"gowhy record -d 10s -o run.gowhy --url http://localhost:6060", "record it under load"})
	}
	return next
}

// expanded is how many findings are shown in full: what a reader acts on
// before recording again.
const expanded = 3
