// Package words finds words of a list in texts.
package words

import (
	"regexp"
	"strings"
	"unicode"
)

var syllables = []string{"bra", "kel", "mon", "tru", "sig", "vor", "pla", "dix", "gru", "nek"}

// List makes n unwanted words up.
func List(n int) []string {
	var out []string
	for i := range n {
		out = append(out, syllables[i%10]+syllables[i/10%10]+syllables[i/100%10])
	}
	return out
}

// A Pattern finds words by a regular expression.
type Pattern struct{ re *regexp.Regexp }

// NewPattern compiles a list.
func NewPattern(list []string) (*Pattern, error) {
	var quoted []string
	for _, word := range list {
		quoted = append(quoted, regexp.QuoteMeta(word))
	}
	re, err := regexp.Compile(`(?i)\b(?:` + strings.Join(quoted, "|") + `)\b`)
	return &Pattern{re}, err
}

// Bad reports whether a text has a word of the list.
func (p *Pattern) Bad(text string) bool { return p.re.MatchString(text) }

// A Set finds words by looking them up.
type Set struct{ words map[string]bool }

// NewSet makes a set of a list.
func NewSet(list []string) *Set {
	s := &Set{map[string]bool{}}
	for _, word := range list {
		s.words[word] = true
	}
	return s
}

// Bad reports whether a text has a word of the list.
func (s *Set) Bad(text string) bool {
	var buffer [32]byte
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(word) > len(buffer) {
			continue
		}
		lower := buffer[:0]
		for i := range len(word) {
			c := word[i]
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			lower = append(lower, c)
		}
		if s.words[string(lower)] {
			return true
		}
	}
	return false
}
