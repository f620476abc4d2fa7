// Package check has the drafting rules.
package check

import (
	"fmt"
	"strconv"
	"strings"

	"statutelint/internal/source"
)

// Finding is a breach of a rule.
type Finding struct {
	Rule string
	At   source.Pos
	To   source.Pos
	Text string
}

var (
	archaic  = words("hereinbefore theretofore aforesaid witnesseth whereof hereunto notwithstanding")
	doubtful = words("should might could usually generally reasonable appropriate")
)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// Run applies all rules to the text.
func Run(t *source.Text) []Finding {
	var out []Finding
	add := func(rule string, off, end int, format string, args ...any) {
		out = append(out, Finding{rule, t.Position(off), t.Position(end), fmt.Sprintf(format, args...)})
	}
	defined := map[string]bool{}
	section, last, sentence := 0, "", 0
	t.Words(func(off int, word string) {
		end := off + len(word)
		low := strings.ToLower(word)
		switch {
		case archaic[low]:
			add("archaic", off, end, "%q is archaic", word)
		case doubtful[low]:
			add("doubtful", off, end, "%q leaves room for doubt", word)
		case low == last && len(low) > 3:
			add("repeated", off, end, "%q is repeated", word)
		case strings.HasPrefix(word, "§"):
			n, err := strconv.Atoi(strings.TrimPrefix(word, "§"))
			if err != nil || n < section {
				add("numbering", off, end, "section %s follows %d", word, section)
			}
			section = n
		case strings.HasPrefix(word, "“"):
			if defined[low] {
				add("defined", off, end, "%s is defined again", word)
			}
			defined[low] = true
		}
		if sentence++; end < len(t.Body) && t.Body[end] == '.' {
			if sentence > 95 {
				add("length", off, end, "sentence of %d words", sentence)
			}
			sentence = 0
		}
		last = low
	})
	return out
}
