// Package translate translates word by word.
package translate

import (
	"fmt"
	"strings"

	"phrasebook/internal/dictionary"
)

// A Translator translates into one language.
type Translator struct{ words dictionary.Dictionary }

// New makes a translator.
func New(s *dictionary.Shelf, language string) (*Translator, error) {
	d, ok := s.Dictionary(language)
	if !ok {
		return nil, fmt.Errorf("no language %q", language)
	}
	return &Translator{d}, nil
}

// Sentence translates a sentence.
func (t *Translator) Sentence(text string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		if other, ok := t.words[word]; ok {
			word = other
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}
