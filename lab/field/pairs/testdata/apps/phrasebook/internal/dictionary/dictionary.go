// Package dictionary has dictionaries of languages.
package dictionary

import (
	"encoding/json"
	"fmt"
)

// Languages are those that there are.
var Languages = func() (out []string) {
	for i := range 24 {
		out = append(out, fmt.Sprintf("l%02d", i))
	}
	return out
}()

// A Dictionary has words of one language.
type Dictionary map[string]string

// A Shelf has dictionaries that were loaded.
type Shelf struct {
	Phrases int
	loaded  map[string]Dictionary
}

// source is what stands in the file of a language.
func (s *Shelf) source(language string) []byte {
	out := []byte("{")
	for i := range s.Phrases {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `"w%d":"%s-%d"`, i, language, i*31)
	}
	return append(out, '}')
}

// Load loads a language.
func (s *Shelf) Load(language string) error {
	var d Dictionary
	if err := json.Unmarshal(s.source(language), &d); err != nil {
		return fmt.Errorf("language %s: %w", language, err)
	}
	if s.loaded == nil {
		s.loaded = map[string]Dictionary{}
	}
	s.loaded[language] = d
	return nil
}

// LoadAll loads all languages.
func (s *Shelf) LoadAll() error {
	for _, l := range Languages {
		if err := s.Load(l); err != nil {
			return err
		}
	}
	return nil
}

// Dictionary is that of a language.
func (s *Shelf) Dictionary(language string) (Dictionary, bool) {
	d, ok := s.loaded[language]
	return d, ok
}
