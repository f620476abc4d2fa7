package catalog

import "strings"

// Resembles is met by articles with a word that is at most two changes from the text.
func Resembles(text string) Condition {
	return Condition{"resembles", 100, func(a *Article) bool {
		for word := range strings.FieldsSeq(a.Name) {
			if distance(word, text) <= 2 {
				return true
			}
		}
		return false
	}}
}

// In is met by the articles of a category.
func In(category string) Condition {
	return Condition{"category", 1, func(a *Article) bool { return a.Category == category }}
}

// Below is met by articles that cost less.
func Below(cents int) Condition {
	return Condition{"price", 1, func(a *Article) bool { return a.Cents < cents }}
}

// Available is met by what is in stock.
func Available() Condition {
	return Condition{"stock", 1, func(a *Article) bool { return a.Stock > 0 }}
}

// distance is how many letters must be changed, added or left out.
func distance(a, b string) int {
	var row [64]int
	if len(b) >= len(row) || len(a) >= len(row) {
		return len(row)
	}
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		left, diagonal := i+1, i
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = min(diagonal, left, row[j+1]) + 1
			}
			diagonal, row[j] = row[j+1], left
			left = d
		}
		row[len(b)] = left
	}
	return row[len(b)]
}
