// Package words counts words.
package words

import "strings"

// Count counts the words of a text.
func Count(text string) map[string]int {
	counts := make(map[string]int)
	for word := range strings.FieldsSeq(text) {
		counts[word]++
	}
	return counts
}
