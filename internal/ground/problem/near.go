package problem

import (
	"strings"

	"github.com/gowhy/gowhy/internal/ground/shell"
)

// Unknown returns the error that a flag's value is none of those known. Its hint
// is the flag with the one that was probably meant, else with the first.
func Unknown(flag, value string, known []string, format string, args ...any) *Error {
	hint := ""
	if len(known) > 0 {
		hint = "--" + flag + " " + shell.Word(Likely(value, known))
	}
	return New(Misuse, hint, format, args...)
}

// Likely returns the known word that was probably meant, else the first; "" of none.
func Likely(s string, known []string) string {
	if word, ok := Correction(s, known); ok || len(known) == 0 {
		return word
	}
	return known[0]
}

// longestWord bounds what is compared: a longer text is no slip of the pen.
const longestWord = 128

// Correction is [Nearest] for a word that is likely a slip of the pen.
func Correction(s string, known []string) (word string, ok bool) {
	if len(s) > longestWord {
		return "", false
	}
	word = Nearest(s, known)
	return word, word != "" && distance(strings.ToLower(s), word) <= 1+len(s)/4
}

// Nearest returns the known word with the fewest edits from s.
func Nearest(s string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if d := distance(strings.ToLower(s), k); least < 0 || d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns the number of letters to insert, delete or replace, where
// letters around s are free: people abbreviate.
func distance(s, k string) int {
	if len(s) > 1 && strings.Contains(k, s) {
		return 0
	}
	row := make([]int, len(k)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(s) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(k) {
			cost := diagonal
			if s[i] != k[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(k)]
}
