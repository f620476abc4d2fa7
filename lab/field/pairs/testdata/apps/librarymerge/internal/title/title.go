// Package title gives the filing form of titles.
package title

import (
	"strings"
	"unicode"
)

var plain = map[rune]rune{'ä': 'a', 'ö': 'o', 'ü': 'u', 'é': 'e', 'è': 'e', 'ê': 'e', 'á': 'a', 'à': 'a', 'ç': 'c', 'ñ': 'n', 'ó': 'o', 'ø': 'o', 'å': 'a', 'í': 'i'}

var articles = []string{"the ", "a ", "an ", "der ", "die ", "das ", "le ", "la ", "les ", "el "}

// Filing gives the form by which a title is filed: small letters without
// accents, punctuation and leading article.
func Filing(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		r = unicode.ToLower(r)
		if r > 127 {
			if p, ok := plain[r]; ok {
				r = p
			}
		}
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(r)
		case r != '\'':
			gap = true
		}
	}
	f := b.String()
	for _, a := range articles {
		if rest, ok := strings.CutPrefix(f, a); ok && rest != "" {
			return rest
		}
	}
	return f
}
